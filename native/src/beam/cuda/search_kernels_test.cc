// The kernels of a search step on emulated threads, against beam::select step by step, bit for bit.
#include "beam/cuda/select_kernels.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <random>

#include "beam/cuda/export_kernels.h"
#include "beam/export.h"
#include "beam/random_case.h"
#include "beam/select.h"
#include "device/cuda/test_card.h"

extern "C" {
void tessera_count_candidates(tessera::beam::cuda::Trie, const tessera::beam::cuda::Search*);
void tessera_write_keys(tessera::beam::cuda::Trie, const tessera::beam::cuda::Search*);
void tessera_count_digits(const tessera::beam::cuda::Search*, uint32_t);
void tessera_choose_digit(const tessera::beam::cuda::Search*);
void tessera_gather_winners(const tessera::beam::cuda::Search*);
void tessera_advance(tessera::beam::cuda::Trie, const tessera::beam::cuda::Search*);
void tessera_export_items(tessera::beam::cuda::Trie, const tessera::beam::cuda::Export*);
}

namespace tessera::beam::cuda {
namespace {

using catalogue::Eligibility;
using catalogue::Snapshot;
using device::cuda::Shared;

constexpr uint32_t kKeysMax = 1u << 16;

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
  }
  Trie trie() const {
    return {codes.data(),         4, static_cast<uint32_t>(child_offsets.size() - 1),
            child_offsets.data(), 0, item_offsets.data()};
  }
  Shared<uint32_t> codes, child_offsets, item_offsets;
};

/// One request: what the card holds of it, and the beams that the CPU has at the same time.
struct Request {
  Request(const RandomCase& random_case, std::mt19937_64& random, uint32_t width_given)
      : width(width_given) {
    beams.scores = {0.0f};
    beams.nodes = {0};
    beams.ended = {0};
    scores[0] = 0.0f;
    nodes[0] = 0;
    if (random() % 2 == 0) restrict(random_case, random);
    reach = catalogue::Reach(random_case.reach.shared_view(), eligibility);
  }

  /// A random share of the items, and the nodes above them.
  void restrict(const RandomCase& random_case, std::mt19937_64& random) {
    const auto made = random_eligibility(random_case, random, 1 + random() % 4);
    nodes_open.assign(made->nodes.begin(), made->nodes.end());
    items_open.assign(made->items.begin(), made->items.end());
    eligibility = made;
  }

  void draw_logits(uint32_t size, std::mt19937_64& random) {
    level_size = size;
    logits.resize(beams.nodes.size() * size);
    norms.resize(beams.nodes.size());
    // Multiples of 1/64 in a narrow range: ties between beams are common.
    const auto draw = [&] { return static_cast<float>(random() % 65) / 64.0f - 0.5f; };
    for (float& logit : logits) logit = random() % 32 == 0 ? std::nanf("") : draw();
    for (float& norm : norms) norm = 2.0f + draw();
  }

  Search search() {
    Search result;
    states[0] = {};
    states[0].beams = static_cast<uint32_t>(beams.nodes.size());
    result.width = width;
    result.level_size = level_size;
    result.logits = logits.data();
    result.norms = norms.data();
    result.nodes_open = eligibility ? nodes_open.data() : nullptr;
    result.items_open = eligibility ? items_open.data() : nullptr;
    result.scores = scores.data();
    result.nodes = nodes.data();
    result.offsets = offsets.data();
    result.keys = keys.data();
    result.keys_max = keys_max;
    result.digit_counts = digit_counts.data();
    result.winners = winners.data();
    result.parents = parents.data();
    result.codes = codes.data();
    result.finished_scores = finished_scores.data();
    result.finished_nodes = finished_nodes.data();
    result.finished_parents = finished_parents.data();
    result.state = states.data();
    return result;
  }

  uint32_t width, level_size = 0, keys_max = kKeysMax;
  Beams beams;
  std::shared_ptr<const Eligibility> eligibility;
  catalogue::Reach reach;
  Shared<float> logits, norms;
  Shared<float> scores = Shared<float>(kBeamsMax), finished_scores = scores;
  Shared<uint32_t> nodes = Shared<uint32_t>(kBeamsMax), parents = nodes, codes = nodes,
                   finished_nodes = nodes, finished_parents = nodes,
                   offsets = Shared<uint32_t>(kBeamsMax + 1),
                   digit_counts = Shared<uint32_t>(kDigitValues, 77);
  Shared<uint64_t> keys = Shared<uint64_t>(kKeysMax), winners = Shared<uint64_t>(kBeamsMax);
  Shared<uint64_t> nodes_open, items_open;
  Shared<State> states = Shared<State>(1);
};

void step_on_card(const Trie& trie, Shared<Search>& searches, uint32_t blocks, uint64_t seed) {
  const auto count = static_cast<unsigned>(searches.size());
  simt::Launch one{.grid = {1, count, 1}, .block = {kSelectThreads, 1, 1}, .seed = seed};
  simt::Launch many = one;
  many.grid.x = blocks;
  const Search* all = searches.data();
  TESSERA_LAUNCH(tessera_count_candidates, one, trie, all);
  TESSERA_LAUNCH(tessera_write_keys, many, trie, all);
  for (uint32_t digit = 0; digit < kDigits; ++digit) {
    TESSERA_LAUNCH(tessera_count_digits, many, all, digit);
    TESSERA_LAUNCH(tessera_choose_digit, one, all);
  }
  TESSERA_LAUNCH(tessera_gather_winners, many, all);
  one.dynamic_shared_bytes = advance_shared_bytes();
  TESSERA_LAUNCH(tessera_advance, one, trie, all);
}

void expect_equal(const Request& request, const Step& step) {
  ASSERT_EQ(request.states[0].overflow, 0u);
  ASSERT_EQ(request.states[0].beams, step.next.nodes.size());
  for (size_t i = 0; i < step.next.nodes.size(); ++i) {
    ASSERT_EQ(request.nodes[i], step.next.nodes[i]) << i;
    ASSERT_EQ(std::bit_cast<uint32_t>(request.scores[i]),
              std::bit_cast<uint32_t>(step.next.scores[i]));
    ASSERT_EQ(request.parents[i], step.parents[i]);
    ASSERT_EQ(request.codes[i], step.codes[i]);
  }
  ASSERT_EQ(request.states[0].finished, step.finished.size());
  for (size_t i = 0; i < step.finished.size(); ++i) {
    ASSERT_EQ(request.finished_nodes[i], step.finished[i].node) << i;
    ASSERT_EQ(std::bit_cast<uint32_t>(request.finished_scores[i]),
              std::bit_cast<uint32_t>(step.finished[i].score));
    ASSERT_EQ(request.finished_parents[i], step.finished_parents[i]);
  }
}

std::string case_path() {
  const auto folder = std::filesystem::temp_directory_path();
  return folder / ("tessera-select-kernels-" + std::to_string(::getpid()));
}

TEST(SelectKernels, ChooseWhatTheCpuChoosesAtEveryLevelOfABatch) {
  const auto scratch = make_scratch();
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const RandomCase random_case = beam::random_case(random, case_path());
    const TrieArrays arrays(*random_case.snapshot);
    std::vector<Request> requests;
    for (const uint32_t width : {1u, 3u, 40u}) requests.emplace_back(random_case, random, width);
    for (const uint32_t level_size : random_case.level_sizes) {
      Shared<Search> searches;
      for (Request& request : requests) {
        request.draw_logits(level_size, random);
        searches.push_back(request.search());
      }
      step_on_card(arrays.trie(), searches, 1 + static_cast<uint32_t>(random() % 3), random());
      for (Request& request : requests) {
        Step step;
        const SelectOptions options{.width = request.width};
        select(request.beams, {request.logits, level_size, {}, request.norms}, request.reach,
               options, *scratch, step);
        expect_equal(request, step);
        if (::testing::Test::HasFatalFailure()) return;
        request.beams = step.next;
      }
    }
  }
  std::filesystem::remove(case_path());
}

TEST(SelectKernels, ChooseNothingWhereTheKeysDoNotFit) {
  std::mt19937_64 random(3);
  const RandomCase random_case = beam::random_case(random, case_path());
  const TrieArrays arrays(*random_case.snapshot);
  Request request(random_case, random, 4);
  request.draw_logits(random_case.level_sizes[0], random);
  request.keys_max = 0;
  Shared<Search> searches = {request.search()};
  step_on_card(arrays.trie(), searches, 1, 1);
  EXPECT_EQ(request.states[0].overflow, 1u);
  EXPECT_EQ(request.states[0].beams, 0u);
  EXPECT_EQ(request.states[0].finished, 0u);
  std::filesystem::remove(case_path());
}

TEST(ExportKernel, GivesTheItemsThatTheCpuGives) {
  platform::ThreadPool threads({1, false});
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const RandomCase random_case = beam::random_case(random, case_path());
    const TrieArrays arrays(*random_case.snapshot);
    const Request request(random_case, random, 1);
    // All nodes with items, in an order of scores that no two share.
    std::vector<Finished> finished;
    for (catalogue::NodeIndex node = 1; node < random_case.snapshot->node_count(); ++node) {
      if (request.reach.is_terminal(node)) finished.push_back({static_cast<float>(node), node});
    }
    std::reverse(finished.begin(), finished.end());
    const ExportOptions options{.result_count = 1 + static_cast<uint32_t>(random() % 30),
                                .items_per_sid = static_cast<uint32_t>(random() % 3)};
    const Exported expected = export_items(finished, request.reach, options, threads);

    Shared<uint32_t> nodes, counts(finished.size()), items(options.result_count),
        item_paths(options.result_count);
    for (const Finished& path : finished) nodes.push_back(path.node);
    Shared<uint32_t> item_count(1);
    Shared<Export> requests(1);
    Export& given = requests[0];
    given.paths = static_cast<uint32_t>(nodes.size());
    given.nodes = nodes.data();
    given.items_open = request.eligibility ? request.items_open.data() : nullptr;
    given.items_per_path = options.items_per_sid;
    given.items_max = options.result_count;
    given.counts = counts.data();
    given.items = items.data();
    given.item_paths = item_paths.data();
    given.item_count = item_count.data();
    const Trie trie = arrays.trie();
    const simt::Launch shape{.block = {kSelectThreads, 1, 1}, .seed = seed};
    TESSERA_LAUNCH(tessera_export_items, shape, trie, requests.data());
    ASSERT_EQ(item_count[0], expected.item_ordinals.size());
    items.resize(item_count[0]);
    item_paths.resize(item_count[0]);
    EXPECT_TRUE(std::ranges::equal(items, expected.item_ordinals));
    EXPECT_TRUE(std::ranges::equal(item_paths, expected.item_paths));
  }
  std::filesystem::remove(case_path());
}

}  // namespace
}  // namespace tessera::beam::cuda
