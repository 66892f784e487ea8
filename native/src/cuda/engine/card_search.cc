#include "cuda/engine/card_search.h"

#include <string>
#include <utility>

#include "base/check.h"
#include "cuda/kernels/search_kernels.h"

namespace tessera::engine::cuda {
namespace {

using beam::cuda::kBeamsMax;
using beam::cuda::kSelectThreads;
using beam::cuda::Search;
using beam::cuda::State;
using device::cuda::launch;
using device::cuda::LaunchShape;
using device::cuda::Memory;

constexpr uint32_t kKeysOfBlock = 8 * kSelectThreads;

}  // namespace

Status select_next(device::cuda::Queue& queue, const Search* searches, uint32_t count,
                   uint32_t keys_max, bool has_other_norms) {
  const unsigned blocks = std::max(1u, (keys_max + kKeysOfBlock - 1) / kKeysOfBlock);
  LaunchShape one{{1, count, 1}, {kSelectThreads, 1, 1}};
  const LaunchShape many{{blocks, count, 1}, {kSelectThreads, 1, 1}};
  TESSERA_RETURN_IF_ERROR(launch(queue, beam::cuda::kCountCandidates, one, searches));
  if (has_other_norms) {
    TESSERA_RETURN_IF_ERROR(launch(queue, beam::cuda::kNorms, many, searches));
  }
  TESSERA_RETURN_IF_ERROR(launch(queue, beam::cuda::kWriteKeys, many, searches));
  for (uint32_t digit = 0; digit < beam::cuda::kDigits; ++digit) {
    TESSERA_RETURN_IF_ERROR(launch(queue, beam::cuda::kCountDigits, many, searches, digit));
    TESSERA_RETURN_IF_ERROR(launch(queue, beam::cuda::kChooseDigit, one, searches));
  }
  TESSERA_RETURN_IF_ERROR(launch(queue, beam::cuda::kGatherWinners, many, searches));
  one.dynamic_shared_bytes = beam::cuda::advance_shared_bytes();
  return launch(queue, beam::cuda::kAdvance, one, searches);
}

uint64_t CardSearch::lay(char* base, uint32_t width, uint32_t keys_max,
                         const CardCatalogue& catalogue) {
  const model::ModelConfig& config = decoder_.config();
  const uint32_t steps = catalogue.depth() + catalogue.terminal_count();
  uint32_t row_size = 0;
  for (uint32_t level = 0; level < catalogue.depth(); ++level) {
    row_size = std::max(row_size, catalogue.level_size(level));
  }
  row_size += catalogue.terminal_count();
  const uint64_t own =
      uint64_t{config.layer_count} * steps * width * config.kv_head_count * config.head_dim;
  device::cuda::Arrays arrays(base);
  arrays.take(own_keys_, own);
  arrays.take(own_values_, own);
  arrays.take(logits_, uint64_t{width} * row_size);
  arrays.take(search_.norms, width);
  for (uint32_t*& ancestors : ancestors_) arrays.take(ancestors, uint64_t{width} * steps);
  beam::cuda::take_arrays(arrays, keys_max, steps, search_);
  arrays.take(states_, steps);
  return arrays.bytes();
}

uint64_t CardSearch::bytes(uint32_t width, uint32_t keys_max, const CardCatalogue& catalogue) {
  return CardSearch(decoder_, queue_).lay(nullptr, width, keys_max, catalogue);
}

Status CardSearch::reserve(uint32_t width, uint32_t keys_max, const CardCatalogue& catalogue) {
  const uint64_t bytes = this->bytes(width, keys_max, catalogue);
  if (bytes > bytes_) {
    drop();
    Result<Memory> memory = Memory::allocate(queue_, bytes);
    if (!memory.is_ok()) return memory.status();
    memory_ = std::move(memory).value();
    bytes_ = bytes;
  }
  lay(memory_.as<char>(), width, keys_max, catalogue);
  catalogue_ = &catalogue;
  width_ = width;
  search_.terminal_count = catalogue.terminal_count();
  return Status::ok();
}

uint32_t CardSearch::keys_max(uint32_t width, const CardCatalogue& catalogue,
                              const CardVersion& version) {
  uint64_t most = width;
  uint64_t beams = 1;
  for (uint32_t level = 0; level < catalogue.depth(); ++level) {
    // Children of different beams are different nodes; every beam may end as well.
    const uint64_t children =
        std::min<uint64_t>(beams * catalogue.level_size(level), version.nodes_at_level(level));
    most = std::max(most, children + beams);
    beams = width;
  }
  return static_cast<uint32_t>(std::min<uint64_t>(most, UINT32_MAX));
}

Status CardSearch::begin(std::shared_ptr<const CardVersion> version, beam::ScoreNorm norm,
                         const catalogue::Eligibility* eligibility) {
  State state;
  state.beams = 1;
  const float score = 0;
  const uint32_t root = 0;
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(search_.state, &state, sizeof(state)));
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(search_.scores, &score, sizeof(score)));
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(search_.nodes, &root, sizeof(root)));
  version_ = std::move(version);
  search_.trie = version_->trie();
  search_.norm = static_cast<beam::cuda::Norm>(norm);
  search_.nodes_open = search_.items_open = nullptr;
  if (eligibility == nullptr) return Status::ok();
  const uint64_t node_bytes = eligibility->nodes.size() * sizeof(uint64_t);
  const uint64_t item_bytes = eligibility->items.size() * sizeof(uint64_t);
  if (node_bytes + item_bytes > eligible_bytes_) {
    Result<Memory> bits = Memory::allocate(queue_, node_bytes + item_bytes);
    if (!bits.is_ok()) return bits.status();
    eligible_ = std::move(bits).value();
    eligible_bytes_ = node_bytes + item_bytes;
  }
  auto* at = eligible_.as<uint64_t>();
  search_.nodes_open = at;
  search_.items_open = at + eligibility->nodes.size();
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(at, eligibility->nodes.data(), node_bytes));
  return queue_.copy_in(at + eligibility->nodes.size(), eligibility->items.data(), item_bytes);
}

Status CardSearch::head(uint32_t index, const uint32_t* row_numbers, uint32_t first_row,
                        uint32_t rows, uint32_t width) {
  TESSERA_CHECK(rows <= width_ && width <= width_);
  step_ = search_;
  step_.width = width;
  step_.level_size = level_size(index);
  step_.row_size = step_.level_size + catalogue_->terminal_count();
  step_.logits = logits_;
  step_.terminal_logits = logits_ + step_.level_size;
  float* sums = step_.norm == beam::cuda::Norm::kFull ? step_.norms : nullptr;
  return decoder_.head(row_numbers + first_row, rows, catalogue_->level_tokens(level_of(index)),
                       step_.row_size, logits_, sums);
}

Status CardSearch::note(uint32_t index) {
  return queue_.copy_within(states_ + index, search_.state, sizeof(State));
}

uint32_t CardSearch::rows_after(uint32_t index, uint32_t width) const {
  if (index + 1 == step_count()) return 0;
  // With terminal tokens, those that have ended are beside those of the level.
  if (catalogue_->terminal_count() > 0) return width;
  const uint64_t nodes = std::max<uint64_t>(version_->nodes_at_level(index), 1);
  return static_cast<uint32_t>(std::min<uint64_t>(width, nodes));
}

Status CardSearch::fork(uint32_t index, uint32_t rows, int32_t* tokens) {
  const uint32_t step = index + 1;
  beam::cuda::Fork fork;
  fork.state = search_.state;
  fork.parents = search_.parents;
  fork.codes = search_.codes;
  fork.ended = search_.ended;
  fork.level_tokens = catalogue_->level_tokens(level_of(index));
  fork.terminal_tokens = catalogue_->terminal_tokens();
  fork.rows = rows;
  fork.step = step;
  fork.ancestors = ancestors_[(step - 1) % 2];
  fork.next_ancestors = ancestors_[step % 2];
  fork.tokens = tokens;
  const LaunchShape shape{{1, 1, 1}, {kSelectThreads, 1, 1}};
  return launch(queue_, beam::cuda::kFork, shape, fork);
}

model::cuda::CardRows CardSearch::rows(std::span<uint16_t* const> blocks, uint32_t prompt_length,
                                       uint32_t index, uint32_t count) const {
  const uint32_t step = index + 1;
  model::cuda::CardRows beams;
  beams.blocks = blocks;
  beams.row_count = count;
  beams.first_position = prompt_length + step - 1;
  beams.own_keys = own_keys_;
  beams.own_values = own_values_;
  beams.max_steps = step_count();
  beams.max_width = width_;
  beams.step = step;
  beams.card_ancestors = ancestors_[step % 2];
  return beams;
}

Result<CardFindings> CardSearch::collect(uint32_t index) {
  std::vector<State> states(index + 1);
  TESSERA_RETURN_IF_ERROR(queue_.copy_out(states.data(), states_, states.size() * sizeof(State)));
  const State& last = states.back();
  if (last.overflow != 0) {
    return Status(Code::kEngineOverloaded,
                  "a step has more candidates than keysMax, " + std::to_string(search_.keys_max));
  }
  std::vector<float> scores(last.finished);
  std::vector<uint32_t> nodes(last.finished);
  const uint64_t bytes = nodes.size() * sizeof(uint32_t);
  if (bytes > 0) {
    TESSERA_RETURN_IF_ERROR(queue_.copy_out(scores.data(), search_.finished_scores, bytes));
    TESSERA_RETURN_IF_ERROR(queue_.copy_out(nodes.data(), search_.finished_nodes, bytes));
  }
  CardFindings findings;
  for (size_t i = 0; i < nodes.size(); ++i) findings.finished.push_back({scores[i], nodes[i]});
  uint32_t before = 0;
  for (const State& state : states) {
    findings.widths_used.push_back(std::max(state.beams, state.finished - before));
    before = state.finished;
    if (state.beams == 0) break;  // what followed searched nothing
  }
  return findings;
}

}  // namespace tessera::engine::cuda
