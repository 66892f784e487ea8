// A model's weights on a card: BF16, row-major, products that read the same rows joined.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/device/queue.h"
#include "device/device.h"
#include "model/model_config.h"

namespace tessera::model::cuda {

struct CardLayer {
  const uint16_t* input_norm = nullptr;
  const uint16_t* qkv = nullptr;       // [heads + 2 kv_heads][head_dim] rows of hidden
  const uint16_t* qkv_bias = nullptr;  // null: none, as below
  const uint16_t* o = nullptr;
  const uint16_t* o_bias = nullptr;
  const uint16_t* q_norm = nullptr;
  const uint16_t* k_norm = nullptr;
  const uint16_t* post_norm = nullptr;
  const uint16_t* gate_up = nullptr;  // gate's rows, then up's
  const uint16_t* down = nullptr;
};

struct CardWeights {
  const uint16_t* embedding = nullptr;  // [vocab][hidden]
  const uint16_t* head = nullptr;       // the embedding where they are tied
  const uint16_t* final_norm = nullptr;
  std::vector<CardLayer> layers;
  uint64_t bytes = 0;
  device::cuda::Memory memory;

  /// Reads a folder as Decoder::load does. Errors: MODEL_NOT_FOUND, MODEL_CORRUPT, MODEL_INVALID
  /// also for sizes that the kernels do not take (head_dim other than 64 or 128; hidden or
  /// intermediate size not a multiple of 8), ENGINE_OVERLOADED where the card lacks memory.
  static Result<CardWeights> load(const std::string& folder, const ModelConfig& config,
                                  device::cuda::Queue& queue);
};

/// Looks a folder's weights through on the processor's threads; returns the digest of them and the
/// configuration, that of no other device. Errors: those of Shards::open; MODEL_CORRUPT for a
/// number that is not finite.
Result<std::string> scan_weights(const std::string& folder, const ModelConfig& config,
                                 device::Device& processor);

}  // namespace tessera::model::cuda
