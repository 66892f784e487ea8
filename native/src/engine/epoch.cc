#include "engine/epoch.h"

namespace tessera::engine {

Status Epoch::check_rows(std::span<const scheduler::Slice> plan, PassBatch::Running running,
                         const PassBatch& batch, model::PassMemory& memory) {
  slices_.clear();
  group_of_.clear();
  finite_.clear();
  for (uint32_t s = 0; s < plan.size(); ++s) {
    const attention::RowGroup& rows = batch.group(s);
    RunningRequest& state = *running[plan[s].runnable];
    const bool is_struck = faults_ != nullptr && faults_->strikes(state.request().ticket, rows);
    const Result<bool> checked = decoder_.is_finite(memory, rows.first_row, plan[s].rows);
    if (!checked.is_ok()) return checked.status();
    const bool is_finite = !is_struck && checked.value();
    if (rows.beam != nullptr) {
      if (is_finite) {
        state.beams_computed(rows.first_row + plan[s].rows);
      } else {
        TESSERA_RETURN_IF_ERROR(state.clear_beams());
        state.set_failed();
      }
      continue;
    }
    slices_.push_back({plan[s].runnable, plan[s].first, plan[s].rows});
    group_of_.push_back(s);
    finite_.push_back(is_finite ? 1 : 0);
  }
  return Status::ok();
}

Status Epoch::settle(std::span<const scheduler::Slice> plan, PassBatch::Running running,
                     std::span<const scheduler::Link> links, const PassBatch& batch,
                     model::PassMemory& memory) {
  TESSERA_RETURN_IF_ERROR(check_rows(plan, running, batch, memory));
  if (slices_.empty()) return Status::ok();
  lengths_.clear();
  for (const RunningRequest* const state : running) lengths_.push_back(state->prompt().length);
  outcomes_.resize(slices_.size());
  scheduler::commit(links, slices_, finite_, lengths_, outcomes_, scratch_);
  own_.assign(running.size(), 0);
  ends_.assign(running.size(), 0);
  for (size_t s = 0; s < slices_.size(); ++s) {
    const attention::RowGroup& rows = batch.group(group_of_[s]);
    const uint32_t request = slices_[s].request;
    if (outcomes_[s] == scheduler::SliceOutcome::kCommitted) {
      own_[request] += rows.row_count;
      ends_[request] = rows.first_row + rows.row_count;
      continue;
    }
    TESSERA_RETURN_IF_ERROR(take_back(rows));
    if (outcomes_[s] == scheduler::SliceOutcome::kFailed) {
      running[request]->set_failed();
    } else {
      rolled_back_rows_ += rows.row_count;
    }
  }
  for (size_t i = 0; i < running.size(); ++i)
    running[i]->prompt_computed(lengths_[i], own_[i], ends_[i]);
  return Status::ok();
}

Status Epoch::take_back(const attention::RowGroup& rows) const {
  TESSERA_RETURN_IF_ERROR(decoder_.clear(*rows.prompt, rows.first_position, rows.row_count));
  for (const attention::Mirror& mirror : rows.mirrors)
    TESSERA_RETURN_IF_ERROR(decoder_.clear(*mirror.to, mirror.first_position, mirror.count));
  return Status::ok();
}

}  // namespace tessera::engine
