// The tensors of a PEFT folder, each found its place in the model: names, types and shapes checked
// against configuration and model, nothing missing, nothing left over. Private to lora.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "lora/adapter.h"
#include "lora/peft_config.h"
#include "model/model_config.h"
#include "model/safetensors.h"
#include "platform/mapped_file.h"
#include "tensor/tensor_view.h"

namespace tessera::lora {

/// A vector is a matrix of one row.
tensor::TensorView view_of(const model::TensorEntry& entry);

/// The two tensors of one matrix.
struct Factors {
  std::string module;  // as in the file, e.g. model.layers.0.self_attn.q_proj
  uint32_t layer = 0;
  uint32_t matrix = 0;  // of Layer::matrices()
  uint32_t rank = 0;
  double scale = 0;
  model::TensorEntry a;  // [rank, inputs]
  model::TensorEntry b;  // [outputs, rank]
  /// Magnitudes of DoRA: of the rows of the matrix with the factors' product added: [outputs].
  std::optional<model::TensorEntry> magnitudes{};
};

/// Rows that replace the model's: given, or the model's with what factors add to them.
struct Rows {
  bool is_there = false;
  bool is_whole = false;       // of every token: those that are as in the model need not be kept
  std::vector<uint32_t> ids;   // of the rows, in the order of the tensor; empty where it is whole
  model::TensorEntry entry{};  // [ids, hidden] or [vocabulary, hidden]
  /// Low-rank factors that are added to the entry's rows, or to the model's if the entry has none.
  /// The head's are those of any matrix; for the embedding A is [rank, vocabulary] and B [hidden,
  /// rank], since its input is a token.
  std::optional<Factors> factors{};
};

struct AdapterTensors {
  platform::MappedFile file;     // the entries' bytes lie in it
  std::vector<Factors> factors;  // layer by layer, in an order that the model fixes
  /// Numbers that do not lie in the file as factors need them.
  std::vector<std::unique_ptr<std::vector<std::byte>>> copies;
  Rows embedding;
  Rows head;
  bool head_is_embedding = false;       // the embedding's rows replace those of the head too
  bool head_adds_to_embedding = false;  // the head's factors are added to these rows
  bool is_activated = false;            // of ranked items alone

  /// True if the folder has either of its two files.
  static bool are_in(const std::string& folder);
  /// Opens adapter_config.json and adapter_model.safetensors. Errors: ADAPTER_NOT_FOUND,
  /// ADAPTER_CORRUPT, ADAPTER_INVALID naming file and field or tensor, what was expected, what it
  /// got.
  static Result<AdapterTensors> open(const std::string& folder, const model::ModelConfig& model,
                                     const Limits& limits);
};

}  // namespace tessera::lora
