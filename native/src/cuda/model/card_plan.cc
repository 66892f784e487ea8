#include "cuda/model/card_plan.h"

#include <algorithm>

#include "attention/row_group.h"

namespace tessera::model::cuda {
namespace {

using attention::PromptKv;
using attention::RowGroup;
using attention::cuda::kBlockPositions;
using attention::cuda::kSplitPositions;
using attention::cuda::MirroredRows;
using attention::cuda::Rows;
using device::cuda::ceil_of;
using device::cuda::rounded_rows;
using ops::cuda::Place;
using ops::cuda::Term;

static_assert(kBlockPositions == attention::kBlockPositions);

uint16_t* elements(void* memory) { return static_cast<uint16_t*>(memory); }

/// Prompt positions that row 0 sees.
uint32_t seen_first(const RowGroup& group) {
  return group.beam != nullptr ? group.prompt->length : group.first_position + 1;
}

/// Likewise, those that the last row sees.
uint32_t seen_last(const RowGroup& group) {
  return seen_first(group) + (group.beam != nullptr ? 0 : group.row_count - 1);
}

/// Blocks of a chain from position `first` on, so many positions.
std::span<void* const> blocks_of(const PromptKv& prompt, uint32_t first, uint32_t count) {
  const uint32_t begin = first / kBlockPositions;
  return {prompt.blocks + begin, ceil_of(first + count, kBlockPositions) - begin};
}

uint16_t** add_blocks(std::span<void* const> blocks, Staging& staging) {
  std::vector<uint16_t*> addresses;
  for (void* const block : blocks) addresses.push_back(elements(block));
  return staging.add<uint16_t*>(addresses);
}

/// As the library finds them: counted in elements.
const int64_t* add_halves(std::span<void* const> blocks, Staging& staging) {
  std::vector<int64_t> halves;
  for (void* const block : blocks)
    halves.push_back(static_cast<int64_t>(reinterpret_cast<uintptr_t>(block) / sizeof(uint16_t)));
  return staging.add<int64_t>(halves);
}

/// Behind the groups: spare rows and splits (attend_kernels.h).
Rows spare_group(uint32_t first_row) {
  Rows spare;
  spare.first_row = first_row;
  spare.rows = ~uint32_t{0} - first_row;
  return spare;
}

TesseraCardRows spare_prompt(uint32_t first_split) {
  TesseraCardRows spare{};
  spare.first_split = first_split;
  spare.splits = ~uint32_t{0} - first_split;
  return spare;
}

}  // namespace

/// At most; every array may begin padded.
uint64_t CardPlanner::bytes_of(const ForwardBatch& batch) const {
  constexpr uint64_t kPadding = Staging::kPadding, kAddress = sizeof(void*);
  const uint64_t rows = rounded_rows(static_cast<uint32_t>(batch.tokens.size()), pass_.max_rows());
  const uint64_t groups =
      rounded_rows(static_cast<uint32_t>(batch.groups.size()), pass_.max_rows()) + 1;
  uint64_t bytes = rows * (kAddress + sizeof(uint32_t) + sizeof(Place)) +
                   groups * (sizeof(Rows) + sizeof(TesseraCardRows));
  for (const RowGroup& group : batch.groups) {
    bytes += ceil_of(seen_last(group), kBlockPositions) * kAddress + group.ancestors.size_bytes() +
             2 * kPadding;
    for (const attention::Mirror& mirror : group.mirrors) {
      const auto blocks = blocks_of(*mirror.to, mirror.first_position, mirror.count);
      bytes += sizeof(MirroredRows) + blocks.size_bytes() + kPadding;
    }
  }
  const uint64_t products = uint64_t{config_.layer_count} * kProducts;
  const uint64_t terms =
      batch.adapters.size() * config_.layer_count * product_parts(config_).size();
  return bytes + terms * sizeof(Term) + (batch.adapters.empty() ? 0 : products * kPadding) +
         8 * kPadding;
}

/// Where the keys and values of a row go: its beam's slot, or a block of the prompt.
Place CardPlanner::place_of(const RowGroup& group, uint32_t row) const {
  const uint64_t position_elements = config_.kv_size();
  if (group.beam != nullptr) {
    const uint64_t slot = (uint64_t{group.first_slot} + row) * position_elements;
    return {elements(group.beam->keys) + slot, elements(group.beam->values) + slot,
            group.beam->slots * position_elements, config_.head_dim};
  }
  const uint64_t head_elements = uint64_t{kBlockPositions} * config_.head_dim;
  const uint32_t position = group.first_position + row;
  uint16_t* const keys = elements(group.prompt->blocks[position / kBlockPositions]) +
                         uint64_t{position % kBlockPositions} * config_.head_dim;
  return {keys, keys + config_.kv_head_count * head_elements,
          2 * config_.kv_head_count * head_elements, static_cast<uint32_t>(head_elements)};
}

void CardPlanner::add_mirrors(const RowGroup& group, const int64_t* blocks, Staging& staging) {
  for (const attention::Mirror& mirror : group.mirrors) {
    if (mirror.count == 0) continue;
    const uint32_t first = mirror.first_position;
    mirrors_.push_back({blocks + first / kBlockPositions,
                        add_blocks(blocks_of(*mirror.to, first, mirror.count), staging),
                        first % kBlockPositions, mirror.count});
  }
}

void CardPlanner::add_group(const RowGroup& group, Staging& staging, CardPlan& plan) {
  attention::check_group(group);
  const auto first = static_cast<uint32_t>(positions_.size());
  TESSERA_CHECK(group.first_row == first);
  if (group.row_count == 0) return;
  const bool is_beam = group.beam != nullptr;
  const uint64_t row_elements = config_.q_size();
  Rows rows;
  rows.q = pass_.card_.q + first * row_elements;
  rows.mixed = pass_.card_.mixed + first * row_elements;
  rows.rows = group.row_count;
  rows.first_row = first;
  rows.splits = ceil_of(seen_last(group), kSplitPositions);
  float* const part_values = pass_.card_.part_values + parts_ * config_.head_dim;
  float* const part_logs = pass_.card_.part_logs + parts_;
  rows.part_values = part_values;
  rows.part_logs = part_logs;
  parts_ += uint64_t{rows.splits} * group.row_count * config_.head_count;
  if (is_beam) {
    rows.own_keys = elements(group.beam->keys);
    rows.own_values = elements(group.beam->values);
    rows.slots = group.beam->slots;
    rows.first_slot = group.first_slot;
    rows.steps = group.step;
    rows.ancestors = staging.add<uint32_t>(group.ancestors);
  }
  TESSERA_CHECK(seen_last(group) <= pass_.max_context_);
  TESSERA_CHECK(group.first_position < pass_.max_context_ + attention::kMaxSteps);
  const int64_t* const blocks = add_halves(blocks_of(*group.prompt, 0, seen_last(group)), staging);
  prompts_.push_back({rows.q, blocks, group.row_count, seen_first(group), is_beam ? 0u : 1u,
                      plan.splits, rows.splits, part_values, part_logs});
  add_mirrors(group, blocks, staging);
  for (uint32_t row = 0; row < group.row_count; ++row) {
    positions_.push_back(group.first_position + (is_beam ? 0 : row));
    places_.push_back(place_of(group, row));
  }
  plan.splits += rows.splits;
  plan.group_rows_max = std::max(plan.group_rows_max, group.row_count);
  groups_.push_back(rows);
}

/// Rows of tokens, those of adapters in the place of the model's.
void CardPlanner::embed(const ForwardBatch& batch) {
  const uint64_t size = config_.hidden_size;
  for (const int32_t token : batch.tokens) {
    TESSERA_CHECK(token >= 0 && static_cast<uint32_t>(token) < config_.vocab_size);
    embedded_.push_back(weights_.embedding() + static_cast<uint32_t>(token) * size);
  }
  for (const AdapterRows& own : batch.adapters) {
    const CardAdapter& adapter = adapters_.find(own.adapter);
    for (uint32_t row = own.first; row < own.first + own.count; ++row) {
      const int32_t token = batch.tokens[row];
      const auto found = std::lower_bound(adapter.ids.begin(), adapter.ids.end(), token);
      if (found == adapter.ids.end() || *found != token) continue;
      embedded_[row] = adapter.rows + static_cast<uint64_t>(found - adapter.ids.begin()) * size;
    }
  }
}

void CardPlanner::add_adapters(const ForwardBatch& batch, Staging& staging, CardPlan& plan) {
  if (batch.adapters.empty()) return;
  TESSERA_CHECK(batch.adapters.size() <= pass_.max_adapters_);
  const std::vector<ProductPart> parts = product_parts(config_);
  plan.layers.resize(config_.layer_count);
  std::array<std::vector<Term>, kProducts> terms;
  for (uint32_t layer = 0; layer < config_.layer_count; ++layer) {
    for (std::vector<Term>& of_product : terms) of_product.clear();
    for (const AdapterRows& own : batch.adapters) {
      const CardAdapter& adapter = adapters_.find(own.adapter);
      if (adapter.layers.empty() || own.count == 0) continue;
      for (const ProductPart& part : parts) {
        const auto& of_layer = adapter.layers[layer];
        if (part.matrix >= of_layer.size() || of_layer[part.matrix].rank == 0) continue;
        const CardFactors& factors = of_layer[part.matrix];
        terms[static_cast<size_t>(part.product)].push_back(
            {own.first, own.count, part.first_column, part.columns, factors.rank, factors.a,
             factors.b, factors.scales,
             pass_.card_.inner + uint64_t{part.part} * pass_.max_rows() * ops::cuda::kRankMax});
      }
    }
    for (uint32_t product = 0; product < kProducts; ++product) {
      TermRange& range = plan.layers[layer][product];
      range.count = static_cast<uint32_t>(terms[product].size());
      if (range.count == 0) continue;
      range.terms = staging.add<Term>(terms[product]);
      for (const Term& term : terms[product]) range.rows_max = std::max(range.rows_max, term.rows);
    }
  }
}

Result<CardPlan> CardPlanner::lay_out(const ForwardBatch& batch) {
  TESSERA_RETURN_IF_ERROR(pass_.reserve_plan(bytes_of(batch)));
  Staging staging(pass_.host_plan_, pass_.plan_, pass_.plan_bytes_);
  CardPlan plan;
  const auto row_count = static_cast<uint32_t>(batch.tokens.size());
  plan.rows = rounded_rows(row_count, pass_.max_rows());
  plan.groups_max = rounded_rows(static_cast<uint32_t>(batch.groups.size()), pass_.max_rows());
  for (const RowGroup& group : batch.groups) {
    for (const attention::Mirror& mirror : group.mirrors) plan.mirror_count += mirror.count > 0;
  }
  // First what every pass of a shape has at the same addresses.
  auto** const embedded = staging.reserve<const uint16_t*>(plan.rows);
  auto* const positions = staging.reserve<uint32_t>(plan.rows);
  auto* const places = staging.reserve<Place>(plan.rows);
  auto* const prompts = staging.reserve<TesseraCardRows>(plan.groups_max + 1);
  auto* const groups = staging.reserve<Rows>(plan.groups_max + 1);
  auto* const mirrors = staging.reserve<MirroredRows>(plan.mirror_count);
  embed(batch);
  for (const RowGroup& group : batch.groups) add_group(group, staging, plan);
  TESSERA_CHECK(positions_.size() == row_count);
  add_adapters(batch, staging, plan);
  groups_.push_back(spare_group(row_count));
  prompts_.push_back(spare_prompt(plan.splits));
  plan.splits = rounded_rows(plan.splits, ~uint32_t{0});
  plan.group_rows_max = rounded_rows(plan.group_rows_max, plan.rows);
  staging.put<const uint16_t*>(embedded, embedded_);
  staging.put<uint32_t>(positions, positions_);
  staging.put<Place>(places, places_);
  staging.put<TesseraCardRows>(prompts, prompts_);
  staging.put<Rows>(groups, groups_);
  staging.put<MirroredRows>(mirrors, mirrors_);
  plan.embedded = embedded;
  plan.positions = positions;
  plan.places = places;
  plan.prompts = prompts;
  plan.groups = groups;
  plan.mirrors = mirrors;
  plan.bytes = staging.used();
  return plan;
}

}  // namespace tessera::model::cuda
