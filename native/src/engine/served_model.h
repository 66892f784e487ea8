// The model that serves, whichever device computes it: its shape, which
// weights, and what the keys and values of a prompt depend on.
#pragma once

#include <cstdint>
#include <string>

#include "model/decoder.h"
#include "model/head_vocabulary.h"
#include "model/model_config.h"

namespace tessera::engine {

struct ServedModel {
  model::ModelConfig config;
  model::HeadVocabulary vocabulary;  // that the head computes
  uint64_t weight_bytes = 0;         // of memory
  std::string digest;                // of the weights and the configuration
  std::string compute_type;          // as configured, e.g. "bf16"
  std::string device;  // that computes: the processor's instruction set, or a card's name
  // Of the keys and values; bytes over all layers.
  uint64_t position_bytes = 0;  // of a position, without a block's padding
  uint64_t block_bytes = 0;
  std::string layout;        // of a block; changes when its bytes come to lie elsewhere
  std::string state_layout;  // of a state; empty where the model has none
  uint64_t state_bytes = 0;  // of a running request's, and of each row of its beams
  uint64_t slot_bytes = 0;
  std::string element_type;   // of a block's numbers
  std::string numeric_class;  // what beside the weights decides the bits
};

ServedModel served_model(const model::Decoder& decoder);

}  // namespace tessera::engine
