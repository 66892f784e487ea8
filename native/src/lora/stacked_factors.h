// Factors of a parameter that holds the matrices of all experts, as PEFT saves them for
// target_parameters: A is [experts * rank, inputs], expert by expert; B is [outputs, rank *
// experts], the experts of a rank side by side. Private to lora. Source: huggingface/peft,
// src/peft/tuners/lora/layer.py, ParamWrapper.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/layer_block.h"
#include "model/safetensors.h"

namespace tessera::lora {

/// The two tensors of a parameter, whose shapes have been checked.
struct StackedFactors {
  model::TensorEntry a, b;
  uint32_t rank = 0;

  /// Their shapes for the parameter that `slot` is a part of.
  static std::vector<uint64_t> a_shape(const model::WeightSlot::Part& part, uint32_t rank);
  static std::vector<uint64_t> b_shape(const model::WeightSlot::Part& part, uint32_t rank);

  /// [rank, inputs] of the slot's expert: bytes of `a`.
  model::TensorEntry a_of(const model::WeightSlot& slot) const;
  /// [slot.outputs, rank] of it, copied to `bytes`, which the entry points into.
  model::TensorEntry b_of(const model::WeightSlot& slot, std::vector<std::byte>& bytes) const;
};

}  // namespace tessera::lora
