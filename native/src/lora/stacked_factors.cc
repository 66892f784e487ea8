#include "lora/stacked_factors.h"

#include <cstring>

namespace tessera::lora {

using model::TensorEntry;
using model::WeightSlot;

namespace {

// A parameter of experts is [experts, outputs, inputs].
uint64_t experts_of(const WeightSlot::Part& part) { return part.shape[0]; }
uint64_t outputs_of(const WeightSlot::Part& part) { return part.shape[1]; }

}  // namespace

std::vector<uint64_t> StackedFactors::a_shape(const WeightSlot::Part& part, uint32_t rank) {
  return {experts_of(part) * rank, part.shape[2]};
}

std::vector<uint64_t> StackedFactors::b_shape(const WeightSlot::Part& part, uint32_t rank) {
  return {outputs_of(part), rank * experts_of(part)};
}

TensorEntry StackedFactors::a_of(const WeightSlot& slot) const {
  const uint64_t expert = slot.part.first_row / outputs_of(slot.part);
  const uint64_t bytes = rank * slot.inputs * tensor::dtype_size(*a.type);
  TensorEntry own = a;
  own.shape = {rank, slot.inputs};
  own.bytes = a.bytes.subspan(expert * bytes, bytes);
  return own;
}

TensorEntry StackedFactors::b_of(const WeightSlot& slot, std::vector<std::byte>& bytes) const {
  const uint64_t expert = slot.part.first_row / outputs_of(slot.part);
  const uint64_t first = slot.part.first_row % outputs_of(slot.part);
  const uint64_t experts = experts_of(slot.part), size = tensor::dtype_size(*b.type);
  bytes.resize(slot.outputs * rank * size);
  std::byte* to = bytes.data();
  for (uint64_t output = first; output < first + slot.outputs; ++output) {
    for (uint64_t r = 0; r < rank; ++r, to += size) {
      const uint64_t from = (output * rank + r) * experts + expert;
      std::memcpy(to, b.bytes.data() + from * size, size);
    }
  }
  TensorEntry own = b;
  own.shape = {slot.outputs, rank};
  own.bytes = bytes;
  return own;
}

}  // namespace tessera::lora
