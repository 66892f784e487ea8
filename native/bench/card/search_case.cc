#include "card/search_case.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>

#include "card/shapes.h"
#include "cuda/kernels/search_kernels.h"

namespace tessera::bench::card {
namespace {

using beam::cuda::kSelectThreads;
using beam::cuda::State;
using device::cuda::LaunchShape;

constexpr uint32_t kKeysPerBlock = 8 * kSelectThreads;
constexpr float kNorm = 10;  // no logit is higher

bool same_bits(float one, float other) {
  return std::bit_cast<uint32_t>(one) == std::bit_cast<uint32_t>(other);
}

}  // namespace

uint32_t candidates_max(const catalogue::View& view, uint32_t width) {
  const catalogue::Snapshot& snapshot = view.base();
  std::vector<std::vector<uint32_t>> counts(snapshot.depth());
  for (catalogue::NodeIndex node = 0; node < snapshot.node_count(); ++node) {
    const uint32_t depth = snapshot.depth_of(node);
    if (depth == snapshot.depth()) break;  // nodes are numbered level by level
    counts[depth].push_back(static_cast<uint32_t>(snapshot.children(node).codes.size()));
  }
  uint32_t most = 0;
  for (std::vector<uint32_t>& level : counts) {
    const auto kept = static_cast<std::ptrdiff_t>(std::min<size_t>(width, level.size()));
    std::partial_sort(level.begin(), level.begin() + kept, level.end(), std::greater<>());
    most = std::max(most, std::accumulate(level.begin(), level.begin() + kept, 0u));
  }
  const auto later = static_cast<uint32_t>(view.node_count() - snapshot.node_count());
  return most + later;  // all of one level, at most
}

SearchCase::SearchCase(BenchCard& card, std::shared_ptr<const catalogue::View> view,
                       const engine::cuda::CardCatalogue& catalogue,
                       std::shared_ptr<const engine::cuda::CardVersion> version, uint32_t width)
    : card_(card),
      reach_(std::move(view)),
      catalogue_(catalogue),
      version_(std::move(version)),
      width_(width),
      keys_max_(candidates_max(reach_.view(), width)) {
  beams_.scores = {0};
  beams_.nodes = {catalogue::kRoot};
  beams_.ended = {0};
}

Status SearchCase::allocate() {
  const uint32_t depth = catalogue_.depth();
  uint32_t level_size = 0;
  for (uint32_t level = 0; level < depth; ++level) {
    level_size = std::max(level_size, catalogue_.level_size(level));
  }
  const auto lay = [&](char* base) {
    device::cuda::Arrays arrays(base);
    arrays.take(card_logits_, uint64_t{width_} * level_size);
    arrays.take(card_norms_, width_);
    beam::cuda::take_arrays(arrays, keys_max_, depth, search_);
    arrays.take(card_search_, 1);
    return arrays.bytes();
  };
  Result<Memory> memory = Memory::allocate(card_.queue(), lay(nullptr));
  if (!memory.is_ok()) return memory.status();
  memory_ = std::move(memory).value();
  lay(memory_.as<char>());
  search_.trie = version_->trie();
  search_.width = width_;
  search_.logits = card_logits_;
  search_.norms = card_norms_;
  return Status::ok();
}

Status SearchCase::prepare(uint64_t seed) {
  level_size_ = catalogue_.level_size(level_);
  std::mt19937_64 random(seed);
  logits_.resize(uint64_t{beam_count()} * level_size_);
  for (float& logit : logits_) {
    logit = static_cast<float>(random() >> 40) * 0x1p-21f - 4;  // in [-4, 4)
  }
  norms_.assign(beam_count(), kNorm);
  search_.level_size = search_.row_size = level_size_;
  if (level_ > 0) {
    auto order = fetched<uint32_t>(card_, search_.order, beam_count());
    if (!order.is_ok()) return order.status();
    order_ = std::move(order).value();
  }
  device::cuda::Queue& queue = card_.queue();
  TESSERA_RETURN_IF_ERROR(
      queue.copy_in(card_logits_, logits_.data(), logits_.size() * sizeof(float)));
  TESSERA_RETURN_IF_ERROR(queue.copy_in(card_norms_, norms_.data(), norms_.size() * sizeof(float)));
  TESSERA_RETURN_IF_ERROR(queue.copy_in(card_search_, &search_, sizeof(search_)));
  return put_back();
}

Status SearchCase::put_back() {
  State state;
  state.steps = level_;
  state.beams = beam_count();
  device::cuda::Queue& queue = card_.queue();
  const uint64_t bytes = uint64_t{beam_count()} * sizeof(uint32_t);
  TESSERA_RETURN_IF_ERROR(queue.copy_in(search_.state, &state, sizeof(state)));
  TESSERA_RETURN_IF_ERROR(queue.copy_in(search_.scores, beams_.scores.data(), bytes));
  if (state.steps > 0) TESSERA_RETURN_IF_ERROR(queue.copy_in(search_.order, order_.data(), bytes));
  return queue.copy_in(search_.nodes, beams_.nodes.data(), bytes);
}

Status SearchCase::run() {
  device::cuda::Queue& queue = card_.queue();
  const unsigned blocks = std::max(1u, (keys_max_ + kKeysPerBlock - 1) / kKeysPerBlock);
  LaunchShape one{{1, 1, 1}, {kSelectThreads, 1, 1}};
  const LaunchShape many{{blocks, 1, 1}, {kSelectThreads, 1, 1}};
  TESSERA_RETURN_IF_ERROR(launch(queue, beam::cuda::kCountCandidates, one, card_search_));
  TESSERA_RETURN_IF_ERROR(launch(queue, beam::cuda::kWriteKeys, many, card_search_));
  for (uint32_t digit = 0; digit < beam::cuda::kDigits; ++digit) {
    TESSERA_RETURN_IF_ERROR(launch(queue, beam::cuda::kCountDigits, many, card_search_, digit));
    TESSERA_RETURN_IF_ERROR(launch(queue, beam::cuda::kChooseDigit, one, card_search_));
  }
  TESSERA_RETURN_IF_ERROR(launch(queue, beam::cuda::kGatherWinners, many, card_search_));
  one.dynamic_shared_bytes = beam::cuda::advance_shared_bytes();
  return launch(queue, beam::cuda::kAdvance, one, card_search_);
}

Status SearchCase::check_and_advance() {
  const auto scratch = beam::make_scratch();
  beam::Step step;
  beam::select(beams_, {logits_, level_size_, {}, norms_}, reach_, {.width = width_}, *scratch,
               step);
  const auto states = fetched<State>(card_, search_.state, 1);
  if (!states.is_ok()) return states.status();
  const State& state = states.value()[0];
  if (state.beams != step.next.nodes.size() || state.finished != step.finished.size()) {
    return wrong("search step");
  }
  const auto nodes = fetched<uint32_t>(card_, search_.nodes, state.beams);
  if (!nodes.is_ok()) return nodes.status();
  const auto scores = fetched<float>(card_, search_.scores, state.beams);
  if (!scores.is_ok()) return scores.status();
  for (uint32_t i = 0; i < state.beams; ++i) {
    if (nodes.value()[i] != step.next.nodes[i] ||
        !same_bits(scores.value()[i], step.next.scores[i])) {
      return wrong("search step");
    }
  }
  const auto ends = fetched<uint32_t>(card_, search_.finished_nodes, state.finished);
  if (!ends.is_ok()) return ends.status();
  for (uint32_t i = 0; i < state.finished; ++i) {
    if (ends.value()[i] != step.finished[i].node) return wrong("search step");
  }
  beams_ = step.next;
  ++level_;
  return Status::ok();
}

}  // namespace tessera::bench::card
