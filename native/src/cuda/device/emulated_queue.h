// Test only: a queue whose kernels run on emulated threads (simt.h), each to its end before the
// next begins; its memory is this machine's. As a card's, it does nothing until it is waited for:
// what is overwritten or given back too early shows.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "cuda/device/queue.h"
#include "cuda/device/simt.h"

namespace tessera::device::cuda {

class EmulatedQueue : public Queue {
 public:
  explicit EmulatedQueue(uint64_t seed = 1) : seed_(seed) {}

  /// Makes a kernel known: its C++ function, of the parameters that its name stands for.
  template <typename... Parameters>
  void add(const Kernel<Parameters...>& kernel, void (*function)(Parameters...)) {
    kernels_[kernel.name] = [function](std::span<void* const> arguments) {
      return bind(function, arguments, std::index_sequence_for<Parameters...>());
    };
  }
  uint64_t launches() const { return launches_; }

  std::string numbers() const override { return "emulated"; }
  Result<void*> allocate(uint64_t bytes) override;
  void release(void* memory) override;
  Result<uint64_t> bytes_left() const override { return kBytesLeft; }
  Status copy_in(void* to, const void* from, uint64_t bytes) override;
  Status copy_out(void* to, const void* from, uint64_t bytes) override;
  Status copy_to_pinned(void* to, const void* from, uint64_t bytes) override;
  Status copy_within(void* to, const void* from, uint64_t bytes) override;
  Status zero(void* at, uint64_t bytes) override;
  Status finish() override;
  Result<void*> allocate_pinned(uint64_t bytes) override;
  void release_pinned(void* memory) override;
  Status launch(const char* kernel, const LaunchShape& shape,
                std::span<void* const> arguments) override;
  Status multiply(const TesseraCardProduct& product) override;
  Status attend(const TesseraCardAttention& attention) override;
  Status begin_recording() override;
  Result<std::unique_ptr<Recording>> end_recording() override;
  Status replay(const Recording& recording) override;

 private:
  static constexpr uint64_t kBytesLeft = uint64_t{1} << 30;  // announced, not kept

  using Work = std::function<void()>;
  using Call = std::function<void()>;  // of a kernel with its arguments, by a thread
  struct Chain final : Recording {
    std::vector<Work> launches;
  };

  template <typename... Parameters, size_t... I>
  static Call bind(void (*function)(Parameters...), std::span<void* const> arguments,
                   std::index_sequence<I...>) {
    return
        [function, values = std::tuple<Parameters...>(*static_cast<Parameters*>(arguments[I])...)] {
          std::apply(function, values);
        };
  }
  bool is_pinned(const void* at) const;
  /// A launch: kept where a chain is recorded.
  Status take(Work work);
  /// All that was asked for.
  void run();
  /// Ok where nothing is recorded.
  Status check(const char* call);

  uint64_t seed_;
  uint64_t launches_ = 0;
  std::unordered_map<std::string, std::function<Call(std::span<void* const>)>> kernels_;
  std::map<const char*, uint64_t> pinned_;  // bytes by address
  std::vector<Work> asked_;
  std::unique_ptr<Chain> recorded_;  // null: launches are asked for
  Status refusal_;                   // the first while recording
};

}  // namespace tessera::device::cuda
