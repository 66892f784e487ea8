// The delta rule of one key head, and the value heads that share it, for the rows of one request:
// the task of delta_rule(). Private to attention.
#pragma once

#include <cstdint>
#include <span>

#include "attention/delta_rule.h"

namespace tessera::attention {

class DeltaHead {
 public:
  DeltaHead(const device::KernelTable& kernels, const DeltaShape& shape, uint32_t layer,
            uint32_t key_head, const DeltaWeights& weights, const DeltaRows& rows, float* scratch);

  static uint64_t scratch_floats(const DeltaShape& shape);

  /// All of a request's rows in a pass.
  void run(std::span<const RowGroup* const> groups);

 private:
  /// A row's predecessors that are not in the matrix, oldest first.
  struct Before {
    const float* const* tokens = nullptr;
    const float* const* keys = nullptr;
    uint32_t count = 0;
    uint64_t corrections = 0;  // where they begin in each token, as in the row's own
  };

  struct BeamRow {
    const RowGroup* group = nullptr;
    uint32_t i = 0;  // in the group
  };

  void run_prompt(const RowGroup& group);
  void run_beams(std::span<const RowGroup* const> groups);
  /// Rows [row, row + count) at positions [at, at + count) of one chunk.
  void run_chunk(DeltaState& state, uint32_t at, uint64_t row, uint32_t count);
  /// Consecutive rows of a pass.
  void run_piece(std::span<const BeamRow> rows);
  void multiply(const DeltaState& state, uint32_t value_head, uint64_t row, uint32_t count);
  /// Products of the keys of predecessors and its own with the row's key and query.
  void take_dots(uint32_t i, uint64_t row, const Before& before);
  /// The correction of row `i` of the piece, into its token, and its output.
  void correct(uint32_t i, uint64_t row, uint32_t value_head, const Before& before, float* own);
  /// Adds the first `count` tokens behind the last chunk to the matrices.
  void fold(DeltaState& state, uint32_t count);
  void fold_matrix(DeltaState& state, uint32_t value_head, uint32_t count);
  void capture(const DeltaState& state, const DeltaCapture& capture) const;
  void keep_key(uint64_t row, float* token, bool is_narrow) const;
  float* token_of(const RowGroup& group, uint32_t slot) const;
  Before before(const RowGroup& group, uint32_t i);

  const float* query(uint64_t row) const {
    return rows_.mixed + row * shape_.channels() + uint64_t{key_head_} * shape_.key_dim;
  }
  const float* key(uint64_t row) const { return query(row) + shape_.keys(); }
  const float* value(uint64_t row, uint32_t value_head) const {
    return rows_.mixed + row * shape_.channels() + 2 * shape_.keys() +
           uint64_t{value_head} * shape_.value_dim;
  }
  // Parts of a token.
  uint64_t key_at() const { return uint64_t{key_head_} * shape_.key_dim; }
  uint64_t correction_at(uint32_t value_head) const {  // behind `corrections`, as decays
    return uint64_t{value_head} * shape_.value_dim;
  }
  uint64_t decay_at(uint32_t value_head) const { return shape_.values() + value_head; }

  const device::KernelTable& kernels_;
  const DeltaShape& shape_;
  const uint32_t layer_, key_head_;
  const uint32_t first_value_head_, end_value_head_;
  const DeltaWeights& weights_;
  const DeltaRows& rows_;
  float* by_key_;         // [kPiece][value_dim]: the matrix times keys
  float* by_query_;       // likewise
  float* dots_;           // [kPiece][2][kBeforeMax + 1]
  float* scaled_;         // [key_dim][kDeltaChunk]: keys, decayed
  float* panel_;          // corrections as panels over a chunk's tokens
  float* widened_;        // [kBeforeMax][key_dim]: keys of ancestors
  const float** tokens_;  // [kBeforeMax]
  const float** keys_;    // likewise
};

}  // namespace tessera::attention
