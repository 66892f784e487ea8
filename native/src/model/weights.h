// The tensors of a decoder, checked against its configuration and ready to compute with. Matrices
// are packed into panels and vectors copied, once, into one piece of memory; the file's own pages
// are given back as loading goes on. Only an embedding that is not the head as well, or whose head
// is cut, and that the file has in the compute type and aligned, is read in place. Immutable after
// load; shared by all threads.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "model/compute_type.h"
#include "model/head_vocabulary.h"
#include "model/recipe.h"
#include "model/shards.h"
#include "model/static_scales.h"
#include "ops/packed_matrix.h"
#include "tensor/tensor_view.h"

namespace tessera::model {

/// Weights of one layer, block by block.
using LayerWeights = std::vector<BlockWeights>;

/// A folder of weights that has been looked through whole and may take the place of those that
/// serve. Move-only.
class WeightsUpdate {
 public:
  const std::string& folder() const { return shards_.folder(); }
  /// Digest as Weights::digest() will be.
  const std::string& digest() const { return digest_; }
  const Shards& shards() const { return shards_; }
  /// As Weights::prefix().
  const std::string& prefix() const { return prefix_; }

  /// Looks a folder through for weights that lie elsewhere than in the process's memory, as
  /// Weights::prepare does.
  static Result<WeightsUpdate> look_through(const std::string& folder, const Recipe& recipe,
                                            ComputeType type, device::Device& device);

 private:
  friend class Weights;
  Shards shards_;
  std::string prefix_;  // as Weights has it
  std::string digest_;
};

class Weights {
 public:
  /// Errors: MODEL_NOT_FOUND; MODEL_INVALID for a missing, misshapen, wrongly typed or unexpected
  /// tensor; MODEL_CORRUPT for broken files and for NaN or infinity; ENGINE_OVERLOADED with what
  /// they need and what is left, where memory does not suffice, before any weight is read. The head
  /// has the columns of `vocabulary`; the digest is that of the folder all the same.
  /// REQUIRES: scales for kW8A8Static.
  static Result<Weights> load(const std::string& folder, const Recipe& recipe, ComputeType type,
                              device::Device& device, HeadVocabulary vocabulary = {},
                              const StaticScales* scales = nullptr);

  /// Looks another folder through, of the same configuration, while these weights serve: other
  /// forks of the device's threads wait at most for a few MiB of it. Errors: those of load() but
  /// for memory, of which nothing is taken; MODEL_INVALID where the embedding is read in place and
  /// the new one cannot be.
  Result<WeightsUpdate> prepare(const std::string& folder, const Recipe& recipe, ComputeType type,
                                device::Device& device) const;
  /// Streams an update over these weights, layer by layer in the same memory. An error (a disk
  /// that fails, a file that has been written to since) means that the weights before were streamed
  /// back. REQUIRES: no thread reads the weights meanwhile. Errors: MODEL_CORRUPT.
  Status update(WeightsUpdate update, const Recipe& recipe, ComputeType type,
                device::Device& device);
  /// False where neither an update nor the weights before could be written whole: what is in memory
  /// is of no model.
  bool is_intact() const { return is_intact_; }

  /// Null data where the head is the embedding as well.
  const tensor::TensorView& embedding() const { return embedding_; }  // [vocab, hidden]
  const ops::PackedMatrix& head() const { return head_; }             // hidden to vocab
  const HeadVocabulary& vocabulary() const { return vocabulary_; }    // of the head
  /// Null where the last layer ends with its own.
  const float* final_norm() const { return final_norm_; }
  /// Null where no encoder stands before a decoder.
  const float* encoder_norm() const { return encoder_norm_; }
  /// Weights of the recipe's entry.
  const BlockWeights& entry() const { return entry_; }
  const std::vector<LayerWeights>& layers() const { return layers_; }
  /// XXH3-128 of the configuration and of every tensor's name, type, shape and bytes, as 32 hex
  /// digits.
  const std::string& digest() const { return digest_; }
  /// The files that the weights were read from, and what begins their tensors' names.
  const Shards& shards() const { return shards_; }
  const std::string& prefix() const { return prefix_; }
  /// Bytes of the packed weights: what the model takes of memory.
  uint64_t packed_bytes() const { return memory_.size(); }

 private:
  struct Slot;
  /// Place of a block.
  struct Place {
    uint32_t layer = 0;        // 0 for one of none as well
    uint32_t first_input = 0;  // among Layer::inputs()
  };
  std::vector<Slot> slots(const Recipe& recipe, ComputeType type);
  void make_layers(const Recipe& recipe);
  static void block_slots(const LayerBlock& block, const std::string& prefix, ComputeType type,
                          Place place, BlockWeights& weights, std::vector<Slot>& slots);
  static void write_matrix(const Slot& slot, device::Device& device, const StaticScales* scales);
  static void mark_entries(std::vector<Slot>& slots);
  static Status check(const Shards& shards, const std::string& prefix, const Recipe& recipe,
                      std::vector<Slot>& slots);
  static Status check_copies(const Shards& shards, const std::string& prefix, const Recipe& recipe);
  bool reads_in_place() const;
  /// Gives every slot its place in the weights' memory; returns the bytes of all.
  static uint64_t place(std::vector<Slot>& slots);
  Status reserve(std::vector<Slot>& slots, ComputeType type, device::Device& device);
  Result<std::string> stream(const std::vector<Slot>& slots, const Shards& shards,
                             const Recipe& recipe, device::Device& device,
                             const StaticScales* scales = nullptr);

  Shards shards_;
  std::string prefix_ = "model.";  // of all tensors but the head
  HeadVocabulary vocabulary_;
  device::Buffer memory_;
  tensor::TensorView embedding_;
  ops::PackedMatrix head_;
  BlockWeights entry_;
  const float* final_norm_ = nullptr;
  const float* encoder_norm_ = nullptr;
  std::vector<LayerWeights> layers_;
  std::string digest_;
  bool is_intact_ = true;
};

}  // namespace tessera::model
