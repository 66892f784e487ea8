#include "engine/engine.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/cuda/open_on_card.h"
#include "engine/parts.h"
#include "engine/request_limits.h"

namespace tessera::engine {
namespace {

/// How long all who wait for blocks wait before they look again unasked.
constexpr std::chrono::milliseconds kTransferWait{1};

Completion refusal_of(const Request& request, Status status, uint32_t retry_after_us) {
  Completion completion;
  completion.ticket = request.ticket;
  completion.status = std::move(status);
  completion.retry_after_us = retry_after_us;
  return completion;
}

/// One that is out of range is refused with its field; until then it takes a place of the last.
uint8_t class_of(const Request& request) {
  return std::min<uint8_t>(request.priority, kPriorityClasses - 1);
}

Status ended_status(const Request& request, const std::unordered_set<uint32_t>& cancelled,
                    Clock::time_point now) {
  if (cancelled.contains(request.ticket)) return {Code::kCancelled, "the request was cancelled"};
  if (now >= request.deadline)
    return {Code::kDeadlineExceeded, "the deadline passed before the answer was ready"};
  return Status::ok();
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(const EngineOptions& options, CompletionSink& sink) {
  TESSERA_RETURN_IF_ERROR(validate(options));
  EngineOptions fitted = options;
  const std::optional<uint32_t> card = card_of(options);
  Result<EngineParts> parts = card ? cuda::open_on_card(fitted, *card) : open_on_processor(fitted);
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
      work_(std::move(parts.work)),
      pool_(std::move(parts.pool)),
      loop_(std::move(parts.loop)),
      gate_(*pool_, options_.queue_capacity),
      admission_(parts.cost),
      model_(std::move(parts.model)) {
  thread_ = std::thread([this] { run(); });
}

Engine::~Engine() { close(); }

ServedModel Engine::model() const {
  const std::lock_guard lock(mutex_);
  return model_;
}

/// Whether a request may wait in the queue. REQUIRES: mutex_ held.
AdmissionControl::Judged Engine::accept(const Request& request, Clock::time_point now,
                                        double& own_us) {
  Status status = check(request, now);
  if (!status.is_ok()) return {.status = std::move(status)};
  scheduler::RequestWork work = RunningRequest::work_of(request, model_.config);
  work.length = kept_tokens(request);
  if (request.allows_partial) work.beams = 1;  // it may come to that
  own_us = scheduler::alone_us(admission_.cost(), work, options_.prefill_chunk_tokens);
  if (in_flight_.empty()) admission_.note_idle(now);
  return admission_.judge({.priority = request.priority,
                           .own_us = own_us,
                           .queued_us = queue_.ahead_us(request.priority, own_us),
                           .now = now,
                           .deadline = request.deadline});
}

/// Whether a request could be served at all. REQUIRES: mutex_ held.
Status Engine::check(const Request& request, Clock::time_point now) const {
  TESSERA_RETURN_IF_ERROR(broken_);
  TESSERA_RETURN_IF_ERROR(check_limits(request, options_, model_));
  TESSERA_RETURN_IF_ERROR(loop_->check(request));
  if (in_flight_.contains(request.ticket)) {
    return {Code::kRequestInvalid,
            "tickets: ticket " + std::to_string(request.ticket) + " is already in flight"};
  }
  return ended_status(request, {}, now);
}

/// When a place in the queue may be free. REQUIRES: mutex_ held.
uint32_t Engine::place_free_in_us() const {
  return admission_.place_free_in_us(queue_.waiting_us(), in_flight_.size());
}

SubmitOutcome Engine::submit(std::vector<Request> requests) {
  SubmitOutcome outcome;
  std::vector<Completion> refused;
  const Clock::time_point now = Clock::now();
  {
    std::lock_guard lock(mutex_);
    for (Request& request : requests) {
      if (draining_ || stopping_) {
        outcome.refusal = Refusal::kDraining;
        break;
      }
      if (!queue_.has_place(class_of(request), options_.queue_capacity)) {
        outcome.refusal = Refusal::kQueueFull;
        outcome.retry_after_us = place_free_in_us();
        break;
      }
      ++outcome.accepted;
      ++counters_.submitted;
      double own_us = 0;
      auto [status, charged_us, retry_after_us] = accept(request, now, own_us);
      if (status.is_ok()) {
        in_flight_.insert_or_assign(request.ticket,
                                    AdmissionControl::Admitted{request.priority, now, charged_us});
        request.submitted = now;
        request.kv.erasures_seen = pool_->erasures();
        queue_.push(std::move(request), own_us);
      } else {
        ++(status.code() == Code::kDeadlineExceeded ? counters_.expired : counters_.failed);
        refused.push_back(refusal_of(request, std::move(status), retry_after_us));
      }
    }
  }
  work_->notify_one();
  for (Completion& completion : refused) sink_.complete(std::move(completion));
  return outcome;
}

void Engine::cancel(std::span<const uint32_t> tickets) {
  {
    std::lock_guard lock(mutex_);
    for (const uint32_t ticket : tickets) {
      gate_.drop(ticket);
      if (in_flight_.contains(ticket)) cancelled_.insert(ticket);
    }
  }
  work_->notify_one();
}

void Engine::run() {
  processor_->threads().pin_caller();
  std::vector<Completion> completed;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      work_->wait(lock, [this] {
        return stopping_ || !queue_.empty() || !loading_.empty() || loop_->running() > 0 ||
               pending_update_ != nullptr;
      });
      if (stopping_) return end_update({Code::kEngineClosed, "the engine was closed"});
      const bool admits = !attend_to_update(lock);
      sweep_ended(completed);
      if (admits) {
        admit_loaded(Clock::now(), completed);
        admit_waiting(completed);
      }
      const bool has_waiting = !queue_.empty() || !loading_.empty();
      const bool all_wait = has_waiting && loop_->running() == 0 && completed.empty();
      if (all_wait) work_->wait_for(lock, kTransferWait);
    }
    if (loop_->running() > 0) loop_->run_pass(completed);
    note_progress();
    deliver(completed);
  }
}

/// REQUIRES: mutex_ held.
void Engine::sweep_ended(std::vector<Completion>& completed) {
  const Clock::time_point now = Clock::now();
  loop_->sweep([&](const Request& request) { return ended_status(request, cancelled_, now); },
               completed);
  const auto has_ended = [&](const Request& request) {
    Status status = broken_.is_ok() ? ended_status(request, cancelled_, now) : broken_;
    if (status.is_ok()) return false;
    gate_.drop(request.ticket);
    completed.push_back(refusal_of(request, std::move(status), 0));
    return true;
  };
  queue_.erase_if(has_ended);
  std::erase_if(loading_, [&](const auto& waiting) { return has_ended(waiting.request); });
}

/// False when the request must wait for memory; else it runs or has been refused. REQUIRES: mutex_
/// held, loop_->has_room().
bool Engine::admit(RequestQueue::Waiting& waiting, Clock::time_point now,
                   std::vector<Completion>& completed) {
  const uint32_t ticket = waiting.request.ticket;
  const double left_us =
      std::chrono::duration<double, std::micro>(waiting.request.deadline - now).count();
  Status status;
  if (admission_.is_too_late(waiting.alone_us, left_us)) {
    status = {Code::kDeadlineExceeded, "the request waited too long for its deadline to be met"};
  } else {
    const kv::Version version = waiting.request.kv.version;
    waiting.request.kv.version = versions_.now(version);
    if (loop_->admit(waiting.request, now, status) == Admission::kWaits) {
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

/// Whether a request need not wait for its blocks. REQUIRES: mutex_ held.
bool Engine::is_ready(Request& request, Clock::time_point now) {
  return gate_.is_ready(request, versions_.now(request.kv.version), now, admission_.cost());
}

/// Those whose blocks have come, or are not to be waited for any longer. REQUIRES: mutex_ held.
void Engine::admit_loaded(Clock::time_point now, std::vector<Completion>& completed) {
  for (size_t i = 0; i < loading_.size() && loop_->has_room();) {
    if (is_ready(loading_[i].request, now) && admit(loading_[i], now, completed)) {
      loading_.erase(loading_.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

/// REQUIRES: mutex_ held.
void Engine::admit_waiting(std::vector<Completion>& completed) {
  const Clock::time_point now = Clock::now();
  const bool may_join = options_.continuous_batching || loop_->running() == 0;
  while (may_join && !queue_.empty() && loop_->has_room()) {
    RequestQueue::Waiting& next = queue_.next();
    if (!is_ready(next.request, now)) {
      if (loading_.size() >= options_.batch_requests_max) break;
      loading_.push_back(std::move(next));
    } else if (!admit(next, now, completed)) {
      break;
    }
    queue_.pop();
  }
  counters_.running = loop_->running();
}

/// What those who submit need to know of the running requests.
void Engine::note_progress() {
  const scheduler::PassCost cost = loop_->cost();
  const double left_us = loop_->left_us();
  const double sharing_rate = loop_->sharing_rate();
  std::lock_guard lock(mutex_);
  admission_.note_progress(cost, left_us, sharing_rate);
  if (broken_.is_ok()) broken_ = loop_->health();
}

void Engine::deliver(std::vector<Completion>& completed) {
  const size_t count = completed.size();
  const Clock::time_point now = Clock::now();
  {
    std::lock_guard lock(mutex_);
    for (Completion& completion : completed) {
      completion.weights_generation = weights_generation_;  // nobody ran while they changed
      // The ticket is the caller's again as soon as its completion can be seen.
      if (const auto ended = in_flight_.extract(completion.ticket); !ended.empty()) {
        admission_.note_ended(ended.mapped(), completion.status, now);
      }
      cancelled_.erase(completion.ticket);
      switch (completion.status.code()) {
        case Code::kOk: ++counters_.completed; break;
        case Code::kCancelled: ++counters_.cancelled; break;
        case Code::kDeadlineExceeded: ++counters_.expired; break;
        default: ++counters_.failed; break;
      }
    }
    counters_.running = loop_->running();
    delivering_ += count;
  }
  for (Completion& completion : completed) sink_.complete(std::move(completion));
  completed.clear();
  {
    std::lock_guard lock(mutex_);
    delivering_ -= count;
  }
  idle_.notify_all();
}

void Engine::refuse_new() {
  std::lock_guard lock(mutex_);
  draining_ = true;
}

void Engine::drain(std::chrono::microseconds budget) {
  const Clock::time_point end = Clock::now() + budget;
  std::shared_ptr<kv::Pool> pool;
  {
    std::unique_lock lock(mutex_);
    draining_ = true;
    const auto none_left = [this] { return (in_flight_.empty() && delivering_ == 0) || stopping_; };
    if (!idle_.wait_for(lock, budget, none_left)) {
      for (const auto& [ticket, request] : in_flight_) cancelled_.insert(ticket);
      work_->notify_one();
      idle_.wait(lock, none_left);
    }
    pool = pool_;
  }
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - Clock::now());
  // A flush that fails is told by the pool's metrics: the pool is a cache.
  if (pool != nullptr) (void)pool->flush(static_cast<uint64_t>(std::max<int64_t>(left.count(), 0)));
}

void Engine::close() {
  std::lock_guard closing(close_mutex_);
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_->notify_one();
  idle_.notify_all();
  thread_.join();
  std::vector<Completion> discarded;
  const Status closed(Code::kEngineClosed, "the engine was closed");
  loop_->sweep([&](const Request&) { return closed; }, discarded);
  const auto discard = [&](const Request& request) {
    discarded.push_back(refusal_of(request, closed, 0));
    return true;
  };
  queue_.erase_if(discard);
  for (const RequestQueue::Waiting& waiting : loading_) discard(waiting.request);
  loading_.clear();
  deliver(discarded);
  close_pool();
}

Stats Engine::stats() const {
  std::lock_guard lock(mutex_);
  Stats stats = counters_;
  stats.queued = queue_.size() + loading_.size();
  stats.prefill_tokens = loop_counters_->prefill_tokens;
  stats.decode_tokens = loop_counters_->decode_tokens;
  stats.forward_passes = loop_counters_->forward_passes;
  stats.prefix_reused_tokens = loop_counters_->prefix_reused_tokens;
  stats.rolled_back_tokens = loop_counters_->rolled_back_tokens;
  stats.predicted_us = loop_counters_->predicted_us;
  stats.actual_us = loop_counters_->actual_us;
  return stats;
}

}  // namespace tessera::engine
