// Norms of what factors add to a matrix, and of the rows that they make. By DoRA (Liu et al. 2024,
// arXiv:2402.09353) a row of W + scale B A has the length that a vector of magnitudes says: each
// output of LoRA is multiplied by magnitude over length. Private to lora. Source: huggingface/peft,
// src/peft/tuners/lora/dora.py.
#pragma once

#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "lora/adapter_tensors.h"
#include "model/decoder.h"

namespace tessera::lora {

/// Frobenius norm of B A, without the factors' scale unless `b` has it within.
double norm_of(device::Device& device, const Factors& factors, const std::vector<float>& a,
               const std::vector<float>& b);

/// Squared lengths of the rows of a layer's matrix as its file has it, with the product of its
/// factors added; `b` has their scale within.
std::vector<double> squared_lengths(const model::Decoder& decoder, device::Device& device,
                                    const Factors& factors, const std::vector<float>& a,
                                    const std::vector<float>& b);

/// Magnitudes over lengths. Errors: ADAPTER_INVALID for a row of zeros, which has no direction.
Result<std::vector<float>> scales_of(const std::string& module,
                                     const std::vector<float>& magnitudes,
                                     const std::vector<double>& squared_lengths);

/// False where all are 1 but for rounding.
bool do_change(const std::vector<float>& scales);

}  // namespace tessera::lora
