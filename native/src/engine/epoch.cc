#include "engine/epoch.h"

#include <algorithm>
#include <cstring>

namespace tessera::engine {

using attention::kBlockPositions;

void Epoch::check_rows(std::span<const scheduler::Slice> plan, PassBatch::Running running,
                       const PassBatch& batch, const model::Workspace& workspace) {
  slices_.clear();
  group_of_.clear();
  finite_.clear();
  for (uint32_t s = 0; s < plan.size(); ++s) {
    const attention::RowGroup& rows = batch.group(s);
    RequestState& state = *running[plan[s].runnable];
    const bool is_struck = faults_ != nullptr && faults_->strikes(state.request().ticket, rows);
    const bool is_finite =
        !is_struck && decoder_.is_finite(workspace, rows.first_row, plan[s].rows);
    if (rows.beam != nullptr) {
      if (is_finite) {
        state.beams_computed(rows.first_row + plan[s].rows);
      } else {
        state.clear_beams();
        state.set_failed();
      }
      continue;
    }
    slices_.push_back({plan[s].runnable, plan[s].first, plan[s].rows});
    group_of_.push_back(s);
    finite_.push_back(is_finite ? 1 : 0);
  }
}

void Epoch::settle(std::span<const scheduler::Slice> plan, PassBatch::Running running,
                   std::span<const scheduler::Link> links, const PassBatch& batch,
                   const model::Workspace& workspace) {
  check_rows(plan, running, batch, workspace);
  if (slices_.empty()) return;
  lengths_.clear();
  for (const RequestState* const state : running) lengths_.push_back(state->prompt().length);
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
    take_back(rows);
    if (outcomes_[s] == scheduler::SliceOutcome::kFailed) {
      running[request]->set_failed();
    } else {
      rolled_back_rows_ += rows.row_count;
    }
  }
  for (size_t i = 0; i < running.size(); ++i)
    running[i]->prompt_computed(lengths_[i], own_[i], ends_[i]);
}

void Epoch::take_back(const attention::RowGroup& rows) const {
  clear_positions(*rows.prompt, rows.first_position, rows.row_count);
  for (const attention::Mirror& mirror : rows.mirrors)
    clear_positions(*mirror.to, mirror.first_position, mirror.count);
}

void Epoch::clear_positions(const attention::PromptKv& prompt, uint32_t first,
                            uint32_t count) const {
  const device::PanelType type = layout_.panel_type();
  const uint64_t element_bytes = device::panel_element_bytes(type);
  for (uint32_t position = first; position < first + count; ++position) {
    char* block = static_cast<char*>(prompt.blocks[position / kBlockPositions]);
    const uint32_t slot = position % kBlockPositions;
    for (uint32_t layer = 0; layer < layout_.layers; ++layer) {
      for (uint32_t head = 0; head < layout_.kv_heads; ++head) {
        char* keys = block + layout_.key_offset(layer, head);
        char* values = block + layout_.value_offset(layer, head);
        for (uint32_t d = 0; d < layout_.head_dim; ++d) {
          char* panel = values + d / device::kPanelColumns * layout_.value_panel_bytes();
          std::memset(keys + device::panel_offset(type, d, slot), 0, element_bytes);
          std::memset(panel + device::panel_offset(type, slot, d % device::kPanelColumns), 0,
                      element_bytes);
        }
      }
    }
  }
}

}  // namespace tessera::engine
