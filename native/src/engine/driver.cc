#include "engine/driver.h"

#include <utility>

#include "engine/refusal.h"

namespace tessera::engine {
namespace {

/// How long all who wait for blocks wait before they look again unasked.
constexpr std::chrono::milliseconds kTransferWait{1};

}  // namespace

void Driver::run() {
  std::vector<Completion> completed;
  while (front_.wait(has_work(), taken_)) {
    foreground_.begin();
    take();
    const bool admits = !attend_to_update();
    sweep_ended(completed);
    if (admits) {
      admit_loaded(Clock::now(), completed);
      admit_waiting(completed);
    }
    front_.note_running(loop_.running(), loading_.size());
    const bool has_waiting = !queue_.empty() || !loading_.empty();
    const bool all_wait = has_waiting && loop_.running() == 0 && completed.empty();
    if (all_wait) front_.wait_for_blocks(kTransferWait);
    if (loop_.running() > 0) loop_.run_pass(completed);
    if (!has_work()) loop_.drop_lenders();
    front_.note_progress(loop_.cost(), loop_.left_us(), loop_.sharing_rate(), loop_.health());
    deliver(completed);
    if (!has_work()) foreground_.end();
  }
  foreground_.end();
  front_.end_update({Code::kEngineClosed, "the engine was closed"});
}

void Driver::take() {
  cancelled_.insert(taken_.cancelled.begin(), taken_.cancelled.end());
  for (RequestQueue::Waiting& waiting : taken_.arrived) queue_.push(std::move(waiting));
  taken_.arrived.clear();
}

/// Serves a pending update of the weights: stops admission, and updates once no request runs. True
/// while admission has to wait.
bool Driver::attend_to_update() {
  PendingUpdate* const pending = taken_.update;
  if (pending == nullptr) return false;
  const Clock::time_point now = Clock::now();
  loop_.drop_lenders();  // they have what the old weights computed
  if (loop_.running() > 0) {
    if (now < pending->give_up) return true;
    front_.end_update({Code::kDeadlineExceeded,
                       "weights update: running requests did not end within the time it may wait"});
    return false;
  }
  queue_.drop_blocks();
  for (RequestQueue::Waiting& waiting : loading_) waiting.blocks = {};
  front_.begin_swap();
  Status status = decoder_.update(std::move(pending->update));
  taken_.broken = front_.end_swap(decoder_, std::move(status), now);
  return false;
}

Status Driver::ended_status(const Request& request, Clock::time_point now) const {
  if (cancelled_.contains(request.ticket)) return {Code::kCancelled, "the request was cancelled"};
  return deadline_status(request, now);
}

void Driver::sweep_ended(std::vector<Completion>& completed) {
  const Clock::time_point now = Clock::now();
  loop_.sweep([&](const Request& request) { return ended_status(request, now); }, completed);
  const auto has_ended = [&](const Request& request) {
    Status status = taken_.broken.is_ok() ? ended_status(request, now) : taken_.broken;
    if (status.is_ok()) return false;
    completed.push_back(refusal_of(request, std::move(status)));
    return true;
  };
  queue_.erase_if([&](const RequestQueue::Waiting& waiting) {
    if (!has_ended(waiting.request)) return false;
    front_.left_queue(waiting.request.priority, waiting.alone_us);
    return true;
  });
  std::erase_if(loading_, [&](const auto& waiting) { return has_ended(waiting.request); });
}

/// False when the request must wait for memory; else it runs or has been refused. REQUIRES:
/// loop_.has_room().
bool Driver::admit(RequestQueue::Waiting& waiting, Clock::time_point now,
                   std::vector<Completion>& completed) {
  const uint32_t ticket = waiting.request.ticket;
  const Front::Turn turn = front_.turn_of(waiting, now);
  Status status;
  if (turn.is_too_late) {
    status = {Code::kDeadlineExceeded,
              "deadline: the request waited in the queue too long to be answered in time"};
  } else {
    const kv::Version version = std::exchange(waiting.request.kv.version, turn.of_pool.blocks);
    waiting.request.kv.state_version = turn.of_pool.state;
    if (loop_.admit(waiting.request, now, status) == Admission::kWaits) {
      waiting.request.kv.version = version;
      return false;
    }
  }
  if (status.is_ok()) return true;
  completed.push_back({});
  completed.back().ticket = ticket;
  completed.back().status = std::move(status);
  return true;
}

/// Admits requests whose blocks have come or are not to be waited for any longer.
void Driver::admit_loaded(Clock::time_point now, std::vector<Completion>& completed) {
  for (size_t i = 0; i < loading_.size() && loop_.has_room();) {
    if (front_.is_ready(loading_[i], now) && admit(loading_[i], now, completed)) {
      loading_.erase(loading_.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void Driver::admit_waiting(std::vector<Completion>& completed) {
  const Clock::time_point now = Clock::now();
  const bool may_join = options_.continuous_batching || loop_.running() == 0;
  while (may_join && !queue_.empty() && loop_.has_room()) {
    RequestQueue::Waiting& next = queue_.next();
    const uint8_t priority = next.request.priority;
    const double alone_us = next.alone_us;
    if (!front_.is_ready(next, now)) {
      if (loading_.size() >= options_.batch_requests_max) break;
      loading_.push_back(std::move(next));
    } else if (!admit(next, now, completed)) {
      break;
    }
    queue_.pop();
    front_.left_queue(priority, alone_us);
  }
}

void Driver::deliver(std::vector<Completion>& completed) {
  const size_t count = completed.size();
  for (const Completion& completion : completed) cancelled_.erase(completion.ticket);
  front_.begin_delivery(completed, loop_.running());
  for (Completion& completion : completed) sink_.complete(std::move(completion));
  completed.clear();
  front_.end_delivery(count);
}

void Driver::discard(const Status& status) {
  front_.take(taken_);
  take();
  std::vector<Completion> discarded;
  loop_.sweep([&](const Request&) { return status; }, discarded);
  loop_.drop_lenders();
  queue_.erase_if([&](const RequestQueue::Waiting& waiting) {
    discarded.push_back(refusal_of(waiting.request, status));
    front_.left_queue(waiting.request.priority, waiting.alone_us);
    return true;
  });
  for (const RequestQueue::Waiting& waiting : loading_) {
    discarded.push_back(refusal_of(waiting.request, status));
  }
  loading_.clear();
  front_.note_running(loop_.running(), 0);
  deliver(discarded);
}

}  // namespace tessera::engine
