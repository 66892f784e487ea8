// Passes for calibrate.h on a card, waited for one by one.
#pragma once

#include <vector>

#include "cuda/model/card_decoder.h"
#include "engine/calibrate.h"

namespace tessera::engine::cuda {

class CardProbe final : public PassProbe {
 public:
  /// Both outlive the probe.
  CardProbe(model::cuda::CardDecoder& decoder, device::cuda::Queue& queue)
      : decoder_(decoder), queue_(queue) {}

  const model::ModelConfig& config() const override { return decoder_.config(); }
  uint32_t head_rows_max() const override { return decoder_.limits().head_rows; }
  Status begin(uint32_t block_count) override;
  Status forward(std::span<const int32_t> tokens, uint32_t position) override;
  Status head(uint32_t rows) override;

 private:
  model::cuda::CardDecoder& decoder_;
  device::cuda::Queue& queue_;
  device::cuda::Memory memory_;
  std::vector<uint16_t*> blocks_;
  uint32_t numbers_[kCalibrationHeadRows] = {};
  uint32_t* card_numbers_ = nullptr;
  float* card_sums_ = nullptr;
};

}  // namespace tessera::engine::cuda
