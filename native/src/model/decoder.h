// The decoder language model: shared by all requests and threads, immutable except during update(),
// when no pass may run. Numbers in, numbers out; it knows nothing of beams, catalogues or
// scheduling. All mutable memory is in Workspace and in the caller's KV views.
//
// Every output element is reduced in an order fixed by its own inputs alone, never by batch, chunk
// or thread count: results are bit-identical alone and in any batch (DESIGN section 6.6).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "attention/block.h"
#include "attention/kv_view.h"
#include "base/status.h"
#include "model/adapter.h"
#include "model/compute_type.h"
#include "model/forward_batch.h"
#include "model/head_vocabulary.h"
#include "model/recipe.h"
#include "model/weights.h"
#include "model/workspace.h"
#include "ops/head.h"

namespace tessera::device {
class Device;
}

namespace tessera::model {

/// Rows of one request whose logits are wanted.
struct HeadRequest {
  std::span<const uint32_t> rows;           // of the last forward()
  std::span<const ops::HeadTokens> tokens;  // sets of token ids; logits are [rows][ids]
  float* log_sum_exp = nullptr;             // one per row when wanted
  const Adapter* adapter = nullptr;         // that the rows ran with
};

class Decoder final {
 public:
  /// Loads a Hugging Face folder (config.json, model.safetensors or sharded with its index).
  /// Weights are looked through for NaN and infinity and packed once. The device must outlive the
  /// decoder.
  /// Errors: MODEL_NOT_FOUND, MODEL_INVALID, MODEL_CORRUPT naming file and tensor;
  /// ENGINE_OVERLOADED when memory for the weights does not suffice.
  /// `scales_path` names a file of fixed activation scales for kW8A8, or is empty. Errors:
  /// REQUEST_INVALID for one with another type, and those of ActivationScales::load.
  /// The model is of one of the families `known`, which outlive the decoder.
  /// The head computes the tokens `head_tokens` and their neighbours alone (HeadVocabulary); none:
  /// the whole vocabulary. Errors: REQUEST_INVALID for one that is not in the vocabulary.
  static Result<std::shared_ptr<Decoder>> load(const std::string& folder, ComputeType type,
                                               device::Device& device,
                                               const std::string& scales_path = {},
                                               std::span<const Family> known = families(),
                                               std::span<const int32_t> head_tokens = {});
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const ModelConfig& config() const;
  const Recipe& recipe() const;
  ComputeType compute_type() const;
  const HeadVocabulary& head_vocabulary() const;
  /// Content digest (hex) of configuration and weights: part of the KV identity.
  std::string digest() const;
  /// The settings that decide the bits of keys and values beside the weights: compute type, numeric
  /// class of the device, fixed activation scales. The other part of the KV identity.
  const std::string& numbers() const;
  /// Blocks of the prompt's keys and values, as forward() reads and writes them.
  attention::BlockLayout block_layout() const;
  /// Bytes that the packed weights take.
  uint64_t weight_bytes() const;
  /// Bytes of keys and values per position over the layers that have them, without a block's
  /// padding.
  uint64_t kv_bytes_per_position() const;
  /// Bytes of keys and values of one row of beams, and of tokens in their place.
  uint64_t slot_bytes() const;
  /// Bytes of a prompt's state, with room to align it; 0: the model has none.
  uint64_t state_bytes() const;
  /// The state of an empty prompt in `memory`, which has state_bytes() and outlives it.
  attention::DeltaState zero_state(device::Buffer& memory) const;

  /// REQUIRES: max_rows > 0. Allocates everything forward() and logits() need for up to max_rows
  /// rows, in up to max_adapters stretches with an adapter, and prompts of up to max_context
  /// positions; nothing is allocated later. Null when memory does not suffice.
  std::unique_ptr<Workspace> make_workspace(uint32_t max_rows, uint32_t max_context,
                                            uint32_t max_adapters = 0) const;

  /// One token's row of the embedding, or of the head, as the decoder computes with it: config()'s
  /// hidden_size floats. REQUIRES: token < vocab_size; for the head, head_vocabulary().has(token).
  void embedding_row(uint32_t token, float* row) const;
  void head_row(uint32_t token, float* row) const;

  /// Calls use() with the matrix of a layer's slot as its file has it, in the file's type.
  void visit_in_file(uint32_t layer, const WeightSlot& slot,
                     const std::function<void(const tensor::TensorView&)>& use) const;

  /// Looks a folder of weights of the same configuration through while this decoder serves. Errors:
  /// MODEL_NOT_FOUND, MODEL_CORRUPT; MODEL_INVALID also for another configuration, and where the
  /// decoder has fixed activation scales, which are those of its weights.
  Result<WeightsUpdate> prepare_update(const std::string& folder) const;
  /// Streams the weights of an update over those of the decoder, in the same memory. An error means
  /// that the weights before were streamed back, or, where that failed too, that is_intact() is
  /// false. REQUIRES: nothing else is called meanwhile but digest(). Errors: MODEL_CORRUPT.
  Status update(WeightsUpdate update);
  /// False where the weights in memory are those of no model.
  bool is_intact() const;

  /// Runs all layers; afterwards the keys and values of the rows are in their views (the caller
  /// advances PromptKv::length), and `workspace` holds the final-norm hidden state of every row.
  /// REQUIRES: rows <= workspace rows; positions < config().max_positions.
  void forward(const ForwardBatch& batch, Workspace& workspace) const;

  /// The final-norm hidden states of rows [first, first + count) of the last forward(), [count]
  /// [hidden_size], good until the next.
  std::span<const float> hidden(const Workspace& workspace, uint32_t first, uint32_t count) const;

  /// False when a number of rows [first, first + count) of the last forward() is infinite or not a
  /// number. A fault in a row's keys and values shows here, because a row attends to itself.
  bool is_finite(const Workspace& workspace, uint32_t first, uint32_t count) const;

  /// Logits and log-sum-exps of rows of the last forward(), of all requests of the pass in one
  /// call: requests that follow each other and share their ids (the same memory), or that want
  /// log_sum_exp, are multiplied together. A row's bits are as when alone.
  /// REQUIRES: rows are of the last forward(), at most workspace rows in all; token ids are of
  /// head_vocabulary(), and log_sum_exp is wanted where that is whole only. Writes scratch of the
  /// workspace.
  void head(std::span<const HeadRequest> requests, Workspace& workspace) const;

  /// logits[i * token_ids.size() + j] = head row token_ids[j] . hidden(row rows[i]): head() of one
  /// request.
  void logits(Workspace& workspace, std::span<const uint32_t> rows,
              std::span<const int32_t> token_ids, std::span<float> logits) const;
  /// log sum exp over the whole vocabulary of each row: head() of one request.
  void log_sum_exp(Workspace& workspace, std::span<const uint32_t> rows,
                   std::span<float> result) const;

 private:
  struct Impl;
  /// Pass of a model with an encoder and a decoder (model/stacks.h).
  void forward_stacks(const ForwardBatch& batch, Workspace& workspace) const;
  explicit Decoder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::model
