// What a search on a card reads of a catalogue: the snapshot's arrays, and the token of each code.
#pragma once

#include <span>
#include <vector>

#include "beam/cuda/select_kernels.h"
#include "catalogue/snapshot.h"
#include "device/cuda/queue.h"

namespace tessera::engine::cuda {

class CardCatalogue {
 public:
  /// `level_tokens[l][code]` is the token of a code. Errors: ENGINE_OVERLOADED.
  static Result<CardCatalogue> copy(const catalogue::Snapshot& snapshot,
                                    std::span<const std::vector<int32_t>> level_tokens,
                                    device::cuda::Queue& queue);

  const beam::cuda::Trie& trie() const { return trie_; }
  uint32_t depth() const { return static_cast<uint32_t>(level_tokens_.size()); }
  /// On the card.
  const int32_t* level_tokens(uint32_t level) const { return level_tokens_[level]; }
  uint32_t level_size(uint32_t level) const { return level_sizes_[level]; }
  /// Nodes at depth level + 1: a search has no more beams after that level.
  uint32_t nodes_at_level(uint32_t level) const { return node_counts_[level]; }

 private:
  device::cuda::Memory memory_;
  beam::cuda::Trie trie_;
  std::vector<const int32_t*> level_tokens_;
  std::vector<uint32_t> level_sizes_, node_counts_;
};

}  // namespace tessera::engine::cuda
