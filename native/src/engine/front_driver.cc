// The driver's side of the front.
#include <utility>

#include "engine/front.h"

namespace tessera::engine {

bool Front::has_news() const {
  return is_stopping_ || !arrived_.empty() || !cancelled_.empty() || pending_update_ != nullptr;
}

void Front::take_locked(Taken& taken) {
  taken.arrived.clear();
  taken.arrived.swap(arrived_);
  taken.cancelled.assign(cancelled_.begin(), cancelled_.end());
  cancelled_.clear();
  taken.update = pending_update_;
  taken.broken = broken_;
}

bool Front::wait(bool is_busy, Taken& taken) {
  MutexLock lock(mutex_);
  lock.wait(*work_, [&]() REQUIRES(mutex_) { return is_busy || has_news(); });
  if (is_stopping_) return false;
  take_locked(taken);
  return true;
}

void Front::take(Taken& taken) {
  const MutexLock lock(mutex_);
  take_locked(taken);
}

void Front::wait_for_blocks(std::chrono::microseconds most) {
  MutexLock lock(mutex_);
  if (!has_news()) lock.wait_for(*work_, most);
}

void Front::left_queue(uint8_t priority, double alone_us) {
  const MutexLock lock(mutex_);
  tally_.remove(priority, alone_us);
}

Front::Turn Front::turn_of(const RequestQueue::Waiting& waiting, Clock::time_point now) const {
  const double left_us =
      std::chrono::duration<double, std::micro>(waiting.request.deadline - now).count();
  const MutexLock lock(mutex_);
  return {versions_.now(waiting.request.kv.version),
          admission_.is_too_late(waiting.alone_us, left_us)};
}

bool Front::is_ready(RequestQueue::Waiting& waiting, Clock::time_point now) {
  Request& request = waiting.request;
  PoolVersions of_pool;
  scheduler::PassCost cost;
  {
    const MutexLock lock(mutex_);
    of_pool = versions_.now(request.kv.version);
    cost = admission_.cost();
  }
  return gate_.is_ready(request, waiting.blocks, of_pool, now, cost);
}

void Front::note_running(size_t running, size_t loading) {
  const MutexLock lock(mutex_);
  counters_.running = running;
  loading_ = loading;
}

void Front::note_progress(const scheduler::PassCost& cost, double left_us, double sharing_rate,
                          const Status& health) {
  const MutexLock lock(mutex_);
  admission_.note_progress(cost, left_us, sharing_rate);
  if (broken_.is_ok()) broken_ = health;
}

void Front::begin_delivery(std::span<Completion> completed, size_t running) {
  const Clock::time_point now = Clock::now();
  const MutexLock lock(mutex_);
  for (Completion& completion : completed) {
    completion.weights_generation = weights_generation_;  // no request ran while they changed
    // The ticket is the caller's again as soon as its completion can be seen.
    if (const auto ended = in_flight_.extract(completion.ticket); !ended.empty()) {
      admission_.note_ended(ended.mapped().admitted, completion.status, now);
      const bool has_searched = completion.status.is_ok() && completion.rows > 0;
      if (has_searched) forecast_.observe(ended.mapped().row_kind, completion.rows);
    }
    cancelled_.erase(completion.ticket);
    switch (completion.status.code()) {
      case Code::kOk: ++counters_.completed; break;
      case Code::kCancelled: ++counters_.cancelled; break;
      case Code::kDeadlineExceeded: ++counters_.expired; break;
      default: ++counters_.failed; break;
    }
  }
  counters_.running = running;
  delivering_ += completed.size();
}

void Front::end_delivery(size_t count) {
  {
    const MutexLock lock(mutex_);
    delivering_ -= count;
  }
  idle_.notify_all();
}

/// Lets update() return.
void Front::end_update_locked(Status status) {
  if (pending_update_ == nullptr) return;
  pending_update_->status = std::move(status);
  pending_update_ = nullptr;
  idle_.notify_all();
}

void Front::end_update(Status status) {
  const MutexLock lock(mutex_);
  end_update_locked(std::move(status));
}

void Front::begin_swap() {
  const MutexLock lock(mutex_);
  reserved_.clear();
  for (RequestQueue::Waiting& waiting : arrived_) waiting.blocks = {};
  is_swapping_ = true;
}

Status Front::end_swap(const model::Decoder& decoder, Status status, Clock::time_point begun) {
  const MutexLock lock(mutex_);
  is_swapping_ = false;
  if (status.is_ok()) {
    ++weights_generation_;
    model_.digest = decoder.digest();
    versions_.renew(*pool_, model_);
  } else if (!decoder.is_intact()) {
    broken_ = {Code::kEngineUnavailable,
               "weights update: it failed, and so did putting the old ones back"};
    status =
        Status(Code::kEngineUnavailable, broken_.message() + "; the fault: " + status.message());
  }
  const auto microseconds = [](Clock::duration time) {
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(time).count());
  };
  pending_update_->report = {model_.digest, weights_generation_,
                             microseconds(begun - pending_update_->asked),
                             microseconds(Clock::now() - begun)};
  end_update_locked(std::move(status));
  return broken_;
}

}  // namespace tessera::engine
