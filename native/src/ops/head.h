// The head: logits of chosen tokens, and log sum exp over the whole vocabulary (the normaliser of
// `full` scores), for the rows of many requests at once. The vocabulary's logits are never held:
// where both are wanted, the chosen ones are taken out of the same product.
#pragma once

#include <cstdint>
#include <span>

#include "device/device.h"
#include "ops/operand.h"
#include "ops/packed_matrix.h"

namespace tessera::ops {

inline constexpr uint64_t kLogSumExpTile = 256;  // columns whose logits are reduced at a time

/// A set of tokens and where their logits go: logits[row * ids.size() + i] of token ids[i].
struct HeadTokens {
  std::span<const int32_t> ids;
  float* logits = nullptr;
};

/// Rows of one request.
struct HeadRows {
  uint64_t rows = 0;
  std::span<const HeadTokens> tokens;
  float* log_sum_exp = nullptr;  // one per row when wanted
  /// Columns of w that are others for these rows; null: none.
  const PanelOverlay* overlay = nullptr;
};

/// Floats of scratch that head needs for `rows` rows.
constexpr uint64_t head_scratch(uint64_t rows, uint64_t columns) {
  return 2 * rows * ((columns + kLogSumExpTile - 1) / kLogSumExpTile);
}

/// The requests' rows follow each other in `operand`. Requests that follow each other and either
/// want log_sum_exp or have the same ids (the same memory) at the same place of `tokens` are
/// multiplied together; each row's bits are as when alone, and those that a matrix with the columns
/// of its overlay in place would give.
/// REQUIRES: w and the overlays have the operand's type and k; ids in [0, w.columns) and of panels
/// that w has; log_sum_exp is wanted of a w with all panels only; scratch holds head_scratch
/// floats.
void head(device::Device& device, const Operand& operand, const PackedMatrix& w,
          std::span<const HeadRows> requests, std::span<float> scratch);

}  // namespace tessera::ops
