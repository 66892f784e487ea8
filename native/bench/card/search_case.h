// One request's search on a card over random logits, a step at a time, with the CPU's beside it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "beam/select.h"
#include "card/bench_card.h"
#include "cuda/engine/card_catalogue.h"
#include "cuda/kernels/select_kernels.h"

namespace tessera::bench::card {

/// No fewer than the candidates of the widest step that `width` beams can have.
uint32_t candidates_max(const catalogue::View& view, uint32_t width);

class SearchCase {
 public:
  /// `version`: of the view, as the catalogue has it on the card.
  SearchCase(BenchCard& card, std::shared_ptr<const catalogue::View> view,
             const engine::cuda::CardCatalogue& catalogue,
             std::shared_ptr<const engine::cuda::CardVersion> version, uint32_t width);

  Status allocate();
  /// Draws the logits of the next step and puts all that it reads on the card.
  Status prepare(uint64_t seed);
  /// The same for the same step again: what a step has changed is put back.
  Status put_back();
  /// The step's launches.
  Status run();
  /// Fails where the step on the card is not the CPU's to the bit; else both go on.
  Status check_and_advance();

 private:
  uint32_t beam_count() const { return static_cast<uint32_t>(beams_.nodes.size()); }

  BenchCard& card_;
  catalogue::Reach reach_;
  const engine::cuda::CardCatalogue& catalogue_;
  std::shared_ptr<const engine::cuda::CardVersion> version_;
  uint32_t width_, keys_max_;
  uint32_t level_ = 0, level_size_ = 0;
  beam::Beams beams_;
  std::vector<float> logits_, norms_;
  std::vector<uint32_t> order_;  // of the beams before the step
  Memory memory_;
  beam::cuda::Search search_;
  beam::cuda::Search* card_search_ = nullptr;
  float* card_logits_ = nullptr;
  float* card_norms_ = nullptr;
};

}  // namespace tessera::bench::card
