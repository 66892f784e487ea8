// The kernels of a search step on emulated threads, against beam::select step by step, bit for bit,
// on snapshots as they are; cuda/engine/card_catalogue_test.cc has those that have changed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "beam/random_case.h"
#include "cuda/kernels/test_search.h"

namespace tessera::beam::cuda {
namespace search_kernels_test {

using catalogue::Snapshot;
using device::cuda::Shared;

/// The arrays that a card has of a snapshot, made from what it says of each node.
struct TrieArrays {
  explicit TrieArrays(const Snapshot& snapshot) {
    child_offsets.push_back(1);
    item_offsets.push_back(0);
    for (catalogue::NodeIndex node = 0; node < snapshot.node_count(); ++node) {
      codes.push_back(node == 0 ? 0 : snapshot.code(node));
      item_offsets.push_back(item_offsets.back() + snapshot.items(node).count);
      if (snapshot.depth_of(node) == snapshot.depth()) continue;
      child_offsets.push_back(child_offsets.back() + snapshot.children(node).codes.size());
    }
    tries.resize(1);
    tries[0].codes = codes.data();
    tries[0].code_bytes = 4;
    tries[0].interior_count = static_cast<uint32_t>(child_offsets.size() - 1);
    tries[0].child_offsets = child_offsets.data();
    tries[0].node_count = static_cast<uint32_t>(snapshot.node_count());
    tries[0].item_offsets = item_offsets.data();
  }
  const Trie* trie() const { return tries.data(); }
  Shared<uint32_t> codes, child_offsets, item_offsets;
  Shared<Trie> tries;
};

std::string case_path() {
  const auto folder = std::filesystem::temp_directory_path();
  return folder / ("tessera-select-kernels-" + std::to_string(::getpid()));
}

TEST(SelectKernels, ChooseWhatTheCpuChoosesAtEveryStepOfABatch) {
  const auto scratch = make_scratch();
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const RandomCase random_case = beam::random_case(random, case_path());
    const TrieArrays arrays(*random_case.snapshot);
    const auto queue = open_search_queue(random());
    const auto levels = static_cast<uint32_t>(random_case.level_sizes.size());
    const uint32_t terminal_count = static_cast<uint32_t>(random() % 3);
    std::vector<std::unique_ptr<TestSearch>> requests;
    for (const auto norm : {ScoreNorm::kFull, ScoreNorm::kLevel, ScoreNorm::kAllowed}) {
      const auto eligibility =
          random() % 2 == 0 ? nullptr : random_eligibility(random_case, random, 1 + random() % 4);
      requests.push_back(std::make_unique<TestSearch>(
          catalogue::Reach(random_case.reach.shared_view(), eligibility), arrays.trie(),
          terminal_count, norm, levels + terminal_count));
    }
    for (uint32_t step = 0; step < levels + terminal_count; ++step) {
      const uint32_t level_size = step < levels ? random_case.level_sizes[step] : 0;
      Shared<Search> searches;
      // Every norm with every width: beams tie under kFull, whose norms are coarse.
      constexpr uint32_t kWidths[] = {1, 3, 40};
      for (size_t i = 0; i < requests.size(); ++i) {
        searches.push_back(requests[i]->next(level_size, kWidths[(i + seed) % 3], random));
      }
      step_on_card(*queue, searches, 1 + static_cast<uint32_t>(random() % 3));
      for (const auto& request : requests) request->expect_equal_step(*scratch);
      if (HasFatalFailure()) return;
    }
    for (const auto& request : requests) EXPECT_TRUE(request->is_done());
  }
  std::filesystem::remove(case_path());
}

TEST(SelectKernels, ChooseNothingWhereTheKeysDoNotFit) {
  std::mt19937_64 random(3);
  const RandomCase random_case = beam::random_case(random, case_path());
  const TrieArrays arrays(*random_case.snapshot);
  const auto queue = open_search_queue(1);
  TestSearch request(random_case.reach, arrays.trie(), 0, ScoreNorm::kAllowed, 1);
  request.set_keys_max(0);
  const Shared<Search> searches = {request.next(random_case.level_sizes[0], 4, random)};
  step_on_card(*queue, searches, 1);
  EXPECT_EQ(request.state().overflow, 1u);
  EXPECT_EQ(request.state().beams, 0u);
  EXPECT_EQ(request.state().finished, 0u);
  std::filesystem::remove(case_path());
}

}  // namespace search_kernels_test
}  // namespace tessera::beam::cuda
