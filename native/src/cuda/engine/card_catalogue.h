// A catalogue that changes while it serves, on a card: the arrays of its snapshot, the versions
// that requests have pinned, and the token of each code.
//
//   Result<std::shared_ptr<const CardVersion>> version = catalogue.pin(view);
//   search.trie = version.value()->trie();   // held until the search's kernels have run
//
// A version costs on the card what it touches (card_changes.h); a snapshot made anew is copied
// whole, beside the old one while requests have that.
//
// Thread-safety: one thread at a time, that of the queue, which outlives all; versions too are let
// go there.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "catalogue/view.h"
#include "cuda/device/queue.h"
#include "cuda/engine/card_changes.h"

namespace tessera::engine::cuda {

/// The snapshot's arrays on the card.
struct CardSnapshot {
  std::shared_ptr<const catalogue::Snapshot> snapshot;
  device::cuda::Memory memory;
  beam::cuda::Trie trie;
  std::shared_ptr<CardChanges> changes;  // since the snapshot
};

/// Of the card what a request has pinned. Immutable.
class CardVersion {
 public:
  CardVersion(std::shared_ptr<const CardSnapshot> base,
              std::shared_ptr<const CardChanges::Part> part,
              std::shared_ptr<const catalogue::View> view, device::cuda::Heap::Piece trie)
      : base_(std::move(base)),
        part_(std::move(part)),
        view_(std::move(view)),
        trie_(std::move(trie)) {}

  const catalogue::View& view() const { return *view_; }
  /// On the card.
  const beam::cuda::Trie* trie() const {
    return static_cast<const beam::cuda::Trie*>(trie_.data());
  }
  /// Of the version's snapshot, all versions together.
  const CardChanges& changes() const { return *base_->changes; }
  /// No fewer than the nodes at depth level + 1: a search has no more beams after that level.
  uint64_t nodes_at_level(uint32_t level) const {
    const catalogue::Snapshot& base = view_->base();
    const uint64_t later = view_->node_count() - base.node_count();
    return later + (level < base.depth() ? base.nodes_at_level(level) : 0);
  }

 private:
  std::shared_ptr<const CardSnapshot> base_;
  std::shared_ptr<const CardChanges::Part> part_;
  std::shared_ptr<const catalogue::View> view_;
  device::cuda::Heap::Piece trie_;
};

class CardCatalogue {
 public:
  /// `level_tokens[l][code]` is the token of a code, negative where it has none: its logit is minus
  /// infinity. `terminal_tokens` end each path. Errors: ENGINE_OVERLOADED.
  static Result<std::unique_ptr<CardCatalogue>> open(
      std::span<const std::vector<int32_t>> level_tokens, std::span<const int32_t> terminal_tokens,
      device::cuda::Queue& queue);
  CardCatalogue(const CardCatalogue&) = delete;
  CardCatalogue& operator=(const CardCatalogue&) = delete;

  /// A version of the catalogue, on the card as long as it is held. Copies what the card does not
  /// have of it. Errors: ENGINE_OVERLOADED, and what the queue says: all stays as it was.
  /// REQUIRES: no deeper than the levels that have tokens, and no code beyond theirs.
  Result<std::shared_ptr<const CardVersion>> pin(
      const std::shared_ptr<const catalogue::View>& view);

  uint32_t depth() const { return static_cast<uint32_t>(level_sizes_.size()); }
  uint32_t level_size(uint32_t level) const { return level_sizes_[level]; }
  uint32_t terminal_count() const { return terminal_count_; }
  /// On the card, the terminal tokens behind those of the level; at depth() these alone.
  const int32_t* level_tokens(uint32_t level) const { return level_tokens_[level]; }
  const int32_t* terminal_tokens() const { return level_tokens_.back(); }

 private:
  explicit CardCatalogue(device::cuda::Queue& queue) : queue_(queue) {}
  Result<std::shared_ptr<const CardSnapshot>> snapshot_of(const catalogue::View& view);

  device::cuda::Queue& queue_;
  device::cuda::Memory memory_;
  std::vector<const int32_t*> level_tokens_;
  std::vector<uint32_t> level_sizes_;
  uint32_t terminal_count_ = 0;
  std::shared_ptr<const CardVersion> newest_;
  std::unordered_map<const catalogue::Snapshot*, std::weak_ptr<const CardSnapshot>> snapshots_;
};

}  // namespace tessera::engine::cuda
