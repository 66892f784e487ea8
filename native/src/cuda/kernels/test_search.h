// Test only: one request of a search on a card, step by step beside the same one on the CPU, with
// logits drawn at random.
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "beam/select.h"
#include "catalogue/reach.h"
#include "cuda/device/emulated_queue.h"
#include "cuda/device/test_card.h"
#include "cuda/kernels/search_kernels.h"

namespace tessera::beam::cuda {

void add_search_kernels(device::cuda::EmulatedQueue& queue);
/// The card of this machine where the tests run on it, else emulated threads.
std::unique_ptr<device::cuda::Queue> open_search_queue(uint64_t seed);

/// A request's state on the card, and the choices of the CPU so far.
class TestSearch {
 public:
  static constexpr uint32_t kKeysMax = 1u << 16;

  /// `trie`: of the reach's version, on the card.
  TestSearch(const catalogue::Reach& reach, const Trie* trie, uint32_t terminal_count,
             ScoreNorm norm, uint32_t steps);

  bool is_done() const { return beams_.nodes.empty(); }
  const catalogue::Reach& reach() const { return reach_; }
  const State& state() const { return states_[0]; }
  void set_keys_max(uint32_t keys_max) { search_.keys_max = keys_max; }

  /// The next step of the card, with logits for it; `level_size` 0 beyond the last level.
  Search next(uint32_t level_size, uint32_t width, std::mt19937_64& random);
  /// Takes the same step on the CPU; the card must have chosen the same.
  void expect_equal_step(Scratch& scratch);

 private:
  catalogue::Reach reach_;
  SelectOptions options_;
  Beams beams_{{0.0f}, {catalogue::kRoot}, {0}};
  uint64_t finished_ = 0;
  Search search_;
  device::cuda::Shared<char> memory_;
  device::cuda::Shared<uint64_t> nodes_open_, items_open_;
  device::cuda::Shared<float> logits_, norms_;
  device::cuda::Shared<State> states_;
};

/// A step of all requests, to its end.
void step_on_card(device::cuda::Queue& queue, const device::cuda::Shared<Search>& searches,
                  uint32_t blocks);

}  // namespace tessera::beam::cuda
