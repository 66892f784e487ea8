#include "engine/pass_batch.h"

#include <algorithm>

#include "attention/block.h"

namespace tessera::engine {

using attention::kBlockPositions;

void PassBatch::build(std::span<const scheduler::Slice> plan, Running running,
                      std::span<const scheduler::Link> links) {
  tokens_.clear();
  groups_.clear();
  adapters_.clear();
  mirrors_.clear();
  ranges_.clear();
  first_groups_.clear();
  for (const scheduler::Slice& slice : plan) {
    const size_t first_group = groups_.size();
    first_groups_.push_back(first_group);
    running[slice.runnable]->append_rows(slice, tokens_, groups_);
    for (size_t g = first_group; g < groups_.size(); ++g) {
      add_adapter(running[slice.runnable]->rows_adapter(), groups_[g]);
      const size_t first = mirrors_.size();
      if (groups_[g].beam == nullptr) add_mirrors(slice, running, links);
      ranges_.push_back({first, mirrors_.size() - first});
    }
  }
  for (size_t s = 0; s < groups_.size(); ++s)
    groups_[s].mirrors = std::span(mirrors_).subspan(ranges_[s].first, ranges_[s].count);
}

void PassBatch::add_adapter(const lora::Adapter* adapter, const attention::RowGroup& rows) {
  if (adapter == nullptr) return;
  const bool goes_on = !adapters_.empty() && adapters_.back().adapter == &adapter->numbers() &&
                       adapters_.back().first + adapters_.back().count == rows.first_row;
  if (goes_on) {
    adapters_.back().count += rows.row_count;
  } else {
    adapters_.push_back({&adapter->numbers(), rows.first_row, rows.row_count});
  }
}

/// Rows of the slice that others keep as well, in blocks of their own. Requests that hold a block
/// in common need it written once.
void PassBatch::add_mirrors(const scheduler::Slice& slice, Running running,
                            std::span<const scheduler::Link> links) {
  shared_.resize(running.size());
  scheduler::shared_with(links, slice.runnable, shared_);
  const attention::PromptKv& own = running[slice.runnable]->prompt();
  const size_t first_mirror = mirrors_.size();
  for (uint32_t i = 0; i < running.size(); ++i) {
    if (i == slice.runnable) continue;
    const attention::PromptKv& other = running[i]->prompt();
    const uint32_t shared_end = std::min(slice.first + slice.rows, shared_[i]);
    for (uint32_t begin = slice.first; begin < shared_end;) {
      const uint32_t block = begin / kBlockPositions;
      const uint32_t end = std::min(shared_end, (block + 1) * kBlockPositions);
      const auto written = std::span(mirrors_).subspan(first_mirror);
      const bool is_written = other.blocks[block] == own.blocks[block] ||
                              std::any_of(written.begin(), written.end(), [&](const auto& mirror) {
                                return mirror.first_position <= begin &&
                                       begin < mirror.first_position + mirror.count &&
                                       mirror.to->blocks[block] == other.blocks[block];
                              });
      if (!is_written) mirrors_.push_back({&other, begin, end - begin});
      begin = end;
    }
  }
}

}  // namespace tessera::engine
