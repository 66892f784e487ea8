#include "cuda/engine/card_executor.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/check.h"
#include "cuda/kernels/forward_kernels.h"

namespace tessera::engine::cuda {
namespace {

using device::cuda::LaunchShape;
using device::cuda::Memory;

/// All requests of an executor are made by it.
CardRequest& own(RunningRequest& state) { return static_cast<CardRequest&>(state); }

Status not_here(const std::string& field) {
  return {Code::kRequestInvalid, field + ": expected an engine on \"cpu\", got one on a card"};
}

}  // namespace

CardExecutor::CardExecutor(const EngineOptions& options, std::unique_ptr<device::cuda::Queue> queue,
                           std::unique_ptr<model::cuda::CardDecoder> decoder, kv::Pool& pool)
    : pool_(pool), queue_(std::move(queue)), decoder_(std::move(decoder)) {
  for (uint32_t slot = options.batch_requests_max; slot-- > 0;) free_slots_.push_back(slot);
}

Result<std::unique_ptr<CardExecutor>> CardExecutor::make(
    const EngineOptions& options, std::unique_ptr<device::cuda::Queue> queue,
    std::unique_ptr<model::cuda::CardDecoder> decoder, kv::Pool& pool) {
  auto executor = std::unique_ptr<CardExecutor>(
      new CardExecutor(options, std::move(queue), std::move(decoder), pool));
  TESSERA_RETURN_IF_ERROR(executor->allocate(options));
  return executor;
}

/// Versions and searches are in memory of the queue.
CardExecutor::~CardExecutor() { (void)queue_->finish(); }

Status CardExecutor::allocate(const EngineOptions& options) {
  const uint32_t rows = options.batch_rows_max, slots = options.batch_requests_max;
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
  return queue_->copy_in(row_numbers_, numbers.data(), numbers.size() * sizeof(uint32_t));
}

Status CardExecutor::check(const Request& request) const {
  if (request.task->needs().selection == Selection::kGiven) {
    return not_here("kind");
  }
  if (request.task->reads_tokens()) return not_here("kind");
  if (request.task->needs().selection == Selection::kHidden) return not_here("kind");
  if (request.ranking.adapter != nullptr) return not_here("ranking");
  if (request.adapter != nullptr) return not_here("adapter");
  if (request.watched_item != catalogue::kNoItem) {
    return not_here("watchedItem");
  }
  if (request.wants_tree) return not_here("wantsTree");
  if (request.appraiser != nullptr) return not_here("valuation");
  if (request.explore.slots > 0) return not_here("explore");
  return Status::ok();
}

Result<std::shared_ptr<CardCatalogue>> CardExecutor::catalogue_of(
    const std::shared_ptr<const Binding>& binding) {
  for (const Known& known : catalogues_) {
    if (known.binding == binding) return known.catalogue;
  }
  // Without another holder a version is never asked for again.
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

Result<CardTarget> CardExecutor::target_of(const Request& request, const catalogue::Reach& reach) {
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

std::unique_ptr<RunningRequest> CardExecutor::make_request(KvBudget& budget) {
  return std::make_unique<CardRequest>(*decoder_, *queue_, pool_, budget);
}

Status CardExecutor::reserve(RunningRequest& state, const Request& request, const RunningRequest*,
                             scheduler::Link& link) {
  link = {};
  reserved_reach_ = RunningRequest::reach_of(request);
  Result<CardTarget> target = target_of(request, reserved_reach_);
  if (!target.is_ok()) return target.status();
  reserved_target_ = std::move(target).value();
  return own(state).reserve(request, reserved_target_);
}

void CardExecutor::forget_reserved() {
  reserved_reach_ = {};
  reserved_target_ = {};
}

void CardExecutor::drop_buffers(RunningRequest& idle) { own(idle).drop_buffers(); }

Status CardExecutor::begin(RunningRequest& state, Request request, Clock::time_point now) {
  request.reach = std::exchange(reserved_reach_, {});
  const uint32_t slot = free_slots_.back();
  Status status = queue_->zero(struck_ + slot, sizeof(uint32_t));
  if (status.is_ok()) {
    status = own(state).begin(std::move(request), std::exchange(reserved_target_, {}), slot, now);
  }
  if (!status.is_ok()) {
    state.release();
    return status;
  }
  free_slots_.pop_back();
  return status;
}

void CardExecutor::end(RunningRequest& state) { free_slots_.push_back(own(state).slot()); }

Status CardExecutor::forward(Running running, std::span<const scheduler::Slice> plan,
                             std::span<const scheduler::Link>, PassTimes& times) {
  pass_tokens_.clear();
  pass_owners_.clear();
  groups_.clear();
  for (const scheduler::Slice& slice : plan) {
    CardRequest& state = own(*running[slice.runnable]);
    state.append_rows(slice, pass_tokens_, groups_);
    pass_owners_.resize(pass_tokens_.size(), state.slot());
  }
  const auto rows = static_cast<uint32_t>(pass_tokens_.size());
  times.rows = rows;
  TESSERA_RETURN_IF_ERROR(queue_->copy_in(tokens_, pass_tokens_.data(), rows * sizeof(int32_t)));
  TESSERA_RETURN_IF_ERROR(queue_->copy_in(owners_, pass_owners_.data(), rows * sizeof(uint32_t)));
  uint32_t first = 0;
  for (const scheduler::Slice& slice : plan) {
    CardRequest& state = own(*running[slice.runnable]);
    if (state.pending_rows() > 0) TESSERA_RETURN_IF_ERROR(state.fork(tokens_ + first));
    first += slice.rows;
  }
  TESSERA_RETURN_IF_ERROR(decoder_->forward(tokens_, groups_));
  const ops::cuda::RowCheck check{decoder_->final_rows(), config().hidden_size, owners_, struck_};
  const LaunchShape shape{{rows, 1, 1}, {ops::cuda::kRowThreads, 1, 1}};
  TESSERA_RETURN_IF_ERROR(device::cuda::launch(*queue_, model::cuda::kCheckRows, shape, check));
  uint32_t end = 0;
  for (const scheduler::Slice& slice : plan) {
    end += slice.rows;
    own(*running[slice.runnable]).rows_asked(slice, end);
  }
  return Status::ok();
}

Result<scheduler::HeadWork> CardExecutor::select(Running running) {
  scheduler::HeadWork work;
  due_.clear();
  steps_.clear();
  uint32_t keys_max = 0;
  bool has_other_norms = false;
  for (const auto& running_state : running) {
    if (!running_state->awaits_selection()) continue;
    CardRequest* const state = &own(*running_state);
    TESSERA_RETURN_IF_ERROR(state->head(row_numbers_));
    due_.push_back(state);
    steps_.push_back(state->search().step());
    keys_max = std::max(keys_max, state->search().keys_max());
    has_other_norms = has_other_norms || steps_.back().norm != beam::cuda::Norm::kFull;
    const scheduler::HeadWork own_work = state->head_work();
    work.cells += own_work.cells;
    work.columns = std::max(work.columns, own_work.columns);
  }
  if (due_.empty()) return work;
  TESSERA_RETURN_IF_ERROR(
      queue_->copy_in(searches_, steps_.data(), steps_.size() * sizeof(beam::cuda::Search)));
  TESSERA_RETURN_IF_ERROR(select_next(*queue_, searches_, static_cast<uint32_t>(steps_.size()),
                                      keys_max, has_other_norms));
  for (CardRequest* state : due_) TESSERA_RETURN_IF_ERROR(state->chosen());
  return work;
}

bool CardExecutor::is_read_next(const RunningRequest& state) const {
  return state.is_done() || state.comes_too_late();
}

Status CardExecutor::conclude(RunningRequest& state) {
  uint32_t struck = 0;
  TESSERA_RETURN_IF_ERROR(queue_->copy_out(&struck, struck_ + own(state).slot(), sizeof(struck)));
  if (struck != 0) {
    state.drop_computed();
    return not_finite();
  }
  return own(state).collect();
}

}  // namespace tessera::engine::cuda
