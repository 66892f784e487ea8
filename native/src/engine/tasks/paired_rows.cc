#include "engine/tasks/paired_rows.h"

#include <algorithm>

namespace tessera::engine {

void PairedRows::push(const beam::Rows& from, uint32_t search, size_t row, beam::Rows& rows) {
  const uint32_t parent = from.parents[row];
  rows.beams.scores.push_back(from.beams.scores[row]);
  rows.beams.nodes.push_back(from.beams.nodes[row]);
  rows.beams.ended.push_back(from.beams.ended[row]);
  rows.codes.push_back(from.codes[row]);
  rows.parents.push_back(parent == beam::kNoSlot ? parent : slots_[search][parent]);
  rows.steps.push_back(from.steps[row]);
  const auto own = static_cast<uint32_t>(slots_[search].size());
  slots_[search].push_back(static_cast<uint32_t>(owners_.size()));
  owners_.push_back({search, own});
}

void PairedRows::merge(const std::array<beam::Rows, 2>& of, beam::Rows& rows) {
  std::array<size_t, 2> next{};
  while (next[0] < of[0].size() || next[1] < of[1].size()) {
    uint32_t step = UINT32_MAX;
    for (size_t s = 0; s < of.size(); ++s) {
      if (next[s] < of[s].size()) step = std::min(step, of[s].steps[next[s]]);
    }
    for (uint32_t s = 0; s < of.size(); ++s) {
      for (; next[s] < of[s].size() && of[s].steps[next[s]] == step; ++next[s]) {
        push(of[s], s, next[s], rows);
      }
    }
  }
}

}  // namespace tessera::engine
