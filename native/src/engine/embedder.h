// A model of texts with what its passes need: threads, memory, and the rule that recalls go first.
// The caller (libs/service/embedding) fills passes; the embedder checks each one and runs it whole.
//
// Thread-safety: any thread; passes of one embedder wait for each other.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "model/text_model.h"

namespace tessera::engine {

inline constexpr uint32_t kEmbedRowsMax = 1u << 16;   // of a pass
inline constexpr uint32_t kEmbedTextsMax = 1u << 12;  // of a pass

struct EmbedderOptions {
  std::string model_path;
  model::ComputeType compute_type = model::ComputeType::kF32;
  uint32_t thread_count = 1;  // 1..kThreadCountMax
  uint32_t rows_max = 1;      // tokens of a pass, 1..kEmbedRowsMax
  uint32_t texts_max = 1;     // of a pass, 1..kEmbedTextsMax
};

struct EmbeddedPass {
  std::vector<float> vectors;  // [texts][dimension]
  double compute_us = 0;       // microseconds, without those in which it gave way to requests
};

struct MeasuredTexts {
  std::string path;   // of the file of static scales
  uint64_t rows = 0;  // that were measured
};

class Embedder {
 public:
  /// Errors: REQUEST_INVALID naming the field; those of TextModel::load; ENGINE_OVERLOADED.
  static Result<std::unique_ptr<Embedder>> open(const EmbedderOptions& options);

  const model::TextModel& model() const { return model_; }
  /// Tokens of a text at most: the model's positions, and a pass's rows.
  uint32_t tokens_max() const;

  /// Vectors of texts [offsets[i], offsets[i + 1]) of `tokens`, in one pass. `seconds`: per text
  /// the place in it from which on its tokens are of the second segment; empty: no text has one.
  /// Between the parts of its loops it gives way to requests that engines of this process compute.
  /// Blocks. Errors: REQUEST_INVALID for an empty text, a token that the vocabulary has not, more
  /// than a pass takes; MODEL_NOT_FINITE.
  Result<EmbeddedPass> embed(std::span<const int32_t> tokens, std::span<const uint32_t> offsets,
                             std::span<const uint32_t> seconds = {});

  /// Passes over all texts, given as for embed() and of as many passes as they need, and writes the
  /// static scales of what entered the encoder's products beside its checkpoint
  /// (model/static_scales.h). Blocks. Errors: those of embed(); REQUEST_INVALID where the compute
  /// type is not kF32; MODEL_INVALID for a model that cannot have static scales; IO_FAILED.
  Result<MeasuredTexts> measure(std::span<const int32_t> tokens, std::span<const uint32_t> offsets);

 private:
  Embedder(std::unique_ptr<device::Device> device, model::TextModel model,
           std::unique_ptr<model::TextWorkspace> workspace,
           std::unique_ptr<std::atomic<int64_t>> given_ns, const EmbedderOptions& options)
      : given_ns_(std::move(given_ns)),
        device_(std::move(device)),
        model_(std::move(model)),
        options_(options),
        workspace_(std::move(workspace)) {}
  Status check_texts(std::span<const int32_t> tokens, std::span<const uint32_t> offsets) const;
  Status check(std::span<const int32_t> tokens, std::span<const uint32_t> offsets) const;

  /// Nanoseconds for which threads gave way in this pass, all together. Outlives the device.
  const std::unique_ptr<std::atomic<int64_t>> given_ns_;
  const std::unique_ptr<device::Device> device_;  // outlives the model
  const model::TextModel model_;
  const EmbedderOptions options_;
  Mutex mutex_;
  std::unique_ptr<model::TextWorkspace> workspace_ GUARDED_BY(mutex_);
};

}  // namespace tessera::engine
