#include "cuda/kernels/test_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

extern "C" {
void tessera_count_candidates(const tessera::beam::cuda::Search*);
void tessera_norms(const tessera::beam::cuda::Search*);
void tessera_write_keys(const tessera::beam::cuda::Search*);
void tessera_count_digits(const tessera::beam::cuda::Search*, uint32_t);
void tessera_choose_digit(const tessera::beam::cuda::Search*);
void tessera_gather_winners(const tessera::beam::cuda::Search*);
void tessera_advance(const tessera::beam::cuda::Search*);
void tessera_fork(tessera::beam::cuda::Fork);
}

namespace tessera::beam::cuda {

using device::cuda::launch;
using device::cuda::LaunchShape;
using device::cuda::Queue;
using device::cuda::Shared;

void add_search_kernels(device::cuda::EmulatedQueue& queue) {
  queue.add(kCountCandidates, tessera_count_candidates);
  queue.add(kNorms, tessera_norms);
  queue.add(kWriteKeys, tessera_write_keys);
  queue.add(kCountDigits, tessera_count_digits);
  queue.add(kChooseDigit, tessera_choose_digit);
  queue.add(kGatherWinners, tessera_gather_winners);
  queue.add(kAdvance, tessera_advance);
  queue.add(kFork, tessera_fork);
}

std::unique_ptr<Queue> open_search_queue(uint64_t seed) {
  if (device::cuda::on_card()) return device::cuda::open_card_queue();
  auto queue = std::make_unique<device::cuda::EmulatedQueue>(seed);
  add_search_kernels(*queue);
  return queue;
}

namespace {

void wait(Queue& queue, const void* shared) {
  char byte = 0;
  ASSERT_TRUE(queue.copy_out(&byte, shared, 1).is_ok());
}

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }

}  // namespace

void step_on_card(Queue& queue, const Shared<Search>& searches, uint32_t blocks) {
  const auto count = static_cast<unsigned>(searches.size());
  LaunchShape one{{1, count, 1}, {kSelectThreads, 1, 1}};
  const LaunchShape many{{blocks, count, 1}, {kSelectThreads, 1, 1}};
  const Search* all = searches.data();
  ASSERT_TRUE(launch(queue, kCountCandidates, one, all).is_ok());
  ASSERT_TRUE(launch(queue, kNorms, many, all).is_ok());
  ASSERT_TRUE(launch(queue, kWriteKeys, many, all).is_ok());
  for (uint32_t digit = 0; digit < kDigits; ++digit) {
    ASSERT_TRUE(launch(queue, kCountDigits, many, all, digit).is_ok());
    ASSERT_TRUE(launch(queue, kChooseDigit, one, all).is_ok());
  }
  ASSERT_TRUE(launch(queue, kGatherWinners, many, all).is_ok());
  one.dynamic_shared_bytes = advance_shared_bytes();
  ASSERT_TRUE(launch(queue, kAdvance, one, all).is_ok());
  wait(queue, all);
}

TestSearch::TestSearch(const catalogue::Reach& reach, const Trie* trie, uint32_t terminal_count,
                       ScoreNorm norm, uint32_t steps)
    : reach_(reach) {
  options_.terminal_count = search_.terminal_count = terminal_count;
  options_.norm = norm;
  search_.norm = static_cast<Norm>(norm);
  search_.trie = trie;
  device::cuda::Arrays sizes(nullptr);
  take_arrays(sizes, kKeysMax, steps, search_);
  memory_.assign(sizes.bytes(), static_cast<char>(0xFF));  // what was not written is not read
  device::cuda::Arrays arrays(memory_.data());
  take_arrays(arrays, kKeysMax, steps, search_);
  states_.resize(1);
  states_[0].beams = 1;
  search_.state = states_.data();
  search_.scores[0] = 0.0f;
  search_.nodes[0] = catalogue::kRoot;
  if (const catalogue::Eligibility* eligibility = reach.eligibility(); eligibility != nullptr) {
    nodes_open_.assign(eligibility->nodes.begin(), eligibility->nodes.end());
    items_open_.assign(eligibility->items.begin(), eligibility->items.end());
    search_.nodes_open = nodes_open_.data();
    search_.items_open = items_open_.data();
  }
}

Search TestSearch::next(uint32_t level_size, uint32_t width, std::mt19937_64& random) {
  options_.width = search_.width = width;
  search_.level_size = level_size;
  search_.row_size = level_size + options_.terminal_count;
  // Multiples of 1/64 in a narrow range: ties between beams are common.
  const auto draw = [&] { return static_cast<float>(random() % 65) / 64.0f - 0.5f; };
  logits_.resize(beams_.nodes.size() * search_.row_size);
  norms_.resize(beams_.nodes.size());
  for (float& logit : logits_) logit = random() % 32 == 0 ? std::nanf("") : draw();
  for (float& norm : norms_) norm = 2.0f + draw();
  search_.logits = logits_.data();
  search_.terminal_logits = logits_.data() + level_size;
  search_.norms = norms_.data();
  return search_;
}

void TestSearch::expect_equal_step(Scratch& scratch) {
  std::vector<float> codes, terminal;
  for (size_t b = 0; b < beams_.nodes.size(); ++b) {
    const float* row = logits_.data() + b * search_.row_size;
    codes.insert(codes.end(), row, row + search_.level_size);
    if (options_.terminal_count > 0) terminal.push_back(row[search_.level_size + beams_.ended[b]]);
  }
  Step step;
  select(beams_, {codes, search_.level_size, terminal, norms_}, reach_, options_, scratch, step);
  const State& state = states_[0];
  ASSERT_EQ(state.overflow, 0u);
  ASSERT_EQ(state.beams, step.next.nodes.size());
  for (size_t i = 0; i < step.next.nodes.size(); ++i) {
    ASSERT_EQ(search_.nodes[i], step.next.nodes[i]) << i;
    ASSERT_EQ(bits(search_.scores[i]), bits(step.next.scores[i])) << i;
    ASSERT_EQ(search_.ended[i], step.next.ended[i]) << i;
    ASSERT_EQ(search_.parents[i], step.parents[i]) << i;
    ASSERT_EQ(search_.codes[i], step.codes[i]) << i;
  }
  const uint64_t before = finished_;
  ASSERT_EQ(state.finished, before + step.finished.size());
  for (size_t i = 0; i < step.finished.size(); ++i) {
    ASSERT_EQ(search_.finished_nodes[before + i], step.finished[i].node) << i;
    ASSERT_EQ(bits(search_.finished_scores[before + i]), bits(step.finished[i].score)) << i;
    ASSERT_EQ(search_.finished_parents[before + i], step.finished_parents[i]) << i;
  }
  finished_ += step.finished.size();
  beams_ = step.next;
}

}  // namespace tessera::beam::cuda
