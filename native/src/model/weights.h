// The tensors of a decoder, checked against its configuration and ready to compute with. Matrices
// are packed into panels and vectors copied, once, into one piece of memory; the file's own pages
// are given back as loading goes on. Only an embedding that is not the head as well, and that the
// file has in the compute type and aligned, is read in place. Immutable after load; shared by all
// threads.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "model/compute_type.h"
#include "model/model_config.h"
#include "model/shards.h"
#include "ops/packed_matrix.h"
#include "tensor/tensor_view.h"

namespace tessera::model {

/// Matrices are of the compute type, norms and biases F32. Absent vectors are null.
struct LayerWeights {
  const float* input_norm = nullptr;
  const float* post_norm = nullptr;
  const float* q_norm = nullptr;
  const float* k_norm = nullptr;
  const float* q_bias = nullptr;
  const float* k_bias = nullptr;
  const float* v_bias = nullptr;
  const float* o_bias = nullptr;
  ops::PackedMatrix q, k, v, o, gate, up, down;  // gate and up lie panel by panel side by side
};

class Weights {
 public:
  /// Errors: MODEL_NOT_FOUND; MODEL_INVALID for a missing, misshapen, wrongly typed or unexpected
  /// tensor; MODEL_CORRUPT for broken files and for NaN or infinity; ENGINE_OVERLOADED when memory
  /// does not suffice, before anything is packed.
  static Result<Weights> load(const std::string& folder, const ModelConfig& config,
                              ComputeType type, device::Device& device);

  /// Null data where the head is the embedding as well.
  const tensor::TensorView& embedding() const { return embedding_; }  // [vocab, hidden]
  const ops::PackedMatrix& head() const { return head_; }             // hidden to vocab
  const float* final_norm() const { return final_norm_; }
  const std::vector<LayerWeights>& layers() const { return layers_; }
  /// XXH3-128 of the configuration and of every tensor's name, type, shape and bytes, as 32 hex
  /// digits.
  const std::string& digest() const { return digest_; }
  /// Bytes of the packed weights: what the model takes of memory.
  uint64_t packed_bytes() const { return memory_.size(); }

 private:
  struct Slot;
  std::vector<Slot> slots(const ModelConfig& config, ComputeType type);
  void layer_slots(const ModelConfig& config, ComputeType type, uint32_t layer,
                   std::vector<Slot>& slots);
  Status check(const ModelConfig& config, std::vector<Slot>& slots) const;
  Status reserve(std::vector<Slot>& slots, device::Device& device);
  Status fill(const std::vector<Slot>& slots, const ModelConfig& config, device::Device& device);

  Shards shards_;  // empty when nothing is read in place
  device::Buffer memory_;
  tensor::TensorView embedding_;
  ops::PackedMatrix head_;
  const float* final_norm_ = nullptr;
  std::vector<LayerWeights> layers_;
  std::string digest_;
};

}  // namespace tessera::model
