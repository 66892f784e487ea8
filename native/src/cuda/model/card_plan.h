// The bytes that a pass copies to the card, and their layout. Private to the decoder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "cuda/kernels/block_kernels.h"
#include "cuda/kernels/multiply_kernels.h"
#include "cuda/kernels/row_kernels.h"
#include "cuda/model/card_adapters.h"
#include "cuda/model/card_pass.h"
#include "cuda/model/card_weights.h"

namespace tessera::model::cuda {

/// Low-rank terms of a product of a layer.
struct TermRange {
  const ops::cuda::Term* terms = nullptr;
  uint32_t count = 0;
  uint32_t rows_max = 0;  // of one of them
};

/// Sizes are rounded up, so that few shapes are met.
struct CardPlan {
  const uint16_t* const* embedded = nullptr;  // [rows]
  const uint32_t* positions = nullptr;
  const ops::cuda::Place* places = nullptr;
  const TesseraCardRows* prompts = nullptr;       // what each group sees of its prompt
  const attention::cuda::Rows* groups = nullptr;  // the same groups behind it
  const attention::cuda::MirroredRows* mirrors = nullptr;
  uint32_t rows = 0;
  uint32_t groups_max = 0;
  uint32_t mirror_count = 0;
  uint32_t splits = 0;
  uint32_t group_rows_max = 0;
  std::vector<std::array<TermRange, kProducts>> layers;  // none where no row has an adapter
  uint64_t bytes = 0;
};

/// Writes arrays one behind the other into the host's copy of a plan; the same places on the card.
class Staging {
 public:
  Staging(char* host, char* card, uint64_t bytes) : host_(host), card_(card), bytes_(bytes) {}
  template <typename T>
  T* reserve(uint64_t count) {
    const uint64_t at = padded(used_);
    TESSERA_CHECK(at + count * sizeof(T) <= bytes_);
    std::memset(host_ + at, 0, count * sizeof(T));
    used_ = at + count * sizeof(T);
    return reinterpret_cast<T*>(card_ + at);
  }
  template <typename T>
  T* add(std::span<const T> values) {
    T* const at = reserve<T>(values.size());
    put<T>(at, values);
    return at;
  }
  /// The beginning of an array that was reserved.
  template <typename T>
  void put(const T* at, std::span<const T> values) {
    if (values.empty()) return;
    std::memcpy(host_ + (reinterpret_cast<const char*>(at) - card_), values.data(),
                values.size_bytes());
  }
  uint64_t used() const { return used_; }

  static constexpr uint64_t kPadding = alignof(std::max_align_t);
  static constexpr uint64_t padded(uint64_t bytes) {
    return (bytes + kPadding - 1) / kPadding * kPadding;
  }

 private:
  char* host_;
  char* card_;
  uint64_t bytes_;
  uint64_t used_ = 0;
};

class CardPlanner {
 public:
  CardPlanner(const ModelConfig& config, const CardWeights& weights, const CardAdapters& adapters,
              CardPass& pass)
      : config_(config), weights_(weights), adapters_(adapters), pass_(pass) {}

  /// Lays a batch out in the memory's plan. Aborts when a group breaks what attention/kv_view.h
  /// says of it. Errors: ENGINE_OVERLOADED.
  Result<CardPlan> lay_out(const ForwardBatch& batch);

 private:
  uint64_t bytes_of(const ForwardBatch& batch) const;
  void add_group(const attention::RowGroup& group, Staging& staging, CardPlan& plan);
  void add_mirrors(const attention::RowGroup& group, const int64_t* blocks, Staging& staging);
  void add_adapters(const ForwardBatch& batch, Staging& staging, CardPlan& plan);
  ops::cuda::Place place_of(const attention::RowGroup& group, uint32_t row) const;
  void embed(const ForwardBatch& batch);

  const ModelConfig& config_;
  const CardWeights& weights_;
  const CardAdapters& adapters_;
  CardPass& pass_;
  std::vector<const uint16_t*> embedded_;
  std::vector<uint32_t> positions_;
  std::vector<ops::cuda::Place> places_;
  std::vector<TesseraCardRows> prompts_;
  std::vector<attention::cuda::Rows> groups_;
  std::vector<attention::cuda::MirroredRows> mirrors_;
  uint64_t parts_ = 0;  // of the groups so far
};

}  // namespace tessera::model::cuda
