// NVIDIA's driver library, found at run time: one addon serves with and without a card. The names
// and numbers are those of the CUDA driver API (12.0 on), whose binary interface is stable; no
// toolkit is needed to compile this.
//
// Thread-safety: Driver is immutable; a Card from one thread at a time, but for launches and copies
// on different streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"

namespace tessera::device::cuda {

inline constexpr int kDriverVersionMin = 12000;  // as cuDriverGetVersion gives it: CUDA 12.0
inline constexpr int kCapabilityMin = 80;        // compute capability 8.0: BF16 tensor products

using Stream = void*;
using Event = void*;
using Module = void*;
using Function = void*;
/// A chain of launches made ready to run.
struct Graph {
  void* executable = nullptr;
};
using Address = uint64_t;  // of device memory

struct LaunchShape {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {32, 1, 1};
  unsigned dynamic_shared_bytes = 0;
};

struct Entries;  // the library's functions

class Driver {
 public:
  /// Errors: ENGINE_UNAVAILABLE where there is no such library, it lacks a function, no card can be
  /// used, or the driver is older than kDriverVersionMin.
  static Result<std::shared_ptr<const Driver>> load(const std::string& library = "libcuda.so.1");
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  const Entries& entries() const { return *entries_; }
  int card_count() const { return card_count_; }

 private:
  Driver(void* library, std::unique_ptr<Entries> entries);
  void* library_;
  std::unique_ptr<Entries> entries_;
  int card_count_ = 0;
};

struct CardMemory {
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
};

/// One card and what this process has on it. Errors of all but open(): ENGINE_OVERLOADED where
/// memory does not suffice, with what is left; ENGINE_UNAVAILABLE for anything else that the driver
/// says, after which the card is to be given up.
class Card {
 public:
  /// Errors: ENGINE_UNAVAILABLE for a card that is not there or older than kCapabilityMin.
  static Result<std::unique_ptr<Card>> open(std::shared_ptr<const Driver> driver, int index);
  ~Card();
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;

  /// Directs the calling thread to this card: once per thread, or after another card.
  Status enter() const;
  const std::string& name() const { return name_; }
  int capability() const { return capability_; }  // major * 10 + minor
  Result<CardMemory> memory() const;

  Result<Address> allocate(uint64_t bytes);
  /// Memory that both sides read and write, moved page by page: for tests.
  Result<void*> allocate_managed(uint64_t bytes);
  void release(Address address);
  /// Host memory that copies can be made from and to while the host goes on.
  Result<void*> allocate_pinned(uint64_t bytes);
  void release_pinned(void* memory);

  Result<Stream> make_stream();
  void drop_stream(Stream stream);
  Result<Event> make_event();
  void drop_event(Event event);
  Status record(Event event, Stream stream);
  Status wait(Stream stream, Event event);
  /// True once all work before the event's last record() is done.
  Result<bool> is_done(Event event);
  /// An event that keeps its time, for milliseconds_between.
  Result<Event> make_timing_event();
  /// REQUIRES: both are timing events that have been recorded and are done.
  Result<double> milliseconds_between(Event begin, Event end);
  Status copy_to_card(Address to, const void* from, uint64_t bytes, Stream stream);
  Status copy_from_card(void* to, Address from, uint64_t bytes, Stream stream);
  Status copy_within_card(Address to, Address from, uint64_t bytes, Stream stream);
  Status zero(Address at, uint64_t bytes, Stream stream);
  Status synchronise(Stream stream);

  /// A fat binary as nvcc makes it.
  Result<Module> load_module(const void* image);
  void drop_module(Module module);
  Result<Function> find_function(Module module, const char* name);
  /// `arguments`: pointers to the kernel's arguments, in their order.
  Status launch(Function function, const LaunchShape& shape, std::span<void* const> arguments,
                Stream stream);

  /// Until end_capture() the stream records launches into a graph instead of running them. Any
  /// other call of this thread breaks the capture.
  Status begin_capture(Stream stream);
  /// The capture ends in any case.
  Result<Graph> end_capture(Stream stream);
  Status launch(Graph graph, Stream stream);
  void drop_graph(Graph graph);

 private:
  Card(std::shared_ptr<const Driver> driver, int device);
  Status status_of(int result, const char* what) const;

  std::shared_ptr<const Driver> driver_;
  int device_;
  int capability_ = 0;
  void* context_ = nullptr;
  std::string name_;
};

}  // namespace tessera::device::cuda
