// The changes since a snapshot, on a card: the map of a view's changed nodes, copied node for node
// (cuda/kernels/trie.h). Versions share nodes on the card as they do on the host, so a version
// costs only the nodes it changes, in any order of versions; dropping it frees the nodes that it
// alone has.
//
// Thread-safety: one thread at a time, that of the queue, which outlives all.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "catalogue/view.h"
#include "cuda/device/heap.h"
#include "cuda/kernels/trie.h"

namespace tessera::engine::cuda {

class CardChanges : public std::enable_shared_from_this<CardChanges> {
 public:
  /// A map node or row on the card, and what it points to. Immutable; freed with its last holder.
  class Part;

  static std::shared_ptr<CardChanges> make(std::shared_ptr<const catalogue::Snapshot> base,
                                           device::cuda::Queue& queue) {
    return std::shared_ptr<CardChanges>(new CardChanges(std::move(base), queue));
  }

  /// The map of a view of the snapshot; null where nothing differs. Copies what the card does not
  /// have. Errors: ENGINE_OVERLOADED, and what the queue says; nothing stays of it then.
  Result<std::shared_ptr<const Part>> copy(const catalogue::View& view);
  static const beam::cuda::MapNode* root_of(const std::shared_ptr<const Part>& part);

  device::cuda::Heap& heap() { return heap_; }
  const device::cuda::Heap& heap() const { return heap_; }
  /// Copied since the beginning.
  uint64_t copied_bytes() const { return copied_bytes_; }
  uint64_t part_count() const { return parts_.size(); }

 private:
  using Map = catalogue::PersistentMap<catalogue::NodeChange>;
  using SharedPart = std::shared_ptr<const Part>;

  CardChanges(std::shared_ptr<const catalogue::Snapshot> base, device::cuda::Queue& queue)
      : base_(std::move(base)), queue_(queue), heap_(queue) {}

  Result<SharedPart> copy_node(const std::shared_ptr<const Map::Node>& node);
  Result<SharedPart> copy_row(uint32_t node,
                              const std::shared_ptr<const catalogue::NodeChange>& change);
  Result<SharedPart> keep(std::shared_ptr<const void> of, std::vector<SharedPart> below,
                          device::cuda::Heap::Piece memory, uint64_t bytes);
  SharedPart find(const void* of) const;

  const std::shared_ptr<const catalogue::Snapshot> base_;
  device::cuda::Queue& queue_;
  device::cuda::Heap heap_;
  std::unordered_map<const void*, std::weak_ptr<const Part>> parts_;  // by what they are copies of
  std::vector<char> staged_;
  uint64_t copied_bytes_ = 0;
};

}  // namespace tessera::engine::cuda
