// Where card_bench runs: a card with the engine's kernels, timed by the card's own events, or
// emulated threads, whose times say nothing but on which every step and check runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cuda/device/queue.h"
#include "cuda/engine/open_on_card.h"

namespace tessera::bench::card {

using device::cuda::Memory;

class BenchCard {
 public:
  virtual ~BenchCard() = default;
  virtual std::string name() const = 0;
  virtual device::cuda::Queue& queue() = 0;
  /// Fresh ones, for an engine of this card.
  virtual Result<engine::cuda::CardQueues> engine_queues() = 0;
  /// More than it keeps in its caches of what it has read.
  virtual uint64_t cache_bytes() const = 0;
  /// Seconds that the card takes for what `work` asks for, from its begin to its end there.
  /// Errors: those of `work`, what a kernel did.
  virtual Result<double> seconds_of(const std::function<Status()>& work) = 0;
};

/// Errors: ENGINE_UNAVAILABLE without a driver, the card or, in a build without TESSERA_CUDA, its
/// kernels.
Result<std::unique_ptr<BenchCard>> open_card(uint32_t index);
std::unique_ptr<BenchCard> open_emulation();

struct Rounds {
  uint32_t warm_up = 3;
  uint32_t counted = 15;
};

/// Median of the rounds after warming up; `prepare`, where given, is not timed.
Result<double> median_seconds(BenchCard& card, const Rounds& rounds,
                              const std::function<Status()>& work,
                              const std::function<Status()>& prepare = nullptr);
/// The same of launches alone, which are asked for as one chain (cuda/device/queue.h): the host
/// does not come between them.
Result<double> median_chain_seconds(BenchCard& card, const Rounds& rounds,
                                    const std::function<Status()>& launches,
                                    const std::function<Status()>& prepare = nullptr);
/// Value below which a share of the values lies. REQUIRES: one value or more.
double quantile(std::vector<double> values, double share);

/// Status of a result that is not what the CPU makes of the same input.
Status wrong(const std::string& what);

template <typename T>
Result<Memory> copied(BenchCard& card, std::span<const T> values) {
  Result<Memory> memory = Memory::allocate(card.queue(), values.size_bytes());
  if (!memory.is_ok()) return memory;
  TESSERA_RETURN_IF_ERROR(
      card.queue().copy_in(memory.value().as<void>(), values.data(), values.size_bytes()));
  return memory;
}

template <typename T>
Result<std::vector<T>> fetched(BenchCard& card, const void* from, uint64_t count) {
  std::vector<T> values(count);
  TESSERA_RETURN_IF_ERROR(card.queue().copy_out(values.data(), from, count * sizeof(T)));
  return values;
}

}  // namespace tessera::bench::card
