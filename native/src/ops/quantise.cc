#include "ops/quantise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "ops/convert.h"
#include "ops/for_rows.h"

namespace tessera::ops {
namespace {

using device::kPanelColumns;
using device::PanelType;
using tensor::DType;
using tensor::TensorView;

constexpr uint64_t kDepth = device::panel_tile_depth(PanelType::kI8);
constexpr uint64_t kSlots = device::panel_slots(PanelType::kI8);
constexpr float kLargest = 127.0f;
constexpr float kSmallestColumn = 1e-30f;  // columns of smaller magnitudes count as zero

/// One column, first as floats and then as integers, padded with zeros to whole tiles.
struct Column {
  explicit Column(uint64_t k)
      : floats(k), values(device::panel_tiles(PanelType::kI8, k) * kDepth, 0) {}

  void read(const device::KernelTable& kernels, const TensorView& from, uint64_t row) {
    const char* at = static_cast<const char*>(from.row(row));
    for (uint64_t i = 0; i < floats.size(); i += kConvertPiece) {
      const uint64_t count = std::min<uint64_t>(kConvertPiece, floats.size() - i);
      convert_piece(kernels, at + i * tensor::dtype_size(from.type), from.type, count, DType::kF32,
                    floats.data() + i);
    }
  }

  /// Returns the scale.
  float quantise() {
    float largest = 0;
    for (const float value : floats) largest = std::max(largest, std::abs(value));
    const float scale = largest < kSmallestColumn ? 0.0f : largest / kLargest;
    const float inverse = scale > 0 ? 1.0f / scale : 0.0f;
    // Adding it leaves the nearest integer, ties to even, in a float; loops of it become vectors.
    constexpr float kRound = 12582912.0f;  // 1.5 * 2^23
    for (uint64_t i = 0; i < floats.size(); ++i) {
      const float value = std::min(kLargest, std::max(-kLargest, floats[i] * inverse));
      values[i] = static_cast<int8_t>(static_cast<int32_t>((value + kRound) - kRound));
    }
    return scale;
  }

  void place(char* panel, uint64_t column) const {
    for (uint64_t k = 0; k < values.size(); k += kSlots) {
      std::memcpy(panel + device::panel_offset(PanelType::kI8, k, column), &values[k], kSlots);
    }
  }

  std::vector<float> floats;
  std::vector<int8_t> values;
};

}  // namespace

void quantise(device::Device& device, const TensorView& from, const PackedMatrix& to) {
  TESSERA_CHECK(to.type == PanelType::kI8 && to.scales != nullptr && to.k <= kInt8InputsMax);
  TESSERA_CHECK(from.rank == 2 && from.rows() == to.columns && from.columns() == to.k);
  const uint64_t bytes = device::panel_bytes(to.type, to.k);
  TESSERA_CHECK(to.panel_stride >= bytes);
  for_rows(device, to.panel_count(), kPanelColumns * to.k, [&](uint64_t begin, uint64_t end) {
    Column column(to.k);
    for (uint64_t panel = begin; panel < end; ++panel) {
      char* target = static_cast<char*>(to.panels) + panel * to.panel_stride;
      float* scales = to.scales + panel * kPanelColumns;
      std::memset(target, 0, bytes);
      std::fill_n(scales, kPanelColumns, 0.0f);
      const uint64_t first = panel * kPanelColumns;
      for (uint64_t j = 0; j < kPanelColumns && first + j < to.columns; ++j) {
        column.read(device.kernels(), from, first + j);
        scales[j] = column.quantise();
        column.place(target, j);
      }
    }
  });
}

}  // namespace tessera::ops
