#include "ops/packed_matrix.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "ops/convert.h"
#include "ops/for_rows.h"

namespace tessera::ops {
namespace {

using device::kPanelColumns;
using device::kPanelGroups;
using device::kPanelHalf;
using device::PanelType;
using tensor::DType;
using tensor::TensorView;

constexpr uint64_t kHalfTileWords = device::kPanelHalfTile / sizeof(uint32_t);

DType dtype_of(PanelType type) {
  TESSERA_CHECK(type != PanelType::kI8);
  return type == PanelType::kBf16 ? DType::kBf16 : DType::kF32;
}

/// One half of one tile: 16 columns of one tile of k each. Groups are words of 32 bits, so packing
/// is the same transposition for all types.
struct HalfTile {
  alignas(64) uint32_t columns[kPanelHalf][kPanelGroups] = {};

  void store(uint32_t* to) const {
    for (uint64_t group = 0; group < kPanelGroups; ++group) {
      for (uint64_t j = 0; j < kPanelHalf; ++j) to[group * kPanelHalf + j] = columns[j][group];
    }
  }
};

void pack_panel(const device::KernelTable& kernels, const TensorView& from, const PackedMatrix& to,
                uint64_t panel) {
  const uint64_t depth = device::panel_tile_depth(to.type);
  const DType type = dtype_of(to.type);
  auto* words = static_cast<uint32_t*>(const_cast<void*>(to.panel(panel)));
  for (uint64_t k = 0; k < to.k; k += depth) {
    const uint64_t count = std::min(depth, to.k - k);
    for (uint64_t half = 0; half < kPanelColumns; half += kPanelHalf, words += kHalfTileWords) {
      HalfTile tile;
      for (uint64_t j = 0; j < kPanelHalf; ++j) {
        const uint64_t row = panel * kPanelColumns + half + j;
        if (row >= to.columns) break;
        const char* at =
            static_cast<const char*>(from.row(row)) + k * tensor::dtype_size(from.type);
        convert_piece(kernels, at, from.type, count, type, tile.columns[j]);
      }
      tile.store(words);
    }
  }
}

}  // namespace

uint64_t PanelOverlay::find(uint64_t panel) const {
  const auto found = std::lower_bound(panels.begin(), panels.end(), panel);
  if (found == panels.end() || *found != panel) return kNone;
  return static_cast<uint64_t>(found - panels.begin());
}

void pack(device::Device& device, const TensorView& from, const PackedMatrix& to) {
  TESSERA_CHECK(from.rank == 2 && from.rows() == to.columns && from.columns() == to.k);
  TESSERA_CHECK(to.panel_stride >= device::panel_bytes(to.type, to.k));
  const device::KernelTable& kernels = device.kernels();
  for_rows(device, to.panel_count(), kPanelColumns * to.k, [&](uint64_t begin, uint64_t end) {
    for (uint64_t panel = begin; panel < end; ++panel) {
      if (to.has_panel(panel)) pack_panel(kernels, from, to, panel);
    }
  });
}

void unpack_column(const PackedMatrix& from, uint64_t column, float* y) {
  TESSERA_CHECK(column < from.columns && from.has_panel(column / kPanelColumns));
  const uint64_t slots = device::panel_slots(from.type), in_panel = column % kPanelColumns;
  const char* panel = static_cast<const char*>(from.panel(column / kPanelColumns)) +
                      in_panel / kPanelHalf * device::kPanelHalfTile +
                      in_panel % kPanelHalf * sizeof(uint32_t);
  const DType type = dtype_of(from.type);
  for (uint64_t k = 0; k < from.k; panel += device::kPanelTile) {
    for (uint64_t group = 0; group < kPanelGroups && k < from.k; ++group) {
      const char* word = panel + group * kPanelHalf * sizeof(uint32_t);
      if (type == DType::kF32) {
        std::memcpy(y + k, word, sizeof(float));
      } else {
        uint16_t bits[2];
        std::memcpy(bits, word, sizeof bits);
        y[k] = tensor::f32_of_bf16(bits[0]);
        if (k + 1 < from.k) y[k + 1] = tensor::f32_of_bf16(bits[1]);
      }
      k += slots;
    }
  }
}

}  // namespace tessera::ops
