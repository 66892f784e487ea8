// Recalls on a card as the engine makes them: the one place of card_bench that knows how.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "card/bench_card.h"
#include "card/shapes.h"
#include "engine/cuda/card_recall.h"

namespace tessera::bench::card {

using Paths = std::vector<beam::Finished>;  // of one recall

struct RecallSetting {
  Shape shape;
  std::string cache;
  uint32_t items = 0;
  uint32_t context = 0;  // the longest prompt
  uint32_t width = 0;
};

class Recalls {
 public:
  /// Errors: those of model_folder, random_catalogue, CardDecoder and CardRecall.
  static Result<std::unique_ptr<Recalls>> open(BenchCard& card, const RecallSetting& setting);

  /// Recalls of prompts that come at once: one after the other, as the engine's loop does not run
  /// on cards yet.
  Result<std::vector<Paths>> run(std::span<const std::vector<int32_t>> prompts);
  /// Fails where paths are too few, out of order, not finite or do not end at an item.
  Status check(const Paths& paths) const;
  uint64_t weight_bytes() const { return decoder_->weight_bytes(); }

 private:
  explicit Recalls(const RecallSetting& setting) : setting_(setting) {}

  RecallSetting setting_;
  std::shared_ptr<const catalogue::Snapshot> snapshot_;
  std::unique_ptr<model::cuda::CardDecoder> decoder_;
  std::unique_ptr<engine::cuda::CardCatalogue> catalogue_;
  std::shared_ptr<const engine::cuda::CardVersion> version_;
  std::unique_ptr<engine::cuda::CardRecall> recall_;
};

}  // namespace tessera::bench::card
