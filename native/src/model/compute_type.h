// The type a decoder computes its products in.
#pragma once

#include <cstdint>

namespace tessera::model {

/// kF32: F32 throughout. kBf16: weights, keys, values and the left side of every product are BF16;
/// sums, norms, the residual stream and softmax are F32.
enum class ComputeType : uint8_t { kF32, kBf16 };

}  // namespace tessera::model
