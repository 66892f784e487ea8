// An adapter on a card: what a pass reads of it (ops/cuda/low_rank_kernels.h), in BF16. Numbers
// only, as model/adapter.h; who reads and checks an adapter's files gives them.
//
// Thread-safety: immutable; made and let go on the queue's thread. The queue outlives it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/cuda/queue.h"
#include "model/model_config.h"
#include "ops/cuda/low_rank_kernels.h"

namespace tessera::model::cuda {

/// The matrices of a layer that may have factors; number `layer * kMatrices + matrix` of the
/// model's.
enum class Matrix : uint32_t { kQ, kK, kV, kO, kGate, kUp, kDown };
inline constexpr uint32_t kMatrices = 7;

/// Of one matrix of one layer.
struct AdapterFactors {
  uint32_t layer = 0;
  Matrix matrix = Matrix::kQ;
  uint32_t rank = 0;
  std::vector<float> a;  // [rank][inputs]
  std::vector<float> b;  // [outputs][rank], the scale within
};

/// Rows in place of the model's.
struct AdapterTableRows {
  std::vector<int32_t> ids;  // ascending
  std::vector<float> rows;   // [ids][hidden]
};

struct AdapterNumbers {
  std::vector<AdapterFactors> factors;  // no matrix twice
  AdapterTableRows embedding, head;
};

class CardAdapter {
 public:
  /// Errors: ADAPTER_INVALID naming layer and matrix or table where a size is not the model's, a
  /// rank is 0 or beyond kRankMax, or IDs are not ascending tokens; ENGINE_OVERLOADED.
  static Result<std::shared_ptr<const CardAdapter>> copy(const AdapterNumbers& numbers,
                                                         const ModelConfig& config,
                                                         device::cuda::Queue& queue);

  /// Rows [first, first + rows) of a pass that run with it.
  ops::cuda::AdaptedRows adapt(uint32_t first, uint32_t rows) const {
    return {first, rows, matrices_, embedding_, head_};
  }
  uint64_t bytes() const { return bytes_; }

 private:
  CardAdapter() = default;

  device::cuda::Memory memory_;
  uint64_t bytes_ = 0;
  ops::cuda::LowRank* matrices_ = nullptr;  // [layers * kMatrices], on the card
  ops::cuda::ReplacedRows embedding_, head_;
};

}  // namespace tessera::model::cuda
