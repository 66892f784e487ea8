// Element types of tensors and the scalar conversions between them. Half types travel as their bits
// in uint16_t.
#pragma once

#include <cstdint>
#include <string_view>

namespace tessera::tensor {

enum class DType : uint8_t { kF32, kBf16, kF16 };

constexpr uint64_t dtype_size(DType type) { return type == DType::kF32 ? 4 : 2; }

/// Name as safetensors spells it: "F32", "BF16", "F16".
constexpr std::string_view dtype_name(DType type) {
  switch (type) {
    case DType::kF32: return "F32";
    case DType::kBf16: return "BF16";
    case DType::kF16: return "F16";
  }
  return "F32";
}

float f32_of_bf16(uint16_t bits);
/// IEEE 754 binary16; exact for every input.
float f32_of_f16(uint16_t bits);
/// To the nearest, ties to even; NaN stays NaN.
uint16_t bf16_of_f32(float value);

}  // namespace tessera::tensor
