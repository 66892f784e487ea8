#include "ops/expert_rows.h"

#include <algorithm>

namespace tessera::ops {

ExpertRows::ExpertRows(uint64_t rows, uint32_t experts, uint32_t chosen)
    : chosen_(chosen),
      experts_(rows * chosen),
      weights_(rows * chosen),
      pair_places_(rows * chosen),
      begins_(size_t{experts} + 1),
      shifts_(experts) {
  groups_.reserve(std::min<uint64_t>(experts, rows * chosen));
  rows_.reserve(rows * chosen);
  sorted_weights_.reserve(rows * chosen);
}

uint64_t ExpertRows::operand_rows(uint64_t rows, uint32_t experts, uint32_t chosen,
                                  uint64_t row_block) {
  const uint64_t pairs = rows * chosen;
  return pairs + std::min<uint64_t>(experts, pairs) * (row_block - 1);
}

Choices ExpertRows::choices(uint64_t rows) {
  return {std::span(experts_).first(rows * chosen_), std::span(weights_).first(rows * chosen_)};
}

void ExpertRows::sort(uint64_t rows, uint64_t row_block) {
  const std::span<const uint32_t> experts = std::span(experts_).first(rows * chosen_);
  std::fill(begins_.begin(), begins_.end(), 0);
  for (const uint32_t expert : experts) begins_[expert + 1] += 1;
  groups_.clear();
  places_ = 0;
  uint32_t first = 0;
  for (uint32_t expert = 0; expert + 1 < begins_.size(); ++expert) {
    const uint32_t count = begins_[expert + 1];
    begins_[expert] = first;
    if (count == 0) continue;
    groups_.push_back({expert, first, count, static_cast<uint32_t>(places_)});
    shifts_[expert] = static_cast<uint32_t>(places_) - first;
    places_ += (count + row_block - 1) / row_block * row_block;
    first += count;
  }
  rows_.resize(experts.size());
  sorted_weights_.resize(experts.size());
  for (size_t pair = 0; pair < experts.size(); ++pair) {
    const uint32_t to = begins_[experts[pair]]++;
    rows_[to] = static_cast<uint32_t>(pair / chosen_);
    sorted_weights_[to] = weights_[pair];
    pair_places_[pair] = to + shifts_[experts[pair]];
  }
}

}  // namespace tessera::ops
