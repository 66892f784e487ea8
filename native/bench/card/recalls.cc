#include "card/recalls.h"

#include <algorithm>
#include <cmath>

#include "card/options.h"
#include "cuda/engine/open_on_card.h"

namespace tessera::bench::card {
namespace {

constexpr uint32_t kRowsOfAPass = 8192;  // of all requests: whole prompts, where they fit
constexpr std::chrono::hours kPatience{1};

engine::EngineOptions options_of(const RecallSetting& setting, const std::string& folder) {
  engine::EngineOptions options;
  options.model_path = folder;
  options.compute_type = model::ComputeType::kBf16;
  options.queue_capacity = kRoundsMax;
  options.batch_requests_max = setting.requests;
  options.batch_rows_max =
      std::min(kRowsOfAPass, setting.requests * std::max(setting.context, setting.width));
  options.prefill_chunk_tokens = options.batch_rows_max;
  options.kv_bytes_max = ~uint64_t{0};  // what the card has room for
  options.kv.device_bytes = ~uint64_t{0};
  options.prompt_tokens_max = setting.context;
  options.width_max = setting.width;
  options.result_count_max = setting.width;
  return options;
}

}  // namespace

Result<std::unique_ptr<Recalls>> Recalls::open(BenchCard& card, const RecallSetting& setting) {
  auto recalls = std::unique_ptr<Recalls>(new Recalls(setting));
  const Result<std::string> folder = model_folder(setting.shape, setting.cache);
  if (!folder.is_ok()) return folder.status();
  auto snapshot = random_catalogue(setting.items, setting.shape.codes, setting.cache);
  if (!snapshot.is_ok()) return snapshot.status();
  recalls->path_count_ = snapshot.value()->path_count();
  auto queues = card.engine_queues();
  if (!queues.is_ok()) return queues.status();
  engine::EngineOptions options = options_of(setting, folder.value());
  auto parts = engine::cuda::open_on_card(options, std::move(queues).value());
  if (!parts.is_ok()) return parts.status();
  recalls->engine_ = engine::Engine::open(options, std::move(parts).value(), recalls->sink_);
  auto live = catalogue::LiveCatalogue::open(snapshot.value(), {});
  if (!live.is_ok()) return live.status();
  auto binding = engine::Binding::create(recalls->engine_->model().config, std::move(live).value(),
                                         level_tokens(setting.shape), {});
  if (!binding.is_ok()) return binding.status();
  recalls->binding_ = std::move(binding).value();
  return recalls;
}

Recalls::~Recalls() {
  if (engine_ != nullptr) engine_->close();
}

Status Recalls::ask(uint32_t ticket, std::vector<int32_t> prompt) {
  engine::Request request;
  request.ticket = ticket;
  request.binding = binding_;
  request.prompt = std::move(prompt);
  request.widths = {setting_.width};
  request.result_count = setting_.width;
  request.items_per_sid = 1;
  request.submitted = engine::Clock::now();
  request.deadline = request.submitted + kPatience;
  std::vector<engine::Request> requests;
  requests.push_back(std::move(request));
  if (engine_->submit(std::move(requests)).accepted == 1) return Status::ok();
  return {Code::kEngineOverloaded, "recall: the engine's queue is full"};
}

Result<std::map<uint32_t, Recalls::Answered>> Recalls::wait_for(size_t count) {
  return sink_.wait_for(count);
}

Result<std::vector<beam::Exported>> Recalls::run(std::span<const std::vector<int32_t>> prompts) {
  for (uint32_t i = 0; i < prompts.size(); ++i) {
    TESSERA_RETURN_IF_ERROR(ask(i, prompts[i]));
  }
  auto answered = wait_for(prompts.size());
  if (!answered.is_ok()) return answered.status();
  std::vector<beam::Exported> answers;
  for (auto& [ticket, one] : answered.value()) answers.push_back(std::move(one.answer));
  return answers;
}

Status Recalls::check(const beam::Exported& answer) const {
  const std::vector<float>& scores = answer.path_scores;
  if (scores.size() != std::min<uint64_t>(setting_.width, path_count_)) {
    return wrong("number of paths");
  }
  if (answer.item_ordinals.size() < scores.size()) return wrong("items of the paths");
  for (size_t i = 0; i < scores.size(); ++i) {
    if (!std::isfinite(scores[i])) return wrong("score");
    if (i > 0 && scores[i] > scores[i - 1]) return wrong("order of paths");
  }
  return Status::ok();
}

void Recalls::Sink::complete(engine::Completion completion) {
  const auto now = engine::Clock::now();
  const MutexLock lock(mutex_);
  if (!completion.status.is_ok()) failed_ = completion.status;
  answered_[completion.ticket] = {std::move(completion.answer), now};
  ++completed_;
  arrived_.notify_all();
}

Result<std::map<uint32_t, Recalls::Answered>> Recalls::Sink::wait_for(size_t count) {
  MutexLock lock(mutex_);
  lock.wait(arrived_, [&] { return completed_ >= count; });
  completed_ = 0;
  auto answered = std::exchange(answered_, {});
  const Status failed = std::exchange(failed_, Status::ok());
  TESSERA_RETURN_IF_ERROR(failed);
  return answered;
}

}  // namespace tessera::bench::card
