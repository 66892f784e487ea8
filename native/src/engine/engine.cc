#include "engine/engine.h"

#include <algorithm>
#include <string>

#include "device/backends.h"

namespace tessera::engine {
namespace {

Status invalid(const std::string& message) { return {Code::kRequestInvalid, message}; }

std::string expected_range(const std::string& field, uint64_t max, uint64_t came) {
  return field + ": expected 1.." + std::to_string(max) + ", came " + std::to_string(came);
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
  device::CpuOptions cpu;
  cpu.thread_count = options.thread_count;
  auto device = device::open_cpu_device(cpu);
  if (!device.is_ok()) return device.status();
  auto decoder = model::Decoder::load(options.model_path, options.compute_type, *device.value());
  if (!decoder.is_ok()) return decoder.status();
  const uint32_t context =
      std::min(options.prompt_tokens_max, decoder.value()->config().max_positions);
  auto workspace = decoder.value()->make_workspace(row_budget(options), context);
  if (workspace == nullptr) {
    return Status(Code::kEngineOverloaded,
                  "engineOpen.options: no memory for " + std::to_string(row_budget(options)) +
                      " rows per pass; lower widthMax or prefillChunkTokens");
  }
  return std::unique_ptr<Engine>(new Engine(
      options, std::move(device).value(), std::move(decoder).value(), std::move(workspace), sink));
}

Engine::Engine(const EngineOptions& options, std::unique_ptr<device::Device> device,
               std::shared_ptr<const model::Decoder> decoder,
               std::unique_ptr<model::Workspace> workspace, CompletionSink& sink)
    : options_(options),
      device_(std::move(device)),
      decoder_(std::move(decoder)),
      sink_(sink),
      loop_(options_, *decoder_, *device_, std::move(workspace), loop_counters_) {
  thread_ = std::thread([this] { run(); });
}

Engine::~Engine() { close(); }

Status Engine::check_limits(const Request& request) const {
  const model::ModelConfig& config = decoder_->config();
  if (request.prompt.empty() || request.prompt.size() > options_.prompt_tokens_max) {
    return invalid(
        expected_range("promptTokens.length", options_.prompt_tokens_max, request.prompt.size()));
  }
  const uint64_t positions = request.prompt.size() + request.binding->step_count() - 1;
  if (positions > config.max_positions) {
    return invalid("promptTokens.length: prompt and answer need " + std::to_string(positions) +
                   " positions, the model has " + std::to_string(config.max_positions));
  }
  for (size_t i = 0; i < request.prompt.size(); ++i) {
    const int32_t token = request.prompt[i];
    if (token >= 0 && static_cast<uint32_t>(token) < config.vocab_size) continue;
    return invalid("promptTokens[" + std::to_string(i) + "]: expected a token in 0.." +
                   std::to_string(config.vocab_size - 1) + ", came " + std::to_string(token));
  }
  if (request.widths.empty() || request.widths.size() > request.binding->step_count()) {
    return invalid(
        expected_range("widths.length", request.binding->step_count(), request.widths.size()));
  }
  for (size_t i = 0; i < request.widths.size(); ++i) {
    if (request.widths[i] >= 1 && request.widths[i] <= options_.width_max) continue;
    return invalid(
        expected_range("widths[" + std::to_string(i) + "]", options_.width_max, request.widths[i]));
  }
  if (request.result_count < 1 || request.result_count > options_.result_count_max) {
    return invalid(expected_range("resultCount", options_.result_count_max, request.result_count));
  }
  if (request.items_per_sid < 1) return invalid("itemsPerSid: expected at least 1, came 0");
  return Status::ok();
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
      if (queue_.size() >= options_.queue_capacity) {
        outcome.refusal = Refusal::kQueueFull;
        break;
      }
      ++outcome.accepted;
      ++counters_.submitted;
      Status status = check_limits(request);
      if (status.is_ok() && in_flight_.contains(request.ticket)) {
        status =
            invalid("tickets: ticket " + std::to_string(request.ticket) + " is already in flight");
      }
      if (status.is_ok()) status = ended_status(request, {}, now);
      if (status.is_ok()) {
        in_flight_.insert(request.ticket);
        request.submitted = now;
        queue_.push_back(std::move(request));
      } else {
        ++(status.code() == Code::kDeadlineExceeded ? counters_.expired : counters_.failed);
        refused.push_back({});
        refused.back().ticket = request.ticket;
        refused.back().status = std::move(status);
      }
    }
  }
  work_.notify_one();
  for (Completion& completion : refused) sink_.complete(std::move(completion));
  return outcome;
}

void Engine::cancel(std::span<const uint32_t> tickets) {
  {
    std::lock_guard lock(mutex_);
    for (const uint32_t ticket : tickets) {
      if (in_flight_.contains(ticket)) cancelled_.insert(ticket);
    }
  }
  work_.notify_one();
}

void Engine::run() {
  std::vector<Completion> completed;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [this] { return stopping_ || !queue_.empty() || loop_.running() > 0; });
      if (stopping_) return;
      sweep_ended(completed);
      admit_waiting(completed);
    }
    if (loop_.running() > 0) loop_.run_pass(completed);
    deliver(completed);
  }
}

/// REQUIRES: mutex_ held.
void Engine::sweep_ended(std::vector<Completion>& completed) {
  const Clock::time_point now = Clock::now();
  loop_.sweep([&](const Request& request) { return ended_status(request, cancelled_, now); },
              completed);
  std::erase_if(queue_, [&](const Request& request) {
    Status status = ended_status(request, cancelled_, now);
    if (status.is_ok()) return false;
    completed.push_back({});
    completed.back().ticket = request.ticket;
    completed.back().status = std::move(status);
    return true;
  });
}

/// REQUIRES: mutex_ held.
void Engine::admit_waiting(std::vector<Completion>& completed) {
  const Clock::time_point now = Clock::now();
  while (!queue_.empty() && loop_.has_room()) {
    Request request = std::move(queue_.front());
    queue_.pop_front();
    const uint32_t ticket = request.ticket;
    Status status = loop_.admit(std::move(request), now);
    if (status.is_ok()) continue;
    completed.push_back({});
    completed.back().ticket = ticket;
    completed.back().status = std::move(status);
  }
  counters_.running = loop_.running();
}

void Engine::deliver(std::vector<Completion>& completed) {
  const size_t count = completed.size();
  {
    std::lock_guard lock(mutex_);
    for (const Completion& completion : completed) {
      // The ticket is the caller's again as soon as its completion can be seen.
      in_flight_.erase(completion.ticket);
      cancelled_.erase(completion.ticket);
      switch (completion.status.code()) {
        case Code::kOk: ++counters_.completed; break;
        case Code::kCancelled: ++counters_.cancelled; break;
        case Code::kDeadlineExceeded: ++counters_.expired; break;
        default: ++counters_.failed; break;
      }
    }
    counters_.running = loop_.running();
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

void Engine::drain(std::chrono::microseconds budget) {
  std::unique_lock lock(mutex_);
  draining_ = true;
  const auto none_left = [this] { return (in_flight_.empty() && delivering_ == 0) || stopping_; };
  if (idle_.wait_for(lock, budget, none_left)) return;
  cancelled_ = in_flight_;
  work_.notify_one();
  idle_.wait(lock, none_left);
}

void Engine::close() {
  std::lock_guard closing(close_mutex_);
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  idle_.notify_all();
  thread_.join();
  std::vector<Completion> discarded;
  loop_.sweep([](const Request&) { return Status(Code::kEngineClosed, "the engine was closed"); },
              discarded);
  for (const Request& request : queue_) {
    discarded.push_back({});
    discarded.back().ticket = request.ticket;
    discarded.back().status = Status(Code::kEngineClosed, "the engine was closed");
  }
  queue_.clear();
  deliver(discarded);
}

Stats Engine::stats() const {
  std::lock_guard lock(mutex_);
  Stats stats = counters_;
  stats.queued = queue_.size();
  stats.prefill_tokens = loop_counters_.prefill_tokens;
  stats.decode_tokens = loop_counters_.decode_tokens;
  stats.forward_passes = loop_counters_.forward_passes;
  return stats;
}

}  // namespace tessera::engine
