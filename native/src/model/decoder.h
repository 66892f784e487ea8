// The decoder language model: immutable after load, shared by all requests and threads. Numbers in, numbers out; it
// knows nothing of beams, catalogues or scheduling. All mutable memory is in Workspace and in the caller's KV views.
//
// Every output element is reduced in an order fixed by its own inputs alone, never by batch, chunk or thread count:
// results are bit-identical alone and in any batch (DESIGN section 6.6).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "attention/kv_view.h"
#include "base/status.h"
#include "model/model_config.h"

namespace tessera::device {
class Device;
}

namespace tessera::model {

enum class ComputeType : uint8_t { kF32, kBf16 };

/// One forward pass over `tokens.size()` rows of one or several requests.
struct ForwardBatch {
  std::span<const int32_t> tokens;                // token id per row, each in [0, vocab_size)
  std::span<const attention::RowGroup> groups;    // cover all rows, in order, without gaps
};

/// Scratch of forward passes, sized once; owned by one engine thread.
class Workspace;

class Decoder {
 public:
  /// Loads a Hugging Face folder (config.json, model.safetensors or sharded with its index). Weights are mapped and
  /// scanned once for NaN/Inf. Errors: MODEL_NOT_FOUND, MODEL_INVALID, MODEL_CORRUPT naming file and tensor.
  static Result<std::shared_ptr<const Decoder>> load(const std::string& folder, ComputeType type,
                                                     device::Device& device);
  virtual ~Decoder() = default;

  virtual const ModelConfig& config() const = 0;
  virtual ComputeType compute_type() const = 0;
  /// Content digest (hex) of configuration and weights: part of the KV identity.
  virtual const std::string& digest() const = 0;
  /// Bytes of keys and values per position over all layers.
  virtual uint64_t kv_bytes_per_position() const = 0;

  /// REQUIRES: max_rows > 0. Allocates everything forward() and logits() need for up to max_rows rows and
  /// max_context positions; nothing is allocated later.
  virtual std::unique_ptr<Workspace> make_workspace(uint32_t max_rows, uint32_t max_context) const = 0;

  /// Runs all layers; afterwards the keys and values of the rows are in their views (the caller advances
  /// PromptKv::length), and `workspace` holds the final-norm hidden state of every row.
  /// REQUIRES: rows <= workspace rows; positions < config().max_positions.
  virtual void forward(const ForwardBatch& batch, Workspace& workspace) const = 0;

  /// logits[i * token_ids.size() + j] = head row token_ids[j] . hidden(row rows[i]).
  virtual void logits(const Workspace& workspace, std::span<const uint32_t> rows,
                      std::span<const int32_t> token_ids, std::span<float> logits) const = 0;

  /// log sum exp over the whole vocabulary of each row: the normaliser of `full` scores.
  virtual void log_sum_exp(const Workspace& workspace, std::span<const uint32_t> rows,
                           std::span<float> result) const = 0;
};

}  // namespace tessera::model
