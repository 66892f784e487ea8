// A weight matrix as panels (device/panel.h). W is [outputs, inputs] as in a Hugging Face file; its
// outputs are the columns of the panels. Packed once at load; read in place by every product.
#pragma once

#include <cstdint>
#include <span>

#include "device/device.h"
#include "device/panel.h"
#include "tensor/tensor_view.h"

namespace tessera::ops {

/// Owns nothing. Immutable once packed; shared by all threads.
struct PackedMatrix {
  static constexpr uint32_t kNoPlace = ~uint32_t{0};

  device::PanelType type = device::PanelType::kF32;
  void* panels = nullptr;  // 64-byte aligned
  uint64_t k = 0;          // inputs
  uint64_t columns = 0;    // outputs
  /// Bytes from one panel to the next: panel_bytes(type, k), or twice that where two matrices that
  /// are read together (gate and up) lie panel by panel beside each other.
  uint64_t panel_stride = 0;
  float* scales = nullptr;  // [panels][panel_scales(k)][32], where quantised
  /// Of a matrix that has some of its panels only: by panel, where among those it lies, kNoPlace
  /// for one that it has not. Null: all lie in their order. Such a matrix is not quantised and is
  /// multiplied panel by panel.
  const uint32_t* places = nullptr;

  uint64_t panel_count() const { return device::panel_count(columns); }
  bool has_panel(uint64_t i) const { return places == nullptr || places[i] != kNoPlace; }
  /// REQUIRES: has_panel(i).
  const void* panel(uint64_t i) const {
    return static_cast<const char*>(panels) + (places == nullptr ? i : places[i]) * panel_stride;
  }
  /// Null where values are not quantised.
  const float* panel_scales(uint64_t i) const {
    return scales == nullptr ? nullptr
                             : scales + i * device::panel_scales(type, k) * device::kPanelColumns;
  }
};

/// Columns of a matrix that are others for some rows of an operand: whole panels in the place of
/// the matrix's own. Owns nothing.
struct PanelOverlay {
  static constexpr uint64_t kNone = ~uint64_t{0};

  std::span<const uint32_t> panels;  // numbers of the panels that it has, ascending
  PackedMatrix own;                  // these, one after the other, of 32 columns each

  /// Place of panel `panel` of the matrix among its own; kNone where it has none.
  uint64_t find(uint64_t panel) const;
};

/// Bytes of the panels of a matrix of `columns` outputs over k inputs.
constexpr uint64_t packed_bytes(device::PanelType type, uint64_t k, uint64_t columns) {
  return device::panel_count(columns) * device::panel_bytes(type, k);
}

/// Packs `from`, [to.columns, to.k] of any type and alignment, into to.panels, all of it written,
/// padding included; panels that `to` has not are left out. REQUIRES: to.type is kF32 or kBf16
/// (INT8 panels are written by quantisation).
void pack(device::Device& device, const tensor::TensorView& from, const PackedMatrix& to);

/// y[i] = column columns[i] of `from` as floats: the rows of W again, k floats each.
/// REQUIRES: as pack; every column < from.columns and of a panel that `from` has.
void unpack_column(const PackedMatrix& from, uint64_t column, float* y);

}  // namespace tessera::ops
