#include "cuda/model/card_plan.h"

#include <algorithm>

namespace tessera::model::cuda {
namespace {

using attention::cuda::kBlockPositions;
using attention::cuda::kSplitPositions;
using attention::cuda::Rows;
using device::cuda::ceil_of;
using device::cuda::rounded_rows;
using ops::cuda::Place;

uint32_t position_of(const CardRows& group, uint32_t row) {
  return group.first_position + (group.step > 0 ? 0 : row);
}

/// Where the keys and values of a row go: its request's own, or a block of the prompt.
Place place_of(const ModelConfig& config, const CardRows& group, uint32_t row) {
  const uint64_t position_elements = uint64_t{config.kv_head_count} * config.head_dim;
  if (group.step > 0) {
    const uint64_t slot = (uint64_t{group.step - 1} * group.max_width + row) * position_elements;
    return {group.own_keys + slot, group.own_values + slot,
            uint64_t{group.max_steps} * group.max_width * position_elements, config.head_dim};
  }
  const uint64_t head_elements = uint64_t{kBlockPositions} * config.head_dim;
  const uint32_t position = position_of(group, row);
  uint16_t* keys =
      group.blocks[position / kBlockPositions] + position % kBlockPositions * config.head_dim;
  return {keys, keys + config.kv_head_count * head_elements,
          2 * config.kv_head_count * head_elements, static_cast<uint32_t>(head_elements)};
}

/// The arrays behind the groups (attend_kernels.h).
Rows spare_group(uint32_t first_row, uint32_t first_split) {
  Rows spare;
  spare.first_row = first_row;
  spare.rows = ~uint32_t{0} - first_row;
  spare.first_split = first_split;
  spare.splits = ~uint32_t{0} - first_split;
  return spare;
}

}  // namespace

CardDecoder::Plan CardDecoder::lay_out(std::span<const int32_t> tokens, const int32_t* card_tokens,
                                       std::span<const CardRows> groups) {
  Staging staging(staged_, plan_);
  Plan plan;
  uint32_t row_count = 0;
  for (const CardRows& group : groups) row_count += group.row_count;
  TESSERA_CHECK(row_count <= limits_.rows);
  // Tokens on the card are as many as their owner has made.
  plan.rows = card_tokens != nullptr ? row_count : rounded_rows(row_count, limits_.rows);
  plan.groups_max = rounded_rows(static_cast<uint32_t>(groups.size()), limits_.rows);
  // First what every pass of a shape has at the same addresses.
  int32_t* const plan_tokens = staging.reserve<int32_t>(plan.rows);
  uint32_t* const plan_positions = staging.reserve<uint32_t>(plan.rows);
  Place* const plan_places = staging.reserve<Place>(plan.rows);
  Rows* const plan_groups = staging.reserve<Rows>(plan.groups_max + 1);
  std::vector<uint32_t> positions;
  std::vector<Place> places;
  std::vector<Rows> all;
  uint64_t parts = 0;
  for (const CardRows& group : groups) {
    Rows rows;
    const auto first = static_cast<uint32_t>(positions.size());
    rows.q = q_ + uint64_t{first} * config_.head_count * config_.head_dim;
    rows.mixed = mixed_ + uint64_t{first} * config_.head_count * config_.head_dim;
    rows.rows = group.row_count;
    rows.first_row = first;
    rows.first_split = plan.splits;
    rows.steps = group.step;
    const bool is_beam = group.step > 0;
    rows.visible = is_beam ? group.first_position - (group.step - 1) : group.first_position + 1;
    rows.visible_step = is_beam ? 0 : 1;
    rows.splits =
        ceil_of(rows.visible + (group.row_count - 1) * rows.visible_step, kSplitPositions);
    rows.part_values = part_values_ + parts * config_.head_dim;
    rows.parts = parts_ + parts;
    parts += uint64_t{rows.splits} * group.row_count * config_.head_count;
    rows.own_keys = group.own_keys;
    rows.own_values = group.own_values;
    rows.max_steps = group.max_steps;
    rows.max_width = group.max_width;
    rows.blocks = staging.add<const uint16_t*>(
        {const_cast<const uint16_t* const*>(group.blocks.data()), group.blocks.size()});
    rows.ancestors = group.card_ancestors != nullptr ? group.card_ancestors
                                                     : staging.add<uint32_t>(group.ancestors);
    for (uint32_t row = 0; row < group.row_count; ++row) {
      positions.push_back(position_of(group, row));
      places.push_back(place_of(config_, group, row));
    }
    plan.splits += rows.splits;
    plan.group_rows_max = std::max(plan.group_rows_max, group.row_count);
    all.push_back(rows);
  }
  TESSERA_CHECK(card_tokens != nullptr || positions.size() == tokens.size());
  all.push_back(spare_group(row_count, plan.splits));
  plan.splits = rounded_rows(plan.splits, ~uint32_t{0});
  plan.group_rows_max = rounded_rows(plan.group_rows_max, plan.rows);
  staging.put<int32_t>(plan_tokens, tokens);
  staging.put<uint32_t>(plan_positions, positions);
  staging.put<Place>(plan_places, places);
  staging.put<Rows>(plan_groups, all);
  plan.tokens = card_tokens != nullptr ? card_tokens : plan_tokens;
  plan.positions = plan_positions;
  plan.places = plan_places;
  plan.groups = plan_groups;
  plan.bytes = staging.used();
  return plan;
}

}  // namespace tessera::model::cuda
