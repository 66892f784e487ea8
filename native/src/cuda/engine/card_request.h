// A running request on a card: the prompt's blocks, read and written in place, and its search. The
// host's part of it counts rows and selections; what they give is on the card until it is asked
// for.
#pragma once

#include <memory>
#include <vector>

#include "cuda/engine/card_search.h"
#include "engine/running_request.h"

namespace tessera::engine::cuda {

/// A request's catalogue on the card.
struct CardTarget {
  std::shared_ptr<const Binding> binding;
  std::shared_ptr<CardCatalogue> catalogue;
  std::shared_ptr<const CardVersion> version;
};

class CardRequest final : public RunningRequest {
 public:
  CardRequest(model::cuda::CardDecoder& decoder, device::cuda::Queue& queue, kv::Pool& pool,
              KvBudget& budget)
      : RunningRequest(decoder.config(), pool, budget), search_(decoder, queue) {}
  ~CardRequest() override { drop_buffers(); }

  /// Memory for the request's search and blocks for its prompt. Errors: ENGINE_OVERLOADED when
  /// there is no room now; no blocks are held then.
  Status reserve(const Request& request, const CardTarget& target);
  /// REQUIRES: reserve() for the same request. `slot`: its number among those that run.
  Status begin(Request request, CardTarget target, uint32_t slot, Clock::time_point now);

  uint32_t slot() const { return slot_; }
  uint32_t pending_rows() const override { return rows_; }
  CardSearch& search() { return search_; }
  /// Appends the rows of a slice: prompt tokens, or places for as many as there may be beams, which
  /// fork() fills.
  void append_rows(const scheduler::Slice& slice, std::vector<int32_t>& tokens,
                   std::vector<model::cuda::CardRows>& groups);
  Status fork(int32_t* tokens) { return search_.fork(step_ - 1, rows_, tokens); }
  /// The slice's rows have been asked for; the last stands before row `end` of the pass.
  void rows_asked(const scheduler::Slice& slice, uint32_t end);
  /// Products with rows of the head in the coming selection.
  scheduler::HeadWork head_work() const;
  /// The coming selection's logits; its candidates are then chosen by select_next().
  Status head(const uint32_t* row_numbers);
  /// The selection has been asked for.
  Status chosen();

  /// Takes what has finished so far from the card, which must have done all that was asked for.
  Status collect();
  void release() override;
  /// Gives the search's memory back too. REQUIRES: released.
  void drop_buffers();

 private:
  CardSearch search_;
  CardTarget target_;
  std::vector<uint16_t*> blocks_;  // of the prompt, on the card
  uint64_t counted_bytes_ = 0;     // of the search, in the budget
  uint32_t slot_ = 0;
  uint32_t rows_ = 0;      // of the next pass of beams
  uint32_t due_rows_ = 1;  // whose logits are due
};

}  // namespace tessera::engine::cuda
