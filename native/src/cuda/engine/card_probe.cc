#include "cuda/engine/card_probe.h"

#include <numeric>
#include <utility>

namespace tessera::engine::cuda {

using device::cuda::Memory;

Status CardProbe::begin(uint32_t block_count) {
  const uint64_t bytes = block_count * decoder_.block_bytes();
  Result<Memory> memory = Memory::allocate(queue_, bytes + 2 * sizeof(numbers_));
  if (!memory.is_ok()) return memory.status();
  memory_ = std::move(memory).value();
  for (uint32_t b = 0; b < block_count; ++b) {
    blocks_.push_back(reinterpret_cast<uint16_t*>(memory_.as<char>() + b * decoder_.block_bytes()));
  }
  std::iota(std::begin(numbers_), std::end(numbers_), 0u);
  card_numbers_ = reinterpret_cast<uint32_t*>(memory_.as<char>() + bytes);
  card_sums_ = reinterpret_cast<float*>(card_numbers_ + kCalibrationHeadRows);
  TESSERA_RETURN_IF_ERROR(queue_.zero(memory_.as<void>(), bytes));
  return queue_.copy_in(card_numbers_, numbers_, sizeof(numbers_));
}

Status CardProbe::forward(std::span<const int32_t> tokens, uint32_t position) {
  model::cuda::CardRows group;
  group.blocks = blocks_;
  group.row_count = static_cast<uint32_t>(tokens.size());
  group.first_position = position;
  TESSERA_RETURN_IF_ERROR(decoder_.forward(tokens, {&group, 1}));
  return queue_.finish();
}

Status CardProbe::head(uint32_t rows) {
  TESSERA_RETURN_IF_ERROR(decoder_.head(card_numbers_, rows, nullptr, 0, nullptr, card_sums_));
  return queue_.finish();
}

}  // namespace tessera::engine::cuda
