// The tensors of a decoder, checked against its configuration and ready to compute with: read in
// place where the file has them in the compute type and aligned, converted once where not.
// Immutable after load; shared by all threads.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "model/compute_type.h"
#include "model/model_config.h"
#include "model/shards.h"
#include "tensor/tensor_view.h"

namespace tessera::model {

/// Matrices are [outputs, inputs] of the compute type; norms and biases are F32. Absent ones have
/// null data.
struct LayerWeights {
  tensor::TensorView input_norm, post_norm, q_norm, k_norm;
  tensor::TensorView q, k, v, o, gate, up, down;
  tensor::TensorView q_bias, k_bias, v_bias, o_bias;
};

class Weights {
 public:
  /// Errors: MODEL_NOT_FOUND; MODEL_INVALID for a missing, misshapen, wrongly typed or unexpected
  /// tensor; MODEL_CORRUPT for broken files and for NaN or infinity; ENGINE_OVERLOADED when memory
  /// for conversion does not suffice.
  static Result<Weights> load(const std::string& folder, const ModelConfig& config,
                              ComputeType type, device::Device& device);

  const tensor::TensorView& embedding() const { return embedding_; }  // [vocab, hidden]
  const tensor::TensorView& head() const { return head_; }            // [vocab, hidden]
  const tensor::TensorView& final_norm() const { return final_norm_; }
  const std::vector<LayerWeights>& layers() const { return layers_; }
  /// XXH3-128 of the configuration and of every tensor's name, type, shape and bytes, as 32 hex
  /// digits.
  const std::string& digest() const { return digest_; }

 private:
  struct Slot;
  std::vector<Slot> slots(const ModelConfig& config, ComputeType type);
  void layer_slots(const ModelConfig& config, ComputeType type, uint32_t layer,
                   std::vector<Slot>& slots);
  Status check(const ModelConfig& config, std::vector<Slot>& slots) const;
  Status place(const std::vector<Slot>& slots, device::Device& device);

  Shards shards_;
  std::vector<device::Buffer> converted_;
  tensor::TensorView embedding_, head_, final_norm_;
  std::vector<LayerWeights> layers_;
  std::string digest_;
};

}  // namespace tessera::model
