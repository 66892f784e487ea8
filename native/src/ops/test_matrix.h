// Random matrices as panels, and rows as operands. Test only.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "ops/operand.h"
#include "ops/packed_matrix.h"
#include "ops/test_source.h"

namespace tessera::ops {

inline constexpr device::PanelType kTypes[] = {device::PanelType::kF32, device::PanelType::kBf16};

inline tensor::DType dtype_of(device::PanelType type) {
  return type == device::PanelType::kBf16 ? tensor::DType::kBf16 : tensor::DType::kF32;
}

/// A random matrix of the type's own elements, one element off any alignment, and its panels.
struct Matrix {
  Matrix(device::Device& device, Source& source, device::PanelType type, uint64_t n, uint64_t k)
      : floats(source.floats(n * k + 1)), halves(source.bf16(n * k + 1)) {
    const void* data = type == device::PanelType::kBf16
                           ? static_cast<const void*>(halves.data() + 1)
                           : static_cast<const void*>(floats.data() + 1);
    view = tensor::TensorView{data, dtype_of(type), 2, {n, k}};
    const uint64_t bytes = packed_bytes(type, k, n);
    memory = std::move(device.allocate(bytes)).value();
    std::memset(memory.data(), 0xFF, bytes);
    packed = {type, memory.data(), k, n, device::panel_bytes(type, k), nullptr};
    pack(device, view, packed);
  }
  std::vector<float> floats;
  std::vector<uint16_t> halves;
  tensor::TensorView view;
  device::Buffer memory;
  PackedMatrix packed;
};

/// Rows of floats in the form that the device's kernels want.
struct Rows {
  Rows(device::Device& device, device::PanelType type, const std::vector<float>& x, uint64_t rows,
       uint64_t k) {
    memory = std::move(device.allocate(operand_bytes(device, type, rows, k))).value();
    operand = {type, memory.data(), nullptr, rows, k};
    write_operand(device, x.data(), k, operand);
  }
  device::Buffer memory;
  Operand operand;
};

}  // namespace tessera::ops
