// One request's search on a card: its beams, their keys and values, and what has finished, all in
// one allocation there. The host asks for steps without waiting and plans with as many beams as
// there can be; it sees the finished paths when it asks for them.
//
// Selections are numbered from 0: one per level, then one per terminal token.
//
// Thread-safety: one thread at a time, that of the queue. Decoder and queue outlive it.
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

/// The state of a search.
struct CardFindings {
  std::vector<beam::Finished> finished;  // of all levels, in the order in which they were found
  std::vector<uint32_t> widths_used;     // per selection: next beams, or paths finished if more
};

/// One step of the search of several requests, whose `searches` lie one behind the other on the
/// card; `keys_max` is that of the largest.
Status select_next(device::cuda::Queue& queue, const beam::cuda::Search* searches, uint32_t count,
                   uint32_t keys_max, bool has_other_norms);

class CardSearch {
 public:
  CardSearch(model::cuda::CardDecoder& decoder, device::cuda::Queue& queue)
      : decoder_(decoder), queue_(queue) {}
  CardSearch(const CardSearch&) = delete;
  CardSearch& operator=(const CardSearch&) = delete;

  /// Bytes that reserve() takes.
  uint64_t bytes(uint32_t width, uint32_t keys_max, const CardCatalogue& catalogue);
  /// Memory for a search of up to `width` beams with up to `keys_max` candidates in a step; what
  /// there is serves where it suffices. The catalogue outlives the search. Errors:
  /// ENGINE_OVERLOADED, and nothing is held then.
  Status reserve(uint32_t width, uint32_t keys_max, const CardCatalogue& catalogue);
  void drop() {
    memory_ = {};
    bytes_ = eligible_bytes_ = 0;
    eligible_ = {};
  }
  uint64_t bytes_held() const { return bytes_ + eligible_bytes_; }
  /// Candidates of a step at most.
  static uint32_t keys_max(uint32_t width, const CardCatalogue& catalogue,
                           const CardVersion& version);

  /// REQUIRES: reserve(). Errors: ENGINE_OVERLOADED.
  Status begin(std::shared_ptr<const CardVersion> version, beam::ScoreNorm norm,
               const catalogue::Eligibility* eligibility);
  /// Asks for the logits of selection `index`: `rows` rows of the last pass from `first_row` on.
  /// step() is then the selection's, of so many candidates kept.
  Status head(uint32_t index, const uint32_t* row_numbers, uint32_t first_row, uint32_t rows,
              uint32_t width);
  const beam::cuda::Search& step() const { return step_; }
  /// Keeps what selection `index` has come to. After select_next().
  Status note(uint32_t index);
  /// Rows for all beams that there can be after a selection that keeps `width` candidates; 0 after
  /// the last.
  uint32_t rows_after(uint32_t index, uint32_t width) const;
  /// Writes the tokens of the rows behind selection `index`. After note().
  Status fork(uint32_t index, uint32_t rows, int32_t* tokens);
  /// These rows, for the pass that follows fork().
  model::cuda::CardRows rows(std::span<uint16_t* const> blocks, uint32_t prompt_length,
                             uint32_t index, uint32_t rows) const;
  /// Of selections up to `index`; waits for them. Errors: ENGINE_OVERLOADED for more candidates
  /// than keys_max; what the queue says.
  Result<CardFindings> collect(uint32_t index);
  uint32_t step_count() const { return catalogue_->depth() + catalogue_->terminal_count(); }
  uint32_t keys_max() const { return search_.keys_max; }
  /// Lets the version go. REQUIRES: nothing of the search is under way.
  void end() { version_.reset(); }

 private:
  uint64_t lay(char* base, uint32_t width, uint32_t keys_max, const CardCatalogue& catalogue);
  uint32_t level_of(uint32_t index) const { return std::min(index, catalogue_->depth()); }
  uint32_t level_size(uint32_t index) const {
    return index < catalogue_->depth() ? catalogue_->level_size(index) : 0;
  }

  model::cuda::CardDecoder& decoder_;
  device::cuda::Queue& queue_;
  const CardCatalogue* catalogue_ = nullptr;
  std::shared_ptr<const CardVersion> version_;
  device::cuda::Memory memory_, eligible_;
  uint64_t bytes_ = 0, eligible_bytes_ = 0;
  uint32_t width_ = 0;
  beam::cuda::Search search_;  // but for what differs from step to step
  beam::cuda::Search step_;
  beam::cuda::State* states_ = nullptr;  // [selections]: as each left it
  float* logits_ = nullptr;
  uint32_t* ancestors_[2] = {nullptr, nullptr};  // by step % 2
  uint16_t* own_keys_ = nullptr;
  uint16_t* own_values_ = nullptr;
};

}  // namespace tessera::engine::cuda
