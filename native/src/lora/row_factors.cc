// Factors that are added to whole rows of the embedding and of the head, which are kept as rows.
#include <algorithm>

#include "lora/packing.h"
#include "ops/convert.h"

namespace tessera::lora {

using device::PanelType;
using tensor::DType;
using tensor::TensorView;

/// The tensor's row, the one that replaces the model's on both sides, or the model's, and what
/// factors add, rank by rank in ascending order.
void Packing::read_exact_row(const Rows& rows, uint64_t place, float* to) const {
  const uint64_t n = decoder_.config().hidden_size;
  const bool is_head = &rows == &tensors_.head;
  const auto id = static_cast<uint32_t>(place);  // of a whole matrix
  const auto both = std::lower_bound(embedding_.begin(), embedding_.end(), id,
                                     [](const Row& row, uint32_t of) { return row.id < of; });
  if (is_head && tensors_.head_adds_to_embedding && both != embedding_.end() && both->id == id) {
    read_exact_row(tensors_.embedding, both->place, to);
  } else if (!rows.entry.bytes.empty()) {
    const TensorView all = view_of(rows.entry);
    ops::convert(*device_, TensorView{all.row(place), all.type, 2, {1, n}}, DType::kF32, to);
  } else {
    is_head ? decoder_.head_row(id, to) : decoder_.embedding_row(id, to);
  }
  if (!rows.factors) return;
  const RowFactors& factors = is_head ? head_factors_ : embedding_factors_;
  for (uint32_t r = 0; r < factors.rank; ++r) {
    const float weight = factors.tokens[place * factors.rank + r];
    const float* hidden = factors.hidden.data() + r * n;
    for (uint64_t i = 0; i < n; ++i) to[i] += weight * hidden[i];
  }
  if (factors.scales.empty()) return;
  for (uint64_t i = 0; i < n; ++i) to[i] *= factors.scales[is_head ? place : i];
}

/// Of the head lengths of rows, of the embedding those of columns: its outputs. Rows of a head that
/// is cut are not read.
Status Packing::look_at_magnitudes(const Rows& rows) {
  if (!rows.factors->magnitudes) return Status::ok();
  const bool is_head = &rows == &tensors_.head;
  const uint64_t n = decoder_.config().hidden_size, count = decoder_.config().vocab_size;
  std::vector<double> squares(is_head ? count : n);
  std::vector<float> row(n);
  for (uint32_t id = 0; id < count; ++id) {
    if (is_head && !decoder_.head_vocabulary().has(id)) {
      squares[id] = 1;
      continue;
    }
    read_exact_row(rows, id, row.data());
    for (uint64_t i = 0; i < n; ++i) {
      squares[is_head ? id : i] += static_cast<double>(row[i]) * static_cast<double>(row[i]);
    }
  }
  return keep_scales(*rows.factors, squares, factors_of(rows).scales);
}

/// Laid out token by token; A of the embedding lies the other way.
Status Packing::look_at_row_factors(const Rows& rows, std::string& content) {
  const Factors& factors = *rows.factors;
  TESSERA_RETURN_IF_ERROR(look_at(factors, content));
  RowFactors& to = factors_of(rows);
  const uint64_t rank = factors.rank, n = decoder_.config().hidden_size;
  const uint64_t count = decoder_.config().vocab_size;
  const std::vector<float> a = numbers_of(factors.a, 1).value();
  const std::vector<float> b = numbers_of(factors.b, factors.scale).value();
  to.rank = factors.rank;
  if (&rows == &tensors_.head) {
    to.tokens = b;
    to.hidden = a;
    return look_at_magnitudes(rows);
  }
  to.tokens.resize(count * rank);
  to.hidden.resize(rank * n);
  for (uint64_t r = 0; r < rank; ++r) {
    for (uint64_t t = 0; t < count; ++t) to.tokens[t * rank + r] = a[r * count + t];
    for (uint64_t i = 0; i < n; ++i) to.hidden[r * n + i] = b[i * rank + r];
  }
  return look_at_magnitudes(rows);
}

/// PEFT loads a tensor saved beside factors into the base: into both sides of a tied one.
Status Packing::check_base(const Rows& rows, BaseRow base) const {
  if (rows.entry.bytes.empty() || !decoder_.config().tie_word_embeddings) return Status::ok();
  const uint64_t n = decoder_.config().hidden_size;
  const TensorView all = view_of(rows.entry);
  std::vector<float> own(n), theirs(n);
  for (uint32_t id = 0; id < decoder_.config().vocab_size; ++id) {
    if (&rows == &tensors_.head && !decoder_.head_vocabulary().has(id)) continue;
    ops::convert(*device_, TensorView{all.row(id), all.type, 2, {1, n}}, DType::kF32, own.data());
    if (type_ == PanelType::kBf16) device_->kernels().round_bf16(own.data(), n);
    (decoder_.*base)(id, theirs.data());
    if (std::equal(own.begin(), own.end(), theirs.begin())) continue;
    return {Code::kAdapterInvalid,
            rows.entry.name +
                ": expected the rows of the base model, whose embedding and head are "
                "tied, got others in row " +
                std::to_string(id)};
  }
  return Status::ok();
}

}  // namespace tessera::lora
