#include "attention/delta_head.h"

#include <algorithm>
#include <cstring>

#include "attention/attention.h"

namespace tessera::attention {
namespace {

constexpr uint32_t kPiece = 32;  // rows of beams multiplied at once
constexpr uint32_t kBeforeMax = kMaxSteps;
static_assert(kBeforeMax >= kDeltaChunk && kPiece >= kDeltaChunk);
constexpr uint64_t kDots = 2 * (kBeforeMax + 1);

uint64_t padded(uint64_t floats) { return (floats + 15) / 16 * 16; }

}  // namespace

DeltaHead::DeltaHead(const device::KernelTable& kernels, const DeltaShape& shape, uint32_t layer,
                     uint32_t key_head, const DeltaWeights& weights, const DeltaRows& rows,
                     float* scratch)
    : kernels_(kernels),
      shape_(shape),
      layer_(layer),
      key_head_(key_head),
      first_value_head_(key_head * (shape.value_heads / shape.key_heads)),
      end_value_head_(first_value_head_ + shape.value_heads / shape.key_heads),
      weights_(weights),
      rows_(rows),
      by_key_(scratch),
      by_query_(by_key_ + padded(kPiece * shape.value_dim)),
      dots_(by_query_ + padded(kPiece * shape.value_dim)),
      scaled_(dots_ + padded(kPiece * kDots)),
      panel_(scaled_ + padded(uint64_t{shape.key_dim} * kDeltaChunk)),
      widened_(panel_ + device::panel_count(shape.value_dim) * device::kPanelTile / sizeof(float)),
      tokens_(
          reinterpret_cast<const float**>(widened_ + padded(uint64_t{kBeforeMax} * shape.key_dim))),
      keys_(tokens_ + kBeforeMax) {}

uint64_t DeltaHead::scratch_floats(const DeltaShape& shape) {
  return 2 * padded(kPiece * shape.value_dim) + padded(kPiece * kDots) +
         padded(uint64_t{shape.key_dim} * kDeltaChunk) +
         device::panel_count(shape.value_dim) * device::kPanelTile / sizeof(float) +
         padded(uint64_t{kBeforeMax} * shape.key_dim) +
         padded(2 * kBeforeMax * sizeof(float*) / sizeof(float));
}

void DeltaHead::run(std::span<const RowGroup* const> groups) {
  if (groups.front()->beam != nullptr) return run_beams(groups);
  for (const RowGroup* group : groups) run_prompt(*group);
}

void DeltaHead::run_prompt(const RowGroup& group) {
  DeltaState& state = *group.prompt->delta;
  const uint32_t end = group.first_position + group.row_count;
  std::span<const DeltaCapture> captures = group.captures;
  for (uint32_t at = group.first_position; at < end;) {
    uint32_t count = std::min(end - at, kDeltaChunk - at % kDeltaChunk);
    if (!captures.empty()) count = std::min(count, captures.front().position - at);
    run_chunk(state, at, group.first_row + uint64_t{at} - group.first_position, count);
    at += count;
    if (at % kDeltaChunk == 0) fold(state, kDeltaChunk);
    if (captures.empty() || captures.front().position != at) continue;
    capture(state, captures.front());
    captures = captures.subspan(1);
  }
}

void DeltaHead::run_chunk(DeltaState& state, uint32_t at, uint64_t row, uint32_t count) {
  const uint32_t earlier = at % kDeltaChunk;
  float* tokens[kDeltaChunk];
  for (uint32_t j = 0; j < earlier + count; ++j) {
    tokens_[j] = tokens[j] = state.data + shape_.token(layer_, j);
    keys_[j] = tokens_[j] + key_at();
  }
  const auto before = [&](uint32_t i) {
    return Before{tokens_, keys_, earlier + i, shape_.keys()};
  };
  for (uint32_t i = 0; i < count; ++i) {
    keep_key(row + i, tokens[earlier + i], false);
    take_dots(i, row + i, before(i));
  }
  for (uint32_t head = first_value_head_; head < end_value_head_; ++head) {
    multiply(state, head, row, count);
    for (uint32_t i = 0; i < count; ++i) correct(i, row + i, head, before(i), tokens[earlier + i]);
  }
}

void DeltaHead::run_beams(std::span<const RowGroup* const> groups) {
  const PromptKv& prompt = *groups.front()->prompt;
  if (prompt.delta->is_folded[layer_] == 0) fold(*prompt.delta, prompt.length % kDeltaChunk);
  for (const RowGroup* group : groups) {
    for (uint32_t i = 0; i < group->row_count; ++i)
      keep_key(uint64_t{group->first_row} + i, token_of(*group, group->first_slot + i),
               shape_.is_narrow);
  }
  // Rows of a search are of many steps in turn: pieces go across groups.
  BeamRow piece[kPiece];
  uint32_t count = 0;
  uint64_t end = 0;
  for (const RowGroup* group : groups) {
    for (uint32_t i = 0; i < group->row_count; ++i) {
      const uint64_t row = uint64_t{group->first_row} + i;
      if (count == kPiece || row != end) {
        run_piece({piece, count});
        count = 0;
      }
      piece[count++] = {group, i};
      end = row + 1;
    }
  }
  run_piece({piece, count});
}

void DeltaHead::run_piece(std::span<const BeamRow> rows) {
  if (rows.empty()) return;
  const uint64_t first = uint64_t{rows[0].group->first_row} + rows[0].i;
  const auto count = static_cast<uint32_t>(rows.size());
  const auto own = [&](const BeamRow& row) {
    return token_of(*row.group, row.group->first_slot + row.i);
  };
  for (uint32_t r = 0; r < count; ++r) take_dots(r, first + r, before(*rows[r].group, rows[r].i));
  for (uint32_t head = first_value_head_; head < end_value_head_; ++head) {
    multiply(*rows[0].group->prompt->delta, head, first, count);
    for (uint32_t r = 0; r < count; ++r)
      correct(r, first + r, head, before(*rows[r].group, rows[r].i), own(rows[r]));
  }
}

DeltaHead::Before DeltaHead::before(const RowGroup& group, uint32_t i) {
  const uint32_t count = group.step - 1;
  for (uint32_t j = 0; j < count; ++j) {
    const float* token = token_of(group, group.ancestors[uint64_t{i} * count + j]);
    tokens_[j] = token;
    keys_[j] = token + key_at();
    if (!shape_.is_narrow) continue;
    float* const wide = widened_ + uint64_t{j} * shape_.key_dim;
    kernels_.widen_bf16(reinterpret_cast<const uint16_t*>(token) + key_at(), shape_.key_dim, wide);
    keys_[j] = wide;
  }
  return {tokens_, keys_, count, shape_.beam_corrections()};
}

float* DeltaHead::token_of(const RowGroup& group, uint32_t slot) const {
  return group.beam->delta +
         (uint64_t{layer_} * group.beam->slots + slot) * shape_.beam_token_floats();
}

void DeltaHead::keep_key(uint64_t row, float* token, bool is_narrow) const {
  if (is_narrow) {
    kernels_.narrow_bf16(key(row), shape_.key_dim, reinterpret_cast<uint16_t*>(token) + key_at());
  } else {
    std::memcpy(token + key_at(), key(row), shape_.key_dim * sizeof(float));
  }
}

void DeltaHead::multiply(const DeltaState& state, uint32_t value_head, uint64_t row,
                         uint32_t count) {
  device::PanelProduct product;
  product.x = key(row);
  product.x_row_bytes = shape_.channels() * sizeof(float);
  product.rows = count;
  product.k = shape_.key_dim;
  product.panels = state.data + shape_.matrix(layer_, value_head);
  product.panel_stride = shape_.panel_bytes();
  product.columns = shape_.value_dim;
  product.y = by_key_;
  product.y_stride = shape_.value_dim;
  kernels_.panel_f32.multiply(product);
  product.x = query(row);
  product.y = by_query_;
  kernels_.panel_f32.multiply(product);
}

void DeltaHead::take_dots(uint32_t i, uint64_t row, const Before& before) {
  const float* const x[] = {key(row), query(row)};
  const void* keys[kBeforeMax + 1];
  std::copy_n(before.keys, before.count, keys);
  keys[before.count] = key(row);
  kernels_.dot_rows_f32(x, 2, keys, before.count + 1, shape_.key_dim, dots_ + i * kDots, kDots / 2);
}

void DeltaHead::correct(uint32_t i, uint64_t row, uint32_t value_head, const Before& before,
                        float* own) {
  const float* by_key = dots_ + i * kDots;
  const float* by_query = by_key + kDots / 2;
  const float* factors = rows_.factors + 2 * row * shape_.value_heads;
  float key_weights[kBeforeMax + 1], query_weights[kBeforeMax + 1];
  const void *keyed[kBeforeMax + 1], *queried[kBeforeMax + 1];
  float decay = factors[value_head];  // from behind a token to the row
  own += before.corrections;
  own[decay_at(value_head)] = decay;
  for (uint32_t j = before.count; j-- > 0;) {
    key_weights[j + 1] = -decay * by_key[j];
    query_weights[j] = decay * by_query[j];
    const float* const token = before.tokens[j] + before.corrections;
    keyed[j + 1] = queried[j] = token + correction_at(value_head);
    decay *= token[decay_at(value_head)];
  }
  float* correction = own + correction_at(value_head);
  keyed[0] = value(row, value_head);
  key_weights[0] = 1;
  queried[before.count] = correction;
  query_weights[before.count] = by_query[before.count];
  const uint64_t n = shape_.value_dim;
  kernels_.weighted_sum_f32(by_key_ + i * n, -decay, keyed, key_weights, before.count + 1, n,
                            factors[shape_.value_heads + value_head], correction);
  float* out = rows_.out + row * shape_.values() + value_head * n;
  kernels_.weighted_sum_f32(by_query_ + i * n, decay, queried, query_weights, before.count + 1, n,
                            1, out);
  kernels_.rms_norm(out, weights_.norm, n, weights_.epsilon, out);
  kernels_.silu_mul(rows_.gates + row * shape_.values() + value_head * n, out, n, out);
}

void DeltaHead::fold(DeltaState& state, uint32_t count) {
  for (uint32_t head = first_value_head_; head < end_value_head_ && count > 0; ++head)
    fold_matrix(state, head, count);
}

void DeltaHead::fold_matrix(DeltaState& state, uint32_t value_head, uint32_t count) {
  const uint64_t keys = shape_.key_dim, values = shape_.value_dim;
  float decay = 1;  // from behind a token to the last one
  for (uint32_t j = count; j-- > 0;) {
    const float* token = state.data + shape_.token(layer_, j);
    for (uint64_t k = 0; k < keys; ++k) scaled_[k * kDeltaChunk + j] = decay * token[key_at() + k];
    for (uint64_t v = 0; v < values; v += device::kPanelHalf) {
      float* to = panel_ + (v / device::kPanelHalf * kDeltaChunk + j) * device::kPanelHalf;
      const uint64_t n = std::min(values - v, uint64_t{device::kPanelHalf});
      std::memcpy(to, token + shape_.keys() + correction_at(value_head) + v, n * sizeof(float));
      std::fill(to + n, to + device::kPanelHalf, 0.0f);
    }
    decay *= token[shape_.keys() + decay_at(value_head)];
  }
  float* matrix = state.data + shape_.matrix(layer_, value_head);
  kernels_.scale(matrix, shape_.matrix_floats(), decay);
  // A half of a tile of a panel is 16 rows of 16 numbers, one behind the other.
  device::PanelProduct product;
  product.x_row_bytes = kDeltaChunk * sizeof(float);
  product.k = count;
  product.panel_stride = device::kPanelTile;
  product.columns = product.y_stride = device::kPanelHalf;
  product.accumulate = true;
  for (uint64_t half = 0; half * device::kPanelHalf < values; ++half) {
    product.panels = panel_ + half * kDeltaChunk * device::kPanelHalf;
    float* column = matrix + half / 2 * shape_.panel_bytes() / sizeof(float) +
                    half % 2 * device::kPanelHalfTile / sizeof(float);
    for (uint64_t k = 0; k < keys; k += device::kPanelGroups) {
      product.x = scaled_ + k * kDeltaChunk;
      product.rows = std::min(keys - k, uint64_t{device::kPanelGroups});
      product.y = column + k / device::kPanelGroups * device::kPanelTile / sizeof(float);
      kernels_.panel_f32.multiply(product);
    }
  }
}

void DeltaHead::capture(const DeltaState& state, const DeltaCapture& capture) const {
  const auto copy = [&](uint64_t first, uint64_t count) {
    capture.write(first, state.data + first, count);
  };
  for (uint32_t head = first_value_head_; head < end_value_head_; ++head)
    copy(shape_.matrix(layer_, head), shape_.matrix_floats());
  for (uint32_t j = 0; j < capture.position % kDeltaChunk; ++j) {
    const uint64_t token = shape_.token(layer_, j);
    copy(token + key_at(), shape_.key_dim);
    copy(token + shape_.keys() + correction_at(first_value_head_),
         uint64_t{end_value_head_ - first_value_head_} * shape_.value_dim);
    copy(token + shape_.keys() + decay_at(first_value_head_), end_value_head_ - first_value_head_);
  }
}

}  // namespace tessera::attention
