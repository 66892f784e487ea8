#include "engine/engine.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/parts.h"

namespace tessera::engine {
namespace {

/// Time for blocks to reach the disk that are not there when the engine closes.
constexpr uint64_t kCloseFlushUs = 2'000'000;

/// Clears the flag on scope exit.
class Ended {
 public:
  explicit Ended(std::atomic<bool>& flag) : flag_(flag) {}
  ~Ended() { flag_ = false; }
  Ended(const Ended&) = delete;
  Ended& operator=(const Ended&) = delete;

 private:
  std::atomic<bool>& flag_;
};

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(const EngineOptions& options, CompletionSink& sink,
                                             OpenOnCard open_on_card) {
  TESSERA_RETURN_IF_ERROR(validate(options));
  EngineOptions fitted = options;
  const std::optional<uint32_t> card = card_of(options);
  if (card && open_on_card == nullptr) {
    return Status(Code::kEngineUnavailable,
                  "engineOpen.options.device: expected cpu (this program cannot use cards), got " +
                      options.device);
  }
  Result<EngineParts> parts = card ? open_on_card(fitted, *card) : open_on_processor(fitted);
  if (!parts.is_ok()) return parts.status();
  return open(fitted, std::move(parts).value(), sink);
}

std::unique_ptr<Engine> Engine::open(const EngineOptions& options, EngineParts parts,
                                     CompletionSink& sink) {
  return std::unique_ptr<Engine>(new Engine(options, std::move(parts), sink));
}

Engine::Engine(const EngineOptions& options, EngineParts parts, CompletionSink& sink)
    : options_(options),
      processor_(std::move(parts.processor)),
      decoder_(std::move(parts.decoder)),
      arena_(std::move(parts.arena)),
      sink_(sink),
      loop_counters_(std::move(parts.counters)),
      work_(parts.work),
      loop_(std::move(parts.loop)),
      front_(options_, *loop_, std::move(parts.pool), std::move(parts.model), parts.cost, work_),
      driver_(options_, front_, *loop_, *decoder_, sink_) {
  thread_ = std::thread([this] { driver_.run(); });
}

Engine::~Engine() { close(); }

SubmitOutcome Engine::submit(std::vector<Request> requests) {
  std::vector<Completion> refused;
  const SubmitOutcome outcome = front_.submit(std::move(requests), refused);
  work_->notify_one();
  for (Completion& completion : refused) sink_.complete(std::move(completion));
  return outcome;
}

void Engine::cancel(std::span<const uint32_t> tickets) {
  front_.cancel(tickets);
  work_->notify_one();
}

Result<std::shared_ptr<const lora::Adapter>> Engine::load_adapter(const std::string& folder,
                                                                  const lora::Limits& limits) {
  return arena_->load(folder, limits);
}

lora::ArenaUse Engine::adapter_arena() const { return arena_->use(); }

Result<UpdateReport> Engine::update_weights(const std::string& folder,
                                            std::chrono::microseconds wait_max) {
  if (is_updating_.exchange(true)) {
    return Status(Code::kEngineOverloaded, "weights update: another one is under way");
  }
  const Ended ended(is_updating_);
  Result<model::WeightsUpdate> prepared = decoder_->prepare_update(folder);
  if (!prepared.is_ok()) return prepared.status();
  PendingUpdate pending{std::move(prepared).value(), Clock::now(), Clock::now() + wait_max};
  const MutexLock no_loads(arena_->loading());
  if (const uint32_t adapters = arena_->use().adapters; adapters > 0) {
    return Status(Code::kModelInvalid, folder +
                                           ": expected no adapters in memory (they are of the "
                                           "weights that serve), got " +
                                           std::to_string(adapters));
  }
  return front_.update(pending);
}

void Engine::drain(std::chrono::microseconds budget) {
  const Clock::time_point end = Clock::now() + budget;
  front_.drain(budget);
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - Clock::now());
  // A flush that fails is counted in the pool's metrics: the pool is a cache.
  if (const auto pool = front_.pool(); pool != nullptr) {
    (void)pool->flush(static_cast<uint64_t>(std::max<int64_t>(left.count(), 0)));
  }
}

void Engine::close() {
  const MutexLock closing(close_mutex_);
  if (!thread_.joinable()) return;
  front_.stop();
  thread_.join();
  driver_.discard({Code::kEngineClosed, "the engine was closed"});
  // The folder is free for another engine from then on, unless an operation of the pool still runs.
  if (const auto pool = front_.release_pool(); pool != nullptr) (void)pool->flush(kCloseFlushUs);
}

Stats Engine::stats() const {
  Stats stats = front_.stats();
  stats.prefill_tokens = loop_counters_->prefill_tokens;
  stats.decode_tokens = loop_counters_->decode_tokens;
  stats.forward_passes = loop_counters_->forward_passes;
  stats.prefix_reused_tokens = loop_counters_->prefix_reused_tokens;
  stats.rolled_back_tokens = loop_counters_->rolled_back_tokens;
  stats.predicted_us = loop_counters_->predicted_us;
  stats.actual_us = loop_counters_->actual_us;
  stats.expert_rows = loop_counters_->expert_rows;
  stats.expert_places = loop_counters_->expert_places;
  stats.experts_touched = loop_counters_->experts_touched;
  return stats;
}

}  // namespace tessera::engine
