// The decoder language model, whichever device computes it: shared by all requests and threads,
// immutable except during update(), when no pass may run. Numbers in, numbers out; it knows nothing
// of beams, catalogues or scheduling. All mutable memory is in PassMemory and in the caller's KV
// views, which lie in memory().
//
// Implementations: ProcessorDecoder, cuda::CardDecoder.
//
// Every output element is reduced in an order fixed by its own inputs alone, never by batch, chunk
// or thread count: results are bit-identical alone and in any batch (DESIGN section 6.6).
//
// Errors of passes: ENGINE_UNAVAILABLE once the device has failed, for good; ENGINE_OVERLOADED
// where it lacked memory for this pass. A processor has none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "attention/kv_view.h"
#include "base/status.h"
#include "device/device.h"
#include "model/adapter.h"
#include "model/compute_type.h"
#include "model/forward_batch.h"
#include "model/head_vocabulary.h"
#include "model/pass_memory.h"
#include "model/recipe.h"
#include "model/weights.h"
#include "ops/head.h"

namespace tessera::model {

/// Rows of one request whose logits are wanted.
struct HeadRequest {
  std::span<const uint32_t> rows;           // of the last forward()
  std::span<const ops::HeadTokens> tokens;  // sets of token ids; logits are [rows][ids]
  float* log_sum_exp = nullptr;             // one per row when wanted
  const Adapter* adapter = nullptr;         // that the rows ran with
};

/// An adapter's numbers on a device, which are given back with it. Passes may run with the adapter
/// while it is held. May outlive the decoder. Any thread.
class HeldAdapter {
 public:
  virtual ~HeldAdapter() = default;
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  virtual const Recipe& recipe() const = 0;
  virtual ComputeType compute_type() const = 0;
  virtual const HeadVocabulary& head_vocabulary() const = 0;
  const ModelConfig& config() const { return recipe().config(); }
  /// Instruction set or card that computes, e.g. "cpu/avx512".
  virtual std::string device_name() const = 0;
  /// Content digest (hex) of configuration and weights: part of the KV identity.
  virtual std::string digest() const = 0;
  /// The settings that decide the bits of keys and values beside the weights: compute type, numeric
  /// class of the device, fixed activation scales. The other part of the KV identity.
  virtual const std::string& numbers() const = 0;
  /// Bytes that the weights take.
  virtual uint64_t weight_bytes() const = 0;

  /// Where the keys and values of beams lie, as forward() reads and writes them.
  virtual device::MemorySpace& memory() const = 0;
  /// Layout of a block of the prompt's keys and values (attention::kBlockPositions positions).
  virtual attention::BlockLayout block_layout() const = 0;
  /// Bytes of keys and values per position over the layers that have them, without a block's
  /// padding.
  uint64_t kv_bytes_per_position() const;
  /// Bytes of keys and values of one row of beams, and of tokens in their place.
  uint64_t slot_bytes() const;
  /// Bytes of a prompt's state, with room to align it; 0: the model has none.
  uint64_t state_bytes() const;
  /// The state of an empty prompt in `memory`, which has state_bytes() and outlives it.
  attention::DeltaState zero_state(device::Buffer& memory) const;
  /// Zeroes positions [first, first + count) of a prompt's blocks, so that none reads what a pass
  /// that was taken back has left there.
  virtual Status clear(const attention::PromptKv& prompt, uint32_t first, uint32_t count) const = 0;

  /// REQUIRES: max_rows > 0. Allocates everything forward() and head() need for up to max_rows
  /// rows, in up to max_adapters stretches with an adapter, and prompts of up to max_context
  /// positions. Errors: ENGINE_OVERLOADED.
  virtual Result<std::unique_ptr<PassMemory>> make_memory(uint32_t max_rows, uint32_t max_context,
                                                          uint32_t max_adapters) const = 0;

  /// One token's row of the embedding, or of the head, as the decoder computes with it: config()'s
  /// hidden_size floats. REQUIRES: token < vocab_size; for the head, head_vocabulary().has(token).
  virtual void embedding_row(uint32_t token, float* row) const = 0;
  virtual void head_row(uint32_t token, float* row) const = 0;
  /// Calls use() with the matrix of a layer's slot as its file has it, in the file's type.
  virtual void visit_in_file(uint32_t layer, const WeightSlot& slot,
                             const std::function<void(const tensor::TensorView&)>& use) const = 0;
  /// Puts an adapter, which outlives the result, where passes read it; null where they read it in
  /// place. Any thread, also beside passes. Errors: ENGINE_OVERLOADED,
  /// ENGINE_UNAVAILABLE.
  virtual Result<std::unique_ptr<HeldAdapter>> hold(const Adapter& adapter) const = 0;

  /// Looks a folder of weights of the same configuration through while this decoder serves. Errors:
  /// MODEL_NOT_FOUND, MODEL_CORRUPT; MODEL_INVALID also for another configuration, and where the
  /// decoder has fixed activation scales, which are those of its weights.
  virtual Result<WeightsUpdate> prepare_update(const std::string& folder) const = 0;
  /// Streams the weights of an update over those of the decoder, in the same memory. An error means
  /// that the weights before were streamed back, or, where that failed too, that is_intact() is
  /// false. REQUIRES: nothing else is called meanwhile but digest(). Errors: MODEL_CORRUPT.
  virtual Status update(WeightsUpdate update) = 0;
  /// False where the weights in memory are those of no model.
  virtual bool is_intact() const = 0;

  /// Runs all layers, or asks for them; afterwards the keys and values of the rows are in their
  /// views (the caller advances PromptKv::length), and `memory` holds the final-norm hidden state
  /// of every row. The batch may go when it returns, its views and adapters after is_finite().
  /// REQUIRES: rows <= rows of the memory; positions < config().max_positions.
  virtual Status forward(const ForwardBatch& batch, PassMemory& memory) const = 0;
  /// Waits for the last forward(). False when a number of its rows [first, first + count) is
  /// infinite or not a number. A fault in a row's keys and values shows here, because a row attends
  /// to itself.
  virtual Result<bool> is_finite(PassMemory& memory, uint32_t first, uint32_t count) const = 0;
  /// The final-norm hidden states of rows [first, first + count) of the last forward(), [count]
  /// [hidden_size], good until the next call of hidden() or forward().
  virtual Result<std::span<const float>> hidden(PassMemory& memory, uint32_t first,
                                                uint32_t count) const = 0;
  /// Logits and log-sum-exps of rows of the last forward(), of all requests of the pass in one
  /// call: requests that follow each other and share their ids (the same memory), or that want
  /// log_sum_exp, are multiplied together. A row's bits are as when alone.
  /// REQUIRES: rows are of the last forward(), at most those of the memory in all; token ids are of
  /// head_vocabulary(), and log_sum_exp is wanted where that is whole only. Writes scratch of the
  /// memory.
  virtual Status head(std::span<const HeadRequest> requests, PassMemory& memory) const = 0;

  /// logits[i * token_ids.size() + j] = head row token_ids[j] . hidden(row rows[i]): head() of one
  /// request.
  Status logits(PassMemory& memory, std::span<const uint32_t> rows,
                std::span<const int32_t> token_ids, std::span<float> logits) const;
  /// log sum exp over the whole vocabulary of each row: head() of one request.
  Status log_sum_exp(PassMemory& memory, std::span<const uint32_t> rows,
                     std::span<float> result) const;

 protected:
  Decoder() = default;
  /// MODEL_INVALID where `config` is not that of the weights that serve.
  Status check_same(const std::string& folder, const ModelConfig& config) const;
};

}  // namespace tessera::model
