// New weights for an engine that serves: looked through beside it, then, between two batches,
// streamed into the memory of the old ones.
#include <utility>

#include "engine/engine.h"

namespace tessera::engine {

Result<UpdateReport> Engine::update_weights(const std::string& folder,
                                            std::chrono::microseconds wait_max) {
  const std::unique_lock updating(update_mutex_, std::try_to_lock);
  if (!updating.owns_lock()) {
    return Status(Code::kEngineOverloaded, "another update of the weights is under way");
  }
  if (decoder_ == nullptr) {
    return Status(Code::kModelInvalid, folder + ": weights are not changed in place on a card");
  }
  Result<model::WeightsUpdate> prepared = decoder_->prepare_update(folder);
  if (!prepared.is_ok()) return prepared.status();
  PendingUpdate pending{std::move(prepared).value(), Clock::now(), Clock::now() + wait_max};
  const std::unique_lock<std::mutex> no_loads = arena_->hold_loads();
  if (const uint32_t adapters = arena_->use().adapters; adapters > 0) {
    return Status(Code::kModelInvalid, folder +
                                           ": expected no adapters in memory (they are of the "
                                           "weights that serve), got " +
                                           std::to_string(adapters));
  }
  std::unique_lock lock(mutex_);
  if (draining_ || stopping_) return Status(Code::kEngineClosed, "the engine is closing");
  if (pending.update.digest() == model_.digest) {
    return UpdateReport{model_.digest, weights_generation_, 0, 0};
  }
  pending_update_ = &pending;
  work_->notify_one();
  idle_.wait(lock, [&] { return pending_update_ == nullptr; });
  if (!pending.status.is_ok()) return pending.status;
  return pending.report;
}

UpdateReport Engine::weights() const {
  const std::lock_guard lock(mutex_);
  return {model_.digest, weights_generation_, 0, 0};
}

/// Tells who waits in update_weights(). REQUIRES: mutex_ held.
void Engine::end_update(Status status) {
  if (pending_update_ == nullptr) return;
  pending_update_->status = std::move(status);
  pending_update_ = nullptr;
  idle_.notify_all();
}

/// Where the weights shall change: lets nobody in, and changes them once nobody runs. True while
/// admission has to wait. Called on the engine's thread. REQUIRES: `lock` holds mutex_.
bool Engine::attend_to_update(std::unique_lock<std::mutex>& lock) {
  PendingUpdate* pending = pending_update_;
  if (pending == nullptr) return false;
  const Clock::time_point now = Clock::now();
  if (loop_->running() > 0) {
    if (now < pending->give_up) return true;
    end_update({Code::kDeadlineExceeded,
                "the requests that run did not end in the time that an update may wait"});
    return false;
  }
  // Prefetches are of the old weights. New ones are not begun: see prefetch().
  gate_.clear();
  is_swapping_ = true;
  lock.unlock();
  Status status = decoder_->update(std::move(pending->update));
  lock.lock();
  is_swapping_ = false;
  if (status.is_ok()) {
    ++weights_generation_;
    model_.digest = decoder_->digest();
    versions_.renew(*pool_, model_);
  } else if (!decoder_->is_intact()) {
    broken_ = {Code::kEngineUnavailable,
               "an update of the weights failed, and so did putting the old ones back"};
    status =
        Status(Code::kEngineUnavailable, broken_.message() + "; the fault: " + status.message());
  }
  const auto microseconds = [](Clock::duration time) {
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(time).count());
  };
  pending->report = {model_.digest, weights_generation_, microseconds(now - pending->asked),
                     microseconds(Clock::now() - now)};
  end_update(std::move(status));
  return false;
}

}  // namespace tessera::engine
