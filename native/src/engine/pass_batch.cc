#include "engine/pass_batch.h"

#include <algorithm>

#include "attention/block.h"

namespace tessera::engine {

using attention::kBlockPositions;

void PassBatch::build(std::span<const scheduler::Share> plan, Running running,
                      std::span<const scheduler::Link> links) {
  tokens_.clear();
  groups_.clear();
  mirrors_.clear();
  ranges_.clear();
  for (const scheduler::Share& share : plan) {
    running[share.runnable]->append_rows(share, tokens_, groups_);
    const size_t first = mirrors_.size();
    if (groups_.back().beam == nullptr) add_mirrors(share, running, links);
    ranges_.push_back({first, mirrors_.size() - first});
  }
  for (size_t s = 0; s < groups_.size(); ++s)
    groups_[s].mirrors = std::span(mirrors_).subspan(ranges_[s].first, ranges_[s].count);
}

/// Requests hold whole shared blocks in common, so what must be mirrored lies in the block in which
/// the shared part ends.
void PassBatch::add_mirrors(const scheduler::Share& share, Running running,
                            std::span<const scheduler::Link> links) {
  shared_.resize(running.size());
  scheduler::shared_with(links, share.runnable, shared_);
  const attention::PromptKv& own = running[share.runnable]->prompt();
  const size_t first_mirror = mirrors_.size();
  for (uint32_t i = 0; i < running.size(); ++i) {
    if (i == share.runnable || shared_[i] <= share.first) continue;
    const uint32_t block = shared_[i] / kBlockPositions;
    const uint32_t begin = std::max(share.first, block * kBlockPositions);
    const uint32_t end = std::min(share.first + share.rows, shared_[i]);
    if (begin >= end) continue;
    const attention::PromptKv& other = running[i]->prompt();
    const bool is_written = other.blocks[block] == own.blocks[block] ||
                            std::any_of(mirrors_.begin() + static_cast<ptrdiff_t>(first_mirror),
                                        mirrors_.end(), [&](const attention::Mirror& mirror) {
                                          return mirror.first_position / kBlockPositions == block &&
                                                 mirror.to->blocks[block] == other.blocks[block];
                                        });
    if (!is_written) mirrors_.push_back({&other, begin, end - begin});
  }
}

}  // namespace tessera::engine
