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
constexpr float kSmallestTile = 1e-30f;  // tiles of smaller magnitudes count as zero
static_assert(kConvertPiece % kDepth == 0);

/// Adding it leaves the nearest integer, ties to even, in a float; loops of it become vectors.
constexpr float kRound = 12582912.0f;  // 1.5 * 2^23

int8_t nearest(float x) {
  const float value = std::min(kLargest, std::max(-kLargest, x));
  return static_cast<int8_t>(static_cast<int32_t>((value + kRound) - kRound));
}

/// One tile of one column as integers.
struct Tile {
  int8_t values[kDepth] = {};
  float scale = 0;

  explicit Tile(const float* x) {
    float largest = 0;
    for (uint64_t i = 0; i < kDepth; ++i) largest = std::max(largest, std::abs(x[i]));
    if (largest < kSmallestTile) return;
    const float step = largest / kLargest, inverse = 1.0f / step;
    for (uint64_t i = 0; i < kDepth; ++i) values[i] = nearest(x[i] * inverse);
    scale = step / static_cast<float>(kDepth);
  }

  void place(char* panel, uint64_t first, uint64_t column) const {
    for (uint64_t i = 0; i < kDepth; i += kSlots) {
      std::memcpy(panel + device::panel_offset(PanelType::kI8, first + i, column), values + i,
                  kSlots);
    }
  }
};

/// One row of `from` as floats, transformed tile by tile: `x` has room for whole tiles.
void transform_row(const device::KernelTable& kernels, const TensorView& from, uint64_t row,
                   std::span<float> x) {
  const char* at = static_cast<const char*>(from.row(row));
  std::fill(x.begin(), x.end(), 0.0f);
  for (uint64_t piece = 0; piece < from.columns(); piece += kConvertPiece) {
    convert_piece(kernels, at + piece * tensor::dtype_size(from.type), from.type,
                  std::min<uint64_t>(kConvertPiece, from.columns() - piece), DType::kF32,
                  x.data() + piece);
  }
  for (uint64_t tile = 0; tile < x.size(); tile += kDepth) hadamard_tile(x.data() + tile);
}

/// A transformed row of weights as a column of a panel. `scales`: the column's first; its others
/// lie kPanelColumns apart.
void quantise_static_column(std::span<float> x, const InputScales& inputs, char* panel,
                            uint64_t column, float* scales) {
  constexpr double kTwice = static_cast<double>(kDepth);  // both sides have been transformed
  double constant = 0;
  float largest = 0;
  for (uint64_t i = 0; i < x.size(); ++i) {
    constant += static_cast<double>(x[i]) * static_cast<double>(inputs.offsets[i]);
    x[i] *= inputs.scales[i] / static_cast<float>(kDepth);
    largest = std::max(largest, std::abs(x[i]));
  }
  scales[device::kStaticConstant * kPanelColumns] = static_cast<float>(constant / kTwice);
  if (largest < kSmallestTile) return;
  scales[device::kStaticFactor * kPanelColumns] = largest / kLargest;
  const float inverse = 1.0f / (largest / kLargest);
  int32_t sum = 0;
  for (uint64_t i = 0; i < x.size(); i += kSlots) {
    int8_t values[kSlots];
    for (uint64_t j = 0; j < kSlots; ++j) {
      values[j] = nearest(x[i + j] * inverse);
      sum += values[j];
    }
    std::memcpy(panel + device::panel_offset(PanelType::kStaticI8, i, column), values, kSlots);
  }
  const int32_t start = -128 * sum;
  std::memcpy(scales + device::kStaticStart * kPanelColumns, &start, sizeof start);
}

/// One row of `from` as a column of a panel. `scales`: of the panel's first tile.
void quantise_column(const device::KernelTable& kernels, const TensorView& from, uint64_t row,
                     char* panel, float* scales, uint64_t column) {
  const char* at = static_cast<const char*>(from.row(row));
  const uint64_t k = from.columns();
  for (uint64_t piece = 0; piece < k; piece += kConvertPiece) {
    alignas(64) float floats[kConvertPiece] = {};
    convert_piece(kernels, at + piece * tensor::dtype_size(from.type), from.type,
                  std::min<uint64_t>(kConvertPiece, k - piece), DType::kF32, floats);
    for (uint64_t i = 0; i < kConvertPiece && piece + i < k; i += kDepth) {
      hadamard_tile(floats + i);
      const Tile tile(floats + i);
      tile.place(panel, piece + i, column);
      scales[(piece + i) / kDepth * kPanelColumns + column] = tile.scale;
    }
  }
}

}  // namespace

void hadamard_tile(float* x) {
  for (uint64_t distance = 1; distance < kDepth; distance *= 2) {
    for (uint64_t begin = 0; begin < kDepth; begin += 2 * distance) {
      for (uint64_t i = begin; i < begin + distance; ++i) {
        const float a = x[i], b = x[i + distance];
        x[i] = a + b;
        x[i + distance] = a - b;
      }
    }
  }
}

void quantise(device::Device& device, const TensorView& from, const PackedMatrix& to) {
  TESSERA_CHECK(to.type == PanelType::kI8 && to.scales != nullptr);
  TESSERA_CHECK(from.rank == 2 && from.rows() == to.columns && from.columns() == to.k);
  const uint64_t bytes = device::panel_bytes(to.type, to.k);
  const uint64_t scales_of_panel = device::panel_scales(to.type, to.k) * kPanelColumns;
  TESSERA_CHECK(to.panel_stride >= bytes);
  for_rows(device, to.panel_count(), kPanelColumns * to.k, [&](uint64_t begin, uint64_t end) {
    for (uint64_t panel = begin; panel < end; ++panel) {
      char* target = static_cast<char*>(to.panels) + panel * to.panel_stride;
      float* scales = to.scales + panel * scales_of_panel;
      std::memset(target, 0, bytes);
      std::fill_n(scales, scales_of_panel, 0.0f);
      const uint64_t first = panel * kPanelColumns;
      for (uint64_t j = 0; j < kPanelColumns && first + j < to.columns; ++j) {
        quantise_column(device.kernels(), from, first + j, target, scales, j);
      }
    }
  });
}

void quantise_static(device::Device& device, const TensorView& from, const InputScales& inputs,
                     const PackedMatrix& to) {
  const uint64_t filled = device::panel_tiles(to.type, to.k) * kDepth;
  TESSERA_CHECK(to.type == PanelType::kStaticI8 && to.scales != nullptr);
  TESSERA_CHECK(from.rank == 2 && from.rows() == to.columns && from.columns() == to.k);
  TESSERA_CHECK(inputs.scales.size() == filled && inputs.offsets.size() == filled);
  const uint64_t bytes = device::panel_bytes(to.type, to.k);
  for_rows(device, to.panel_count(), kPanelColumns * to.k, [&](uint64_t begin, uint64_t end) {
    std::vector<float> row(filled);
    for (uint64_t panel = begin; panel < end; ++panel) {
      char* target = static_cast<char*>(to.panels) + panel * to.panel_stride;
      float* scales = to.scales + panel * device::panel_scales(to.type, to.k) * kPanelColumns;
      std::memset(target, 0, bytes);
      std::fill_n(scales, device::kStaticScales * kPanelColumns, 0.0f);
      const uint64_t first = panel * kPanelColumns;
      for (uint64_t j = 0; j < kPanelColumns && first + j < to.columns; ++j) {
        transform_row(device.kernels(), from, first + j, row);
        quantise_static_column(row, inputs, target, j, scales + j);
      }
    }
  });
}

}  // namespace tessera::ops
