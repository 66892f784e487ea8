// Recalls on a card as the engine makes them: the one place of card_bench that knows how.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "card/bench_card.h"
#include "card/shapes.h"
#include "engine/engine.h"

namespace tessera::bench::card {

struct RecallSetting {
  Shape shape;
  std::string cache;
  uint32_t items = 0;
  uint32_t context = 0;  // the longest prompt
  uint32_t width = 0;
  uint32_t requests = 0;  // that may run together
};

class Recalls {
 public:
  /// An engine without a pool of users, so that every prompt is computed. Errors: those of
  /// model_folder, random_catalogue and engine::cuda::open_on_card.
  static Result<std::unique_ptr<Recalls>> open(BenchCard& card, const RecallSetting& setting);
  ~Recalls();
  Recalls(const Recalls&) = delete;
  Recalls& operator=(const Recalls&) = delete;

  /// Recalls of prompts that come at once, which share passes; answers in the order of the prompts.
  Result<std::vector<beam::Exported>> run(std::span<const std::vector<int32_t>> prompts);
  /// Asks for one recall without waiting for it.
  Status ask(uint32_t ticket, std::vector<int32_t> prompt);
  struct Answered {
    beam::Exported answer;
    engine::Clock::time_point when;
  };
  /// Waits until so many have been answered since the last call. Errors: those of a recall.
  Result<std::map<uint32_t, Answered>> wait_for(size_t count);
  /// Fails where paths are too few, out of order, not finite or without an item.
  Status check(const beam::Exported& answer) const;

 private:
  explicit Recalls(const RecallSetting& setting) : setting_(setting) {}

  /// Keeps what the engine's thread tells.
  class Sink final : public engine::CompletionSink {
   public:
    void complete(engine::Completion completion) override;
    Result<std::map<uint32_t, Answered>> wait_for(size_t count);

   private:
    Mutex mutex_;
    std::condition_variable arrived_;
    Status failed_;
    std::map<uint32_t, Answered> answered_;
    size_t completed_ = 0;
  };

  RecallSetting setting_;
  std::shared_ptr<const engine::Binding> binding_;
  uint64_t path_count_ = 0;
  Sink sink_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace tessera::bench::card
