// Rows sorted by the experts that they have chosen: what the products of a mixture of experts run
// over. Pure arithmetic over the choices; sized once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/route.h"

namespace tessera::ops {

/// Rows of one expert: [first, first + count) of the chosen pairs in the order of experts, which
/// lie from row `place` of the operand on.
struct ExpertGroup {
  uint32_t expert = 0;
  uint32_t first = 0;
  uint32_t count = 0;
  uint32_t place = 0;  // a multiple of the kernels' row_block
};

class ExpertRows {
 public:
  /// For up to `rows` rows of which each chooses `chosen` of `experts` experts.
  ExpertRows() = default;
  ExpertRows(uint64_t rows, uint32_t experts, uint32_t chosen);

  /// Rows of an operand that holds every group at a place that is a multiple of `row_block`.
  static uint64_t operand_rows(uint64_t rows, uint32_t experts, uint32_t chosen,
                               uint64_t row_block);

  /// Room for the choices of `rows` rows, which sort() then reads.
  Choices choices(uint64_t rows);
  /// ENSURES: groups are in the order of experts, the pairs of a group in the order of rows.
  void sort(uint64_t rows, uint64_t row_block);

  std::span<const ExpertGroup> groups() const { return groups_; }
  /// Rows of the pass and weights of the experts' outputs, for every chosen pair by group.
  std::span<const uint32_t> rows() const { return rows_; }
  std::span<const float> weights() const { return sorted_weights_; }
  /// Places of a row's pairs in the operand, in the order in which it has chosen them.
  std::span<const uint32_t> places_of(uint64_t row) const {
    return std::span(pair_places_).subspan(row * chosen_, chosen_);
  }
  /// Rows of the pass.
  uint64_t row_count() const { return chosen_ == 0 ? 0 : rows_.size() / chosen_; }
  /// Rows of the operand that the groups take, what lies between them included.
  uint64_t places() const { return places_; }

 private:
  uint32_t chosen_ = 0;
  std::vector<uint32_t> experts_;      // [rows][chosen]
  std::vector<float> weights_;         // [rows][chosen]
  std::vector<uint32_t> pair_places_;  // [rows][chosen]
  std::vector<uint32_t> begins_;       // by expert
  std::vector<uint32_t> shifts_;       // by expert: place less number of its pairs, modulo 2^32
  std::vector<ExpertGroup> groups_;
  std::vector<uint32_t> rows_;
  std::vector<float> sorted_weights_;
  uint64_t places_ = 0;
};

}  // namespace tessera::ops
