// One request's recall on a card: prompt, then per level head, search step, fork and forward pass,
// all asked for without waiting; the host sees the finished paths at the end.
//
// Thread-safety: one thread at a time, that of the queue. Decoder and catalogue outlive it.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "beam/select.h"
#include "cuda/engine/card_catalogue.h"
#include "cuda/kernels/select_kernels.h"
#include "cuda/model/card_decoder.h"

namespace tessera::engine::cuda {

struct CardRecallLimits {
  uint32_t context = 0;   // tokens of a prompt
  uint32_t width = 0;     // at most beam::cuda::kBeamsMax and what the decoder takes
  uint32_t keys_max = 0;  // candidates of a step
};

struct CardRecallRequest {
  std::span<const int32_t> prompt;
  std::span<const uint32_t> widths;      // per step; the last holds for all further ones
  const CardVersion* version = nullptr;  // of the recall's catalogue
  const catalogue::Eligibility* eligibility = nullptr;  // of the version's view; null: all items
  beam::ScoreNorm norm = beam::ScoreNorm::kFull;
};

class CardRecall {
 public:
  /// Errors: REQUEST_INVALID for a width out of bounds; ENGINE_OVERLOADED.
  static Result<std::unique_ptr<CardRecall>> make(const CardRecallLimits& limits,
                                                  model::cuda::CardDecoder& decoder,
                                                  const CardCatalogue& catalogue,
                                                  device::cuda::Queue& queue);
  CardRecall(const CardRecall&) = delete;
  CardRecall& operator=(const CardRecall&) = delete;

  /// Paths that end at items, of all levels, in the order in which they were found. Errors:
  /// REQUEST_INVALID for an empty or too long prompt or a width of 0 or beyond the limit;
  /// ENGINE_OVERLOADED for more candidates than keys_max; what the queue says.
  Result<std::vector<beam::Finished>> search(const CardRecallRequest& request);

 private:
  CardRecall(const CardRecallLimits& limits, model::cuda::CardDecoder& decoder,
             const CardCatalogue& catalogue, device::cuda::Queue& queue)
      : limits_(limits), decoder_(decoder), catalogue_(catalogue), queue_(queue) {}

  Status allocate();
  Status check(const CardRecallRequest& request) const;
  Status begin(const CardRecallRequest& request);
  /// Returns the last row of the last pass.
  Result<uint32_t> prefill(std::span<const int32_t> prompt);
  Status choose(uint32_t index, uint32_t first_row, uint32_t rows, uint32_t width);
  Status go_on(uint32_t index, uint32_t prompt_length, uint32_t rows);
  /// Selections of a search, numbered from 0: one per level, then one per terminal token.
  uint32_t step_count() const { return catalogue_.depth() + catalogue_.terminal_count(); }
  uint32_t level_of(uint32_t index) const { return std::min(index, catalogue_.depth()); }
  uint32_t level_size(uint32_t index) const {
    return index < catalogue_.depth() ? catalogue_.level_size(index) : 0;
  }
  Result<std::vector<beam::Finished>> collect();

  CardRecallLimits limits_;
  model::cuda::CardDecoder& decoder_;
  const CardCatalogue& catalogue_;
  device::cuda::Queue& queue_;
  device::cuda::Memory memory_, eligible_;
  std::vector<uint16_t*> blocks_;  // of the prompt, on the card
  beam::cuda::Search search_;      // but for what differs from step to step
  beam::cuda::Search* card_search_ = nullptr;
  uint32_t* row_numbers_ = nullptr;  // 0, 1, 2, ...
  float* logits_ = nullptr;
  int32_t* tokens_ = nullptr;
  uint32_t* ancestors_[2] = {nullptr, nullptr};  // by step % 2
  uint16_t* own_keys_ = nullptr;
  uint16_t* own_values_ = nullptr;
};

}  // namespace tessera::engine::cuda
