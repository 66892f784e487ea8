// The type a decoder computes its products in.
#pragma once

#include <cstdint>
#include <string_view>

#include "device/panel.h"
#include "tensor/dtype.h"

namespace tessera::model {

/// kF32: F32 throughout. kBf16: weights, keys, values and the left side of every product are BF16;
/// sums, norms, the residual stream and softmax are F32. kW8A8: the linear layers of attention and
/// MLP have INT8 weights and activations (docs/operate/quantisation.md), the rest is as in kBf16.
/// kW8A8Static, of encoders alone: the same with activation scales that a calibration has measured.
enum class ComputeType : uint8_t { kF32, kBf16, kW8A8, kW8A8Static };

/// Name of the type in configurations.
constexpr std::string_view compute_type_name(ComputeType type) {
  switch (type) {
    case ComputeType::kF32: return "f32";
    case ComputeType::kBf16: return "bf16";
    case ComputeType::kW8A8: return "w8a8";
    case ComputeType::kW8A8Static: return "w8a8-static";
  }
  return "f32";
}

/// Panels of the matrices of the layers.
constexpr device::PanelType layer_panels(ComputeType type) {
  if (type == ComputeType::kW8A8) return device::PanelType::kI8;
  if (type == ComputeType::kW8A8Static) return device::PanelType::kStaticI8;
  return type == ComputeType::kF32 ? device::PanelType::kF32 : device::PanelType::kBf16;
}

/// Panels of the head, and so of an embedding that is the head as well.
constexpr device::PanelType head_panels(ComputeType type) {
  return type == ComputeType::kF32 ? device::PanelType::kF32 : device::PanelType::kBf16;
}

/// Type in which keys and values are stored, and an embedding apart.
constexpr tensor::DType storage_type(ComputeType type) {
  return type == ComputeType::kF32 ? tensor::DType::kF32 : tensor::DType::kBf16;
}

}  // namespace tessera::model
