#include "engine/cuda/card_loop.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/check.h"
#include "engine/elapsed.h"
#include "model/cuda/kernels.h"

namespace tessera::engine::cuda {
namespace {

using device::cuda::LaunchShape;
using device::cuda::Memory;

Status not_here(const std::string& what) {
  return {Code::kRequestInvalid, what + " on a card yet: expected an engine on \"cpu\""};
}

}  // namespace

CardLoop::CardLoop(const EngineOptions& options, std::unique_ptr<device::cuda::Queue> queue,
                   std::unique_ptr<model::cuda::CardDecoder> decoder, device::Device& processor,
                   kv::Pool& pool, const scheduler::PassCost& cost, LoopCounters& counters)
    : Loop(options, decoder->config(), processor, decoder->block_bytes(), cost, counters),
      pool_(pool),
      queue_(std::move(queue)),
      decoder_(std::move(decoder)) {}

Result<std::unique_ptr<CardLoop>> CardLoop::make(const EngineOptions& options,
                                                 std::unique_ptr<device::cuda::Queue> queue,
                                                 std::unique_ptr<model::cuda::CardDecoder> decoder,
                                                 device::Device& processor, kv::Pool& pool,
                                                 const scheduler::PassCost& cost,
                                                 LoopCounters& counters) {
  auto loop = std::unique_ptr<CardLoop>(
      new CardLoop(options, std::move(queue), std::move(decoder), processor, pool, cost, counters));
  TESSERA_RETURN_IF_ERROR(loop->allocate());
  return loop;
}

/// Versions and searches are in memory of the queue.
CardLoop::~CardLoop() { (void)queue_->finish(); }

Status CardLoop::allocate() {
  const uint32_t rows = options_.batch_rows_max, slots = options_.batch_requests_max;
  const auto lay = [&](char* base) {
    device::cuda::Arrays arrays(base);
    arrays.take(tokens_, rows);
    arrays.take(owners_, rows);
    arrays.take(row_numbers_, rows);
    arrays.take(struck_, slots);
    arrays.take(searches_, slots);
    return arrays.bytes();
  };
  Result<Memory> memory = Memory::allocate(*queue_, lay(nullptr));
  if (!memory.is_ok()) return memory.status();
  memory_ = std::move(memory).value();
  lay(memory_.as<char>());
  std::vector<uint32_t> numbers(rows);
  std::iota(numbers.begin(), numbers.end(), 0u);
  for (uint32_t slot = slots; slot-- > 0;) free_slots_.push_back(slot);
  return queue_->copy_in(row_numbers_, numbers.data(), numbers.size() * sizeof(uint32_t));
}

Status CardLoop::check(const Request& request) const {
  if (request.task->needs().selection == Selection::kGiven) {
    return not_here("kind: paths are not scored");
  }
  if (request.adapter != nullptr) return not_here("adapter: adapters are not served");
  if (request.watched_item != catalogue::kNoItem) {
    return not_here("watchedItem: items are not watched");
  }
  if (request.wants_tree) return not_here("wantsTree: trees are not told");
  return Status::ok();
}

Result<std::shared_ptr<CardCatalogue>> CardLoop::catalogue_of(
    const std::shared_ptr<const Binding>& binding) {
  for (const Known& known : catalogues_) {
    if (known.binding == binding) return known.catalogue;
  }
  // Those that nobody else has any more will not be asked for again.
  std::erase_if(catalogues_, [](const Known& known) {
    return known.binding.use_count() == 1 && known.catalogue.use_count() == 1;
  });
  std::vector<std::vector<int32_t>> levels;
  for (uint32_t level = 0; level < binding->depth(); ++level) {
    const std::span<const int32_t> tokens = binding->level_tokens(level);
    levels.emplace_back(tokens.begin(), tokens.end());
  }
  auto opened = CardCatalogue::open(levels, binding->terminal_tokens(), *queue_);
  if (!opened.is_ok()) return opened.status();
  catalogues_.push_back({binding, std::shared_ptr<CardCatalogue>(std::move(opened).value())});
  return catalogues_.back().catalogue;
}

Result<CardTarget> CardLoop::target_of(const Request& request, const catalogue::Reach& reach) {
  if (!request.task->selects()) return CardTarget{};
  CardTarget target;
  target.binding = request.binding;
  auto catalogue = catalogue_of(request.binding);
  if (!catalogue.is_ok()) return catalogue.status();
  target.catalogue = std::move(catalogue).value();
  auto version = target.catalogue->pin(reach.shared_view());
  if (!version.is_ok()) return version.status();
  target.version = std::move(version).value();
  return target;
}

/// Room for the request in the state that it will have, after what idles has been given back.
Status CardLoop::reserve(const Request& request, const CardTarget& target) {
  if (idle_.empty()) {
    idle_.push_back(std::make_unique<CardRequest>(*decoder_, *queue_, pool_, budget_));
  }
  Status status = idle_.back()->reserve(request, target);
  if (status.code() != Code::kEngineOverloaded) return status;
  TESSERA_RETURN_IF_ERROR(wait());  // their searches may be under way
  for (const auto& state : idle_) state->drop_buffers();
  return idle_.back()->reserve(request, target);
}

Admission CardLoop::admit(Request& request, Clock::time_point now, Status& status) {
  TESSERA_CHECK(has_room());
  if (is_full_ && !running_.empty()) return Admission::kWaits;
  const catalogue::Reach reach = RunningRequest::reach_of(request);
  Result<CardTarget> target = target_of(request, reach);
  status = target.is_ok() ? reserve(request, target.value()) : target.status();
  is_full_ = status.code() == Code::kEngineOverloaded;
  if (is_full_ && !running_.empty()) {
    status = Status::ok();
    return Admission::kWaits;
  }
  if (status.is_ok()) {
    request.reach = reach;
    const uint32_t slot = free_slots_.back();
    status = queue_->zero(struck_ + slot, sizeof(uint32_t));
    if (status.is_ok()) {
      status = idle_.back()->begin(std::move(request), std::move(target).value(), slot, now);
      if (!status.is_ok()) idle_.back()->release();
    }
  }
  if (!status.is_ok()) {
    // Nobody runs who could make room: what the card lacks now it will lack later.
    if (status.code() == Code::kEngineUnavailable) health_ = status;
    return Admission::kRefused;
  }
  free_slots_.pop_back();
  running_.push_back(std::move(idle_.back()));
  idle_.pop_back();
  links_.push_back({});
  return Admission::kAdmitted;
}

void CardLoop::run_pass(std::vector<Completion>& completed) {
  const Clock::time_point start = Clock::now();
  if (!health_.is_ok()) return fail(health_, completed);
  plan();
  PassTimes times;
  times.plan_us = microseconds_since(start);
  if (asked_.empty()) asked_since_ = start;
  Status status = ask();
  asked_.push_back(work_);
  const bool waits = asked_.size() >= kPassesAhead ||
                     std::any_of(running_.begin(), running_.end(),
                                 [this](const auto& state) { return is_read_next(*state); });
  if (status.is_ok() && waits) status = wait();
  times.rows = static_cast<uint32_t>(pass_tokens_.size());
  times.forward_us = microseconds_since(start) - times.plan_us;
  ++counters_.forward_passes;
  for (const auto& state : running_) {
    state->pass() = times;
    state->pass().is_decode = state->level() > 1 || state->pending_rows() == 0;
    state->end_pass();
  }
  for (size_t i = running_.size(); status.is_ok() && i-- > 0;) {
    CardRequest& state = *running_[i];
    if (!is_read_next(state)) continue;
    Status ended = conclude(state);
    if (ended.code() == Code::kEngineUnavailable) {
      status = std::move(ended);
    } else if (!ended.is_ok() || state.is_done()) {
      completed.push_back(retire(i, std::move(ended)));
    }
  }
  if (!status.is_ok()) fail(std::move(status), completed);
}

/// Whether the host must know what the request has come to.
bool CardLoop::is_read_next(const CardRequest& state) const {
  return state.is_done() || state.comes_too_late();
}

Status CardLoop::ask() {
  TESSERA_RETURN_IF_ERROR(forward());
  narrow_late();
  return choose();
}

Status CardLoop::forward() {
  pass_tokens_.clear();
  pass_owners_.clear();
  groups_.clear();
  for (const scheduler::Share& share : plan_) {
    CardRequest& state = *running_[share.runnable];
    state.append_rows(share, pass_tokens_, groups_);
    pass_owners_.resize(pass_tokens_.size(), state.slot());
  }
  const auto rows = static_cast<uint32_t>(pass_tokens_.size());
  TESSERA_RETURN_IF_ERROR(queue_->copy_in(tokens_, pass_tokens_.data(), rows * sizeof(int32_t)));
  TESSERA_RETURN_IF_ERROR(queue_->copy_in(owners_, pass_owners_.data(), rows * sizeof(uint32_t)));
  uint32_t first = 0;
  for (const scheduler::Share& share : plan_) {
    CardRequest& state = *running_[share.runnable];
    if (state.pending_rows() > 0) TESSERA_RETURN_IF_ERROR(state.fork(tokens_ + first));
    first += share.rows;
  }
  TESSERA_RETURN_IF_ERROR(decoder_->forward(tokens_, groups_));
  const ops::cuda::RowCheck check{decoder_->final_rows(), config_.hidden_size, owners_, struck_};
  const LaunchShape shape{{rows, 1, 1}, {ops::cuda::kRowThreads, 1, 1}};
  TESSERA_RETURN_IF_ERROR(device::cuda::launch(*queue_, model::cuda::kCheckRows, shape, check));
  uint32_t end = 0;
  for (const scheduler::Share& share : plan_) {
    end += share.rows;
    running_[share.runnable]->rows_asked(share, end);
  }
  return Status::ok();
}

Status CardLoop::choose() {
  due_.clear();
  steps_.clear();
  uint32_t keys_max = 0;
  bool has_other_norms = false;
  for (const auto& state : running_) {
    if (!state->awaits_selection()) continue;
    TESSERA_RETURN_IF_ERROR(state->head(row_numbers_));
    due_.push_back(state.get());
    steps_.push_back(state->search().step());
    keys_max = std::max(keys_max, state->search().keys_max());
    has_other_norms = has_other_norms || steps_.back().norm != beam::cuda::Norm::kFull;
    work_.cells += state->head_cells();
  }
  if (due_.empty()) return Status::ok();
  TESSERA_RETURN_IF_ERROR(
      queue_->copy_in(searches_, steps_.data(), steps_.size() * sizeof(beam::cuda::Search)));
  TESSERA_RETURN_IF_ERROR(select_next(*queue_, searches_, static_cast<uint32_t>(steps_.size()),
                                      keys_max, has_other_norms));
  for (CardRequest* state : due_) TESSERA_RETURN_IF_ERROR(state->chosen());
  return Status::ok();
}

Status CardLoop::wait() {
  TESSERA_RETURN_IF_ERROR(queue_->finish());
  if (asked_.empty()) return Status::ok();
  const float taken_us = microseconds_since(asked_since_);
  double predicted_us = 0;
  for (const scheduler::PassWork& work : asked_) predicted_us += cost().predict_us(work);
  const auto count = static_cast<double>(asked_.size());
  for (const scheduler::PassWork& work : asked_) {
    const double part = predicted_us > 0 ? cost().predict_us(work) / predicted_us : 1 / count;
    work_ = work;
    observe(static_cast<float>(taken_us * part));
  }
  asked_.clear();
  return Status::ok();
}

Status CardLoop::conclude(CardRequest& state) {
  uint32_t struck = 0;
  TESSERA_RETURN_IF_ERROR(queue_->copy_out(&struck, struck_ + state.slot(), sizeof(struck)));
  if (struck != 0) {
    state.drop_computed();
    return {Code::kModelNotFinite, "the model's numbers for this request are not finite"};
  }
  return state.collect();
}

void CardLoop::fail(Status status, std::vector<Completion>& completed) {
  health_ = {Code::kEngineUnavailable, status.message()};
  for (size_t i = running_.size(); i-- > 0;) completed.push_back(retire(i, health_));
}

Completion CardLoop::retire(size_t index, Status status) {
  CardRequest& state = *running_[index];
  // Who is cancelled, or late, is in the middle of passes that were asked for.
  if (health_.is_ok() && !status.is_ok() && status.code() != Code::kModelNotFinite) {
    Status waited = wait();
    if (waited.is_ok()) waited = conclude(state);
    if (waited.code() == Code::kEngineUnavailable) health_ = waited;
  }
  if (!health_.is_ok()) state.drop_computed();
  std::unique_ptr<CardRequest> owned = std::move(running_[index]);
  running_.erase(running_.begin() + static_cast<ptrdiff_t>(index));
  links_.erase(links_.begin() + static_cast<ptrdiff_t>(index));
  Completion completion = completion_of(*owned, std::move(status));
  answer(*owned, completion);
  completion.timings = owned->timings();
  completion.passes = owned->passes();
  completion.timings.total_us = microseconds_since(owned->request().submitted);
  if (options_.kv.is_enabled) owned->keep_kv();
  free_slots_.push_back(owned->slot());
  owned->release();
  is_full_ = false;
  idle_.push_back(std::move(owned));
  return completion;
}

}  // namespace tessera::engine::cuda
