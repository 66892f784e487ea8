#include "cuda/engine/test_card_recall.h"

#include <algorithm>
#include <numeric>
#include <string>

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

constexpr uint32_t kKeysPerBlock = 8 * kSelectThreads;

Status invalid(const std::string& field, const std::string& expected, uint64_t got) {
  return {Code::kRequestInvalid, field + ": expected " + expected + ", got " + std::to_string(got)};
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
  const uint32_t steps = step_count(), width = limits_.width;
  uint32_t row_size = 0;
  for (uint32_t index = 0; index < steps; ++index) {
    row_size = std::max(row_size, level_size(index) + catalogue_.terminal_count());
  }
  const uint64_t block_elements = decoder_.block_bytes() / sizeof(uint16_t);
  const uint64_t own =
      uint64_t{config.layer_count} * steps * width * config.kv_head_count * config.head_dim;
  blocks_.resize((limits_.context + attention::cuda::kBlockPositions - 1) /
                 attention::cuda::kBlockPositions);
  const auto lay = [&](char* base) {
    device::cuda::Arrays arrays(base);
    for (uint16_t*& block : blocks_) arrays.take(block, block_elements);
    arrays.take(own_keys_, own);
    arrays.take(own_values_, own);
    arrays.take(row_numbers_, std::max(width, decoder_.limits().rows));
    arrays.take(logits_, uint64_t{width} * row_size);
    arrays.take(search_.norms, width);
    arrays.take(tokens_, width);
    for (uint32_t*& ancestors : ancestors_) arrays.take(ancestors, uint64_t{width} * steps);
    beam::cuda::take_arrays(arrays, limits_.keys_max, steps, search_);
    arrays.take(card_search_, steps);
    return arrays.bytes();
  };
  Result<Memory> memory = Memory::allocate(queue_, lay(nullptr));
  if (!memory.is_ok()) return memory.status();
  memory_ = std::move(memory).value();
  lay(memory_.as<char>());
  search_.terminal_count = catalogue_.terminal_count();
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

Status CardRecall::check(const CardRecallRequest& request) const {
  if (request.prompt.empty() || request.prompt.size() > limits_.context) {
    return invalid("prompt", "1.." + std::to_string(limits_.context) + " tokens",
                   request.prompt.size());
  }
  if (request.widths.empty()) return invalid("widths", "one or more", 0);
  for (const uint32_t width : request.widths) {
    if (width < 1 || width > limits_.width) {
      return invalid("widths", "1.." + std::to_string(limits_.width), width);
    }
  }
  return Status::ok();
}

Status CardRecall::begin(const CardRecallRequest& request) {
  State state;
  state.beams = 1;
  const float score = 0;
  const uint32_t root = 0;
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(search_.state, &state, sizeof(state)));
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(search_.scores, &score, sizeof(score)));
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(search_.nodes, &root, sizeof(root)));
  search_.trie = request.version->trie();
  search_.norm = static_cast<beam::cuda::Norm>(request.norm);
  search_.nodes_open = search_.items_open = nullptr;
  if (request.eligibility == nullptr) return Status::ok();
  const catalogue::Eligibility& eligibility = *request.eligibility;
  const uint64_t node_bytes = eligibility.nodes.size() * sizeof(uint64_t);
  const uint64_t item_bytes = eligibility.items.size() * sizeof(uint64_t);
  Result<Memory> bits = Memory::allocate(queue_, node_bytes + item_bytes);
  if (!bits.is_ok()) return bits.status();
  eligible_ = std::move(bits).value();
  auto* at = eligible_.as<uint64_t>();
  search_.nodes_open = at;
  search_.items_open = at + eligibility.nodes.size();
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(at, eligibility.nodes.data(), node_bytes));
  return queue_.copy_in(at + eligibility.nodes.size(), eligibility.items.data(), item_bytes);
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

Status CardRecall::choose(uint32_t index, uint32_t first_row, uint32_t rows, uint32_t width) {
  Search search = search_;
  search.width = width;
  search.level_size = level_size(index);
  search.row_size = search.level_size + catalogue_.terminal_count();
  search.logits = logits_;
  search.terminal_logits = logits_ + search.level_size;
  float* sums = search.norm == beam::cuda::Norm::kFull ? search.norms : nullptr;
  TESSERA_RETURN_IF_ERROR(decoder_.head(row_numbers_ + first_row, rows,
                                        catalogue_.level_tokens(level_of(index)), search.row_size,
                                        logits_, sums));
  Search* card = card_search_ + index;
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(card, &search, sizeof(search)));
  const unsigned blocks = std::max(1u, (limits_.keys_max + kKeysPerBlock - 1) / kKeysPerBlock);
  LaunchShape one{{1, 1, 1}, {kSelectThreads, 1, 1}};
  const LaunchShape many{{blocks, 1, 1}, {kSelectThreads, 1, 1}};
  TESSERA_RETURN_IF_ERROR(launch(queue_, beam::cuda::kCountCandidates, one, card));
  if (sums == nullptr) TESSERA_RETURN_IF_ERROR(launch(queue_, beam::cuda::kNorms, many, card));
  TESSERA_RETURN_IF_ERROR(launch(queue_, beam::cuda::kWriteKeys, many, card));
  for (uint32_t digit = 0; digit < beam::cuda::kDigits; ++digit) {
    TESSERA_RETURN_IF_ERROR(launch(queue_, beam::cuda::kCountDigits, many, card, digit));
    TESSERA_RETURN_IF_ERROR(launch(queue_, beam::cuda::kChooseDigit, one, card));
  }
  TESSERA_RETURN_IF_ERROR(launch(queue_, beam::cuda::kGatherWinners, many, card));
  one.dynamic_shared_bytes = beam::cuda::advance_shared_bytes();
  return launch(queue_, beam::cuda::kAdvance, one, card);
}

Status CardRecall::go_on(uint32_t index, uint32_t prompt_length, uint32_t rows) {
  const uint32_t step = index + 1;
  beam::cuda::Fork fork;
  fork.state = search_.state;
  fork.parents = search_.parents;
  fork.codes = search_.codes;
  fork.ended = search_.ended;
  fork.level_tokens = catalogue_.level_tokens(level_of(index));
  fork.terminal_tokens = catalogue_.terminal_tokens();
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
  beams.max_steps = step_count();
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

Result<std::vector<beam::Finished>> CardRecall::search(const CardRecallRequest& request) {
  TESSERA_RETURN_IF_ERROR(check(request));
  TESSERA_RETURN_IF_ERROR(begin(request));
  Result<uint32_t> last = prefill(request.prompt);
  if (!last.is_ok()) return last.status();
  const bool has_terminals = catalogue_.terminal_count() > 0;
  uint32_t first_row = last.value(), rows = 1;
  for (uint32_t index = 0; index < step_count(); ++index) {
    const uint32_t width = request.widths[std::min<size_t>(index, request.widths.size() - 1)];
    TESSERA_RETURN_IF_ERROR(choose(index, first_row, rows, width));
    if (index + 1 == step_count()) break;
    // The host does not know how many beams there are: rows for as many as there can be. With
    // terminal tokens, those that have ended are beside those of the level.
    first_row = 0;
    rows = width;
    if (!has_terminals) {
      rows = static_cast<uint32_t>(
          std::min<uint64_t>(rows, std::max<uint64_t>(request.version->nodes_at_level(index), 1)));
    }
    TESSERA_RETURN_IF_ERROR(go_on(index, static_cast<uint32_t>(request.prompt.size()), rows));
  }
  return collect();
}

}  // namespace tessera::engine::cuda
