#include "engine/front.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "engine/encoded_prompt.h"
#include "engine/refusal.h"
#include "engine/request_limits.h"

namespace tessera::engine {
namespace {

/// Class of a request; an invalid one is refused with its field later and counts as the last.
uint8_t class_of(const Request& request) {
  return std::min<uint8_t>(request.priority, kPriorityClasses - 1);
}

/// Rows of a search of which nothing is known: about those of three trained models.
constexpr uint32_t kRowsAtFirst = 64, kRowsAtFirstPerItem = 5;

}  // namespace

Front::Front(const EngineOptions& options, const Loop& loop, std::shared_ptr<kv::Pool> pool,
             ServedModel model, const scheduler::PassCost& cost,
             std::shared_ptr<std::condition_variable> work)
    : options_(options),
      loop_(loop),
      work_(std::move(work)),
      pool_(std::move(pool)),
      gate_(*pool_),
      admission_(cost),
      model_(std::move(model)) {}

/// Tokens of the prompt that need not be computed, as far as is known before they are compared: at
/// most, because a refusal is final and a late answer is only late.
uint32_t Front::kept_tokens(const Request& request) const {
  const KvUse& use = request.kv;
  if (pool_ == nullptr || !options_.kv.is_enabled || use.user.empty()) return 0;
  if (!request.task->needs().shares_blocks) return 0;
  if (request.encoded > 0) return 0;  // mostly there is news, and an encoder begins again
  uint32_t kept = use.prefix_tokens / kv::kBlockTokens * kv::kBlockTokens;
  const PoolVersions of_pool = versions_.now(use.version);
  const bool has_state =
      !of_pool.state || pool_->whereabouts(*of_pool.state, use.user) != kv::PerTier<uint32_t>{};
  if (has_state) {
    for (const uint32_t tokens : pool_->whereabouts(of_pool.blocks, use.user)) kept += tokens;
  }
  const auto size = static_cast<uint32_t>(request.prompt.size());
  return std::min({kept, use.keep_tokens, size - 1});
}

/// Checks that the engine can serve the request at all.
Status Front::check(const Request& request, Clock::time_point now) const {
  TESSERA_RETURN_IF_ERROR(broken_);
  TESSERA_RETURN_IF_ERROR(check_limits(request, options_, model_));
  if (in_flight_.contains(request.ticket)) {
    return {Code::kRequestInvalid,
            "tickets: ticket " + std::to_string(request.ticket) + " is already in flight"};
  }
  return deadline_status(request, now);
}

/// Decides whether a request may join the queue.
AdmissionControl::Judged Front::accept(Request& request, uint64_t row_kind, Clock::time_point now,
                                       double& own_us) {
  Status status = find_encoded(request, model_.config);
  if (status.is_ok()) status = check(request, now);
  if (!status.is_ok()) return {.status = std::move(status)};
  if (row_kind != 0) {
    // A refusal is final and a late answer is only late: the first of a kind are few rows.
    const uint64_t few = kRowsAtFirst + uint64_t{kRowsAtFirstPerItem} * request.result_count;
    const uint64_t most = request.task->slots(request);
    const auto at_first = static_cast<uint32_t>(std::min(few, most));
    request.rows_predicted = std::max(1u, forecast_.predict(row_kind, at_first));
  } else {
    request.rows_predicted = request.task->rows(request);
  }
  scheduler::RequestWork work = RunningRequest::work_of(request, model_.config);
  work.length = std::max(work.length, kept_tokens(request));
  if (request.allows_partial) work.beams = 1;  // it may come to that
  own_us = scheduler::alone_us(admission_.cost(), work, options_.prefill_chunk_tokens);
  if (in_flight_.empty()) admission_.note_idle(now);
  return admission_.judge({.priority = request.priority,
                           .own_us = own_us,
                           .queued_us = tally_.ahead_us(request.priority, own_us),
                           .now = now,
                           .deadline = request.deadline});
}

/// The request with the blocks that were begun for its ticket.
RequestQueue::Waiting Front::entry_of(Request request) {
  RequestQueue::Waiting entry;
  entry.request = std::move(request);
  // Nothing is computed for another request where the model has a state or an encoder.
  const bool is_alone = !model_.state_layout.empty() || model_.config.encodes_prompts();
  if (is_alone) entry.request.sibling_tokens = 0;
  if (auto reserved = reserved_.extract(entry.request.ticket); !reserved.empty()) {
    entry.blocks = std::move(reserved.mapped());
  }
  return entry;
}

SubmitOutcome Front::submit(std::vector<Request> requests, std::vector<Completion>& refused) {
  SubmitOutcome outcome;
  const Clock::time_point now = Clock::now();
  std::vector<RequestQueue::Waiting> entries;
  entries.reserve(requests.size());
  const MutexLock lock(mutex_);
  for (Request& request : requests) entries.push_back(entry_of(std::move(request)));
  for (RequestQueue::Waiting& entry : entries) {
    Request& request = entry.request;
    if (is_draining_ || is_stopping_) {
      outcome.refusal = Refusal::kDraining;
      break;
    }
    if (!tally_.has_place(class_of(request), options_.queue_capacity)) {
      outcome.refusal = Refusal::kQueueFull;
      outcome.retry_after_us = admission_.place_free_in_us(tally_.waiting_us(), in_flight_.size());
      break;
    }
    ++outcome.accepted;
    ++counters_.submitted;
    const uint64_t row_kind = request.task->row_kind(request);
    AdmissionControl::Judged judged = accept(request, row_kind, now, entry.alone_us);
    if (judged.status.is_ok()) {
      in_flight_.insert_or_assign(request.ticket, InFlight{{request.priority, now, request.deadline,
                                                            judged.charged_us, judged.is_short},
                                                           row_kind});
      request.submitted = now;
      request.kv.erasures_seen = pool_->erasures();
      tally_.add(request.priority, entry.alone_us);
      arrived_.push_back(std::move(entry));
    } else {
      const bool is_expired = judged.status.code() == Code::kDeadlineExceeded;
      ++(is_expired ? counters_.expired : counters_.failed);
      refused.push_back(refusal_of(request, std::move(judged.status), judged.retry_after_us));
    }
  }
  return outcome;
}

void Front::cancel(std::span<const uint32_t> tickets) {
  const MutexLock lock(mutex_);
  for (const uint32_t ticket : tickets) {
    reserved_.erase(ticket);
    if (in_flight_.contains(ticket)) cancelled_.insert(ticket);
  }
}

void Front::prefetch(uint32_t ticket, kv::Version version, const std::string& user) {
  const MutexLock lock(mutex_);
  if (pool_ == nullptr || is_draining_ || is_swapping_ || !options_.kv.is_enabled) return;
  if (reserved_.size() >= options_.queue_capacity || reserved_.contains(ticket)) return;
  ComingBlocks blocks = gate_.begin(versions_.now(version), user);
  if (blocks.prefetch || blocks.state) reserved_.emplace(ticket, std::move(blocks));
}

Result<kv::Version> Front::add_version(const PromptDigests& digests) {
  const MutexLock lock(mutex_);
  if (pool_ == nullptr) return Status(Code::kEngineClosed, "the engine was closed");
  return versions_.add(*pool_, model_, digests);
}

void Front::succeed(const std::string& adapter_digest, const std::string& predecessor_digest) {
  const MutexLock lock(mutex_);
  if (pool_ == nullptr || options_.kv.versions_back_max == 0) return;
  versions_.succeed(*pool_, model_, adapter_digest, predecessor_digest);
}

void Front::drop_version(kv::Version version) {
  const MutexLock lock(mutex_);
  if (pool_ != nullptr) versions_.drop(*pool_, version);
}

kv::Rates Front::kv_rates() {
  const MutexLock lock(mutex_);
  return pool_ == nullptr ? kv::Rates{} : gate_.rates(Clock::now(), admission_.cost());
}

ServedModel Front::model() const {
  const MutexLock lock(mutex_);
  return model_;
}

UpdateReport Front::weights() const {
  const MutexLock lock(mutex_);
  return {model_.digest, weights_generation_, 0, 0};
}

std::shared_ptr<kv::Pool> Front::pool() const {
  const MutexLock lock(mutex_);
  return pool_;
}

void Front::refuse_new() {
  const MutexLock lock(mutex_);
  is_draining_ = true;
}

Stats Front::stats() const {
  const MutexLock lock(mutex_);
  Stats stats = counters_;
  stats.queued = tally_.size() + loading_;
  stats.in_flight = in_flight_.size();
  stats.reserved = reserved_.size();
  const scheduler::PassCost& cost = admission_.cost();
  stats.pass_us = cost.pass_us;
  stats.token_us = cost.row_us_among(scheduler::kRowsOfRate);
  stats.token_pair_us = cost.pair_us;
  stats.backlog_us = admission_.backlog_us(tally_.waiting_us());
  return stats;
}

Forecast Front::forecast() const {
  const MutexLock lock(mutex_);
  const double own_us = admission_.mean_alone_us();
  std::array<double, kPriorityClasses> queued_us{};
  for (uint8_t c = 0; c < kPriorityClasses; ++c) queued_us[c] = tally_.ahead_us(c, own_us);
  return admission_.forecast(queued_us, Clock::now());
}

Result<UpdateReport> Front::update(PendingUpdate& pending) {
  MutexLock lock(mutex_);
  if (is_draining_ || is_stopping_) return Status(Code::kEngineClosed, "the engine is closing");
  if (pending.update.digest() == model_.digest) {
    return UpdateReport{model_.digest, weights_generation_, 0, 0};
  }
  pending_update_ = &pending;
  work_->notify_one();
  lock.wait(idle_, [this]() REQUIRES(mutex_) { return pending_update_ == nullptr; });
  if (!pending.status.is_ok()) return pending.status;
  return pending.report;
}

void Front::drain(std::chrono::microseconds budget) {
  MutexLock lock(mutex_);
  is_draining_ = true;
  const auto none_left = [this]() REQUIRES(mutex_) {
    return (in_flight_.empty() && delivering_ == 0) || is_stopping_;
  };
  if (lock.wait_for(idle_, budget, none_left)) return;
  for (const auto& [ticket, request] : in_flight_) cancelled_.insert(ticket);
  work_->notify_one();
  lock.wait(idle_, none_left);
}

void Front::stop() {
  {
    const MutexLock lock(mutex_);
    is_stopping_ = true;
  }
  work_->notify_one();
  idle_.notify_all();
}

std::shared_ptr<kv::Pool> Front::release_pool() {
  const MutexLock lock(mutex_);
  reserved_.clear();
  return std::move(pool_);
}

}  // namespace tessera::engine
