#include "engine/cuda/card_recall.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "beam/cuda/kernels.h"

namespace tessera::engine::cuda {
namespace {

using beam::cuda::kBeamsMax;
using beam::cuda::kSelectThreads;
using beam::cuda::Search;
using beam::cuda::State;
using device::cuda::launch;
using device::cuda::LaunchShape;
using device::cuda::Memory;

constexpr uint32_t kKeysPerBlock = 8 * kSelectThreads;

Status invalid(const std::string& field, const std::string& expected, uint64_t came) {
  return {Code::kRequestInvalid,
          field + ": expected " + expected + ", got " + std::to_string(came)};
}

}  // namespace

Result<std::unique_ptr<CardRecall>> CardRecall::make(const CardRecallLimits& limits,
                                                     model::cuda::CardDecoder& decoder,
                                                     const CardCatalogue& catalogue,
                                                     device::cuda::Queue& queue) {
  const uint32_t most = std::min({kBeamsMax, decoder.limits().rows, decoder.limits().head_rows});
  if (limits.width < 1 || limits.width > most) {
    return invalid("width", "1.." + std::to_string(most), limits.width);
  }
  auto recall = std::unique_ptr<CardRecall>(new CardRecall(limits, decoder, catalogue, queue));
  TESSERA_RETURN_IF_ERROR(recall->allocate());
  return recall;
}

Status CardRecall::allocate() {
  const model::ModelConfig& config = decoder_.config();
  const uint32_t depth = catalogue_.depth(), width = limits_.width;
  uint32_t level_size = 0;
  for (uint32_t level = 0; level < depth; ++level) {
    level_size = std::max(level_size, catalogue_.level_size(level));
  }
  const uint64_t block_elements = decoder_.block_bytes() / sizeof(uint16_t);
  const uint64_t own =
      uint64_t{config.layer_count} * depth * width * config.kv_head_count * config.head_dim;
  blocks_.resize((limits_.context + attention::cuda::kBlockPositions - 1) /
                 attention::cuda::kBlockPositions);
  const auto lay = [&](char* base) {
    device::cuda::Arrays arrays(base);
    for (uint16_t*& block : blocks_) arrays.take(block, block_elements);
    arrays.take(own_keys_, own);
    arrays.take(own_values_, own);
    arrays.take(row_numbers_, std::max(width, decoder_.limits().rows));
    arrays.take(logits_, uint64_t{width} * level_size);
    arrays.take(sums_, width);
    arrays.take(tokens_, width);
    for (uint32_t*& ancestors : ancestors_) arrays.take(ancestors, uint64_t{width} * depth);
    arrays.take(search_.scores, kBeamsMax);
    arrays.take(search_.nodes, kBeamsMax);
    arrays.take(search_.offsets, kBeamsMax + 1);
    arrays.take(search_.keys, limits_.keys_max);
    arrays.take(search_.digit_counts, beam::cuda::kDigitValues);
    arrays.take(search_.winners, kBeamsMax);
    arrays.take(search_.parents, kBeamsMax);
    arrays.take(search_.codes, kBeamsMax);
    arrays.take(search_.finished_scores, uint64_t{kBeamsMax} * depth);
    arrays.take(search_.finished_nodes, uint64_t{kBeamsMax} * depth);
    arrays.take(search_.finished_parents, uint64_t{kBeamsMax} * depth);
    arrays.take(search_.state, 1);
    arrays.take(card_search_, depth);
    return arrays.bytes();
  };
  Result<Memory> memory = Memory::allocate(queue_, lay(nullptr));
  if (!memory.is_ok()) return memory.status();
  memory_ = std::move(memory).value();
  lay(memory_.as<char>());
  search_.keys_max = limits_.keys_max;
  search_.logits = logits_;
  search_.norms = sums_;
  std::vector<uint32_t> numbers(std::max(width, decoder_.limits().rows));
  std::iota(numbers.begin(), numbers.end(), 0u);
  TESSERA_RETURN_IF_ERROR(
      queue_.copy_in(row_numbers_, numbers.data(), numbers.size() * sizeof(uint32_t)));
  // Finite where nothing was written: attention multiplies it by zero.
  const std::vector<char> zeros(decoder_.block_bytes());
  for (uint16_t* block : blocks_) {
    TESSERA_RETURN_IF_ERROR(queue_.copy_in(block, zeros.data(), zeros.size()));
  }
  return Status::ok();
}

Status CardRecall::check(std::span<const int32_t> prompt, std::span<const uint32_t> widths) const {
  if (prompt.empty() || prompt.size() > limits_.context) {
    return invalid("prompt", "1.." + std::to_string(limits_.context) + " tokens", prompt.size());
  }
  if (widths.empty()) return invalid("widths", "one or more", 0);
  for (const uint32_t width : widths) {
    if (width < 1 || width > limits_.width) {
      return invalid("widths", "1.." + std::to_string(limits_.width), width);
    }
  }
  return Status::ok();
}

Status CardRecall::begin(const catalogue::Eligibility* eligibility) {
  State state;
  state.beams = 1;
  const float score = 0;
  const uint32_t root = 0;
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(search_.state, &state, sizeof(state)));
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(search_.scores, &score, sizeof(score)));
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(search_.nodes, &root, sizeof(root)));
  search_.nodes_open = search_.items_open = nullptr;
  if (eligibility == nullptr) return Status::ok();
  const uint64_t node_bytes = eligibility->nodes.size() * sizeof(uint64_t);
  const uint64_t item_bytes = eligibility->items.size() * sizeof(uint64_t);
  Result<Memory> bits = Memory::allocate(queue_, node_bytes + item_bytes);
  if (!bits.is_ok()) return bits.status();
  eligible_ = std::move(bits).value();
  auto* at = eligible_.as<uint64_t>();
  search_.nodes_open = at;
  search_.items_open = at + eligibility->nodes.size();
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(at, eligibility->nodes.data(), node_bytes));
  return queue_.copy_in(at + eligibility->nodes.size(), eligibility->items.data(), item_bytes);
}

Result<uint32_t> CardRecall::prefill(std::span<const int32_t> prompt) {
  uint32_t last = 0;
  for (size_t first = 0; first < prompt.size(); first += decoder_.limits().rows) {
    const auto part =
        prompt.subspan(first, std::min<size_t>(decoder_.limits().rows, prompt.size() - first));
    model::cuda::CardRows rows;
    rows.blocks = blocks_;
    rows.row_count = static_cast<uint32_t>(part.size());
    rows.first_position = static_cast<uint32_t>(first);
    TESSERA_RETURN_IF_ERROR(decoder_.forward(part, {&rows, 1}));
    last = rows.row_count - 1;
  }
  return last;
}

Status CardRecall::choose(uint32_t level, uint32_t first_row, uint32_t rows, uint32_t width) {
  TESSERA_RETURN_IF_ERROR(decoder_.head(row_numbers_ + first_row, rows,
                                        catalogue_.level_tokens(level),
                                        catalogue_.level_size(level), logits_, sums_));
  Search search = search_;
  search.width = width;
  search.level_size = catalogue_.level_size(level);
  Search* card = card_search_ + level;
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(card, &search, sizeof(search)));
  const beam::cuda::Trie& trie = catalogue_.trie();
  const unsigned blocks = std::max(1u, (limits_.keys_max + kKeysPerBlock - 1) / kKeysPerBlock);
  LaunchShape one{{1, 1, 1}, {kSelectThreads, 1, 1}};
  const LaunchShape many{{blocks, 1, 1}, {kSelectThreads, 1, 1}};
  TESSERA_RETURN_IF_ERROR(launch(queue_, beam::cuda::kCountCandidates, one, trie, card));
  TESSERA_RETURN_IF_ERROR(launch(queue_, beam::cuda::kWriteKeys, many, trie, card));
  for (uint32_t digit = 0; digit < beam::cuda::kDigits; ++digit) {
    TESSERA_RETURN_IF_ERROR(launch(queue_, beam::cuda::kCountDigits, many, card, digit));
    TESSERA_RETURN_IF_ERROR(launch(queue_, beam::cuda::kChooseDigit, one, card));
  }
  TESSERA_RETURN_IF_ERROR(launch(queue_, beam::cuda::kGatherWinners, many, card));
  one.dynamic_shared_bytes = beam::cuda::advance_shared_bytes();
  return launch(queue_, beam::cuda::kAdvance, one, trie, card);
}

Status CardRecall::go_on(uint32_t level, uint32_t prompt_length, uint32_t rows) {
  const uint32_t step = level + 1;
  beam::cuda::Fork fork;
  fork.state = search_.state;
  fork.parents = search_.parents;
  fork.codes = search_.codes;
  fork.level_tokens = catalogue_.level_tokens(level);
  fork.rows = rows;
  fork.step = step;
  fork.ancestors = ancestors_[(step - 1) % 2];
  fork.next_ancestors = ancestors_[step % 2];
  fork.tokens = tokens_;
  const LaunchShape shape{{1, 1, 1}, {kSelectThreads, 1, 1}};
  TESSERA_RETURN_IF_ERROR(launch(queue_, beam::cuda::kFork, shape, fork));
  model::cuda::CardRows beams;
  beams.blocks = blocks_;
  beams.row_count = rows;
  beams.first_position = prompt_length + step - 1;
  beams.own_keys = own_keys_;
  beams.own_values = own_values_;
  beams.max_steps = catalogue_.depth();
  beams.max_width = limits_.width;
  beams.step = step;
  beams.card_ancestors = ancestors_[step % 2];
  return decoder_.forward(tokens_, {&beams, 1});
}

Result<std::vector<beam::Finished>> CardRecall::collect() {
  State state;
  TESSERA_RETURN_IF_ERROR(queue_.copy_out(&state, search_.state, sizeof(state)));
  if (state.overflow != 0) {
    return Status(Code::kEngineOverloaded,
                  "a step has more candidates than keysMax, " + std::to_string(limits_.keys_max));
  }
  std::vector<float> scores(state.finished);
  std::vector<uint32_t> nodes(state.finished);
  const uint64_t bytes = nodes.size() * sizeof(uint32_t);
  TESSERA_RETURN_IF_ERROR(queue_.copy_out(scores.data(), search_.finished_scores, bytes));
  TESSERA_RETURN_IF_ERROR(queue_.copy_out(nodes.data(), search_.finished_nodes, bytes));
  std::vector<beam::Finished> finished;
  for (size_t i = 0; i < nodes.size(); ++i) finished.push_back({scores[i], nodes[i]});
  return finished;
}

Result<std::vector<beam::Finished>> CardRecall::search(std::span<const int32_t> prompt,
                                                       std::span<const uint32_t> widths,
                                                       const catalogue::Eligibility* eligibility) {
  TESSERA_RETURN_IF_ERROR(check(prompt, widths));
  TESSERA_RETURN_IF_ERROR(begin(eligibility));
  Result<uint32_t> last = prefill(prompt);
  if (!last.is_ok()) return last.status();
  uint32_t first_row = last.value(), rows = 1;
  for (uint32_t level = 0; level < catalogue_.depth(); ++level) {
    const uint32_t width = widths[std::min<size_t>(level, widths.size() - 1)];
    TESSERA_RETURN_IF_ERROR(choose(level, first_row, rows, width));
    if (level + 1 == catalogue_.depth()) break;
    // The host does not know how many beams there are: rows for as many as there can be.
    first_row = 0;
    rows = std::min(width, catalogue_.nodes_at_level(level));
    TESSERA_RETURN_IF_ERROR(go_on(level, static_cast<uint32_t>(prompt.size()), rows));
  }
  return collect();
}

}  // namespace tessera::engine::cuda
