#include "cuda/engine/card_changes.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace tessera::engine::cuda {

using beam::cuda::LaterChild;
using beam::cuda::MapNode;
using beam::cuda::NodeRow;
using device::cuda::Heap;

static_assert(beam::cuda::kMapBits == catalogue::PersistentMap<catalogue::NodeChange>::kBits);

class CardChanges::Part {
 public:
  Part(std::shared_ptr<CardChanges> owner, std::shared_ptr<const void> of,
       std::vector<SharedPart> below, Heap::Piece memory)
      : owner_(std::move(owner)),
        of_(std::move(of)),
        below_(std::move(below)),
        memory_(std::move(memory)) {}
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() { owner_->parts_.erase(of_.get()); }

  const void* data() const { return memory_.data(); }

 private:
  std::shared_ptr<CardChanges> owner_;  // outlives the memory, which is declared behind it
  std::shared_ptr<const void> of_;      // so that nothing else gets its address
  std::vector<SharedPart> below_;
  Heap::Piece memory_;
};

namespace {

/// Arrays behind one another in host memory that become one piece of the card's.
class Staging {
 public:
  Staging(std::vector<char>& bytes, uint64_t head_bytes) : bytes_(bytes) {
    bytes_.assign(head_bytes, 0);
  }
  /// Returns the offset of the array.
  template <typename T>
  uint64_t add(std::span<const T> values) {
    bytes_.resize((bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T));
    const uint64_t offset = bytes_.size();
    bytes_.resize(offset + values.size_bytes());
    if (!values.empty()) std::memcpy(bytes_.data() + offset, values.data(), values.size_bytes());
    return offset;
  }
  template <typename T>
  void set_head(const T& head) {
    std::memcpy(bytes_.data(), &head, sizeof(head));
  }

 private:
  std::vector<char>& bytes_;
};

/// Each with its place among all children of the node.
std::vector<LaterChild> later_children(const catalogue::NodeChange& change,
                                       const catalogue::Children& base) {
  std::vector<LaterChild> later;
  uint32_t before = 0;  // of the snapshot
  for (const catalogue::AddedChild& child : change.added) {
    while (before < base.codes.size() && base.codes[before] < child.code) ++before;
    later.push_back({child.code, child.node, before + static_cast<uint32_t>(later.size())});
  }
  return later;
}

}  // namespace

const MapNode* CardChanges::root_of(const SharedPart& part) {
  return part == nullptr ? nullptr : static_cast<const MapNode*>(part->data());
}

CardChanges::SharedPart CardChanges::find(const void* of) const {
  const auto known = parts_.find(of);
  return known == parts_.end() ? nullptr : known->second.lock();
}

Result<CardChanges::SharedPart> CardChanges::copy(const catalogue::View& view) {
  const auto root = view.node_changes().root();
  return root == nullptr ? Result<SharedPart>(SharedPart()) : copy_node(root);
}

/// Copies what is staged.
Result<CardChanges::SharedPart> CardChanges::keep(std::shared_ptr<const void> of,
                                                  std::vector<SharedPart> below, Heap::Piece memory,
                                                  uint64_t bytes) {
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(memory.data(), staged_.data(), bytes));
  copied_bytes_ += bytes;
  const void* key = of.get();
  SharedPart part = std::make_shared<Part>(shared_from_this(), std::move(of), std::move(below),
                                           std::move(memory));
  parts_[key] = part;
  return part;
}

Result<CardChanges::SharedPart> CardChanges::copy_node(
    const std::shared_ptr<const Map::Node>& node) {
  if (SharedPart known = find(node.get()); known != nullptr) return known;
  std::vector<SharedPart> below;
  std::vector<uint64_t> slots;
  for (const Map::Slot& slot : node->slots) {
    const bool is_row = slot.value != nullptr;
    Result<SharedPart> part = is_row ? copy_row(slot.key, slot.value) : copy_node(slot.child);
    if (!part.is_ok()) return part.status();
    slots.push_back(reinterpret_cast<uint64_t>(part.value()->data()) +
                    (is_row ? beam::cuda::kRowMark : 0));
    below.push_back(std::move(part).value());
  }
  Staging staging(staged_, sizeof(MapNode));
  staging.set_head(MapNode{node->used});
  staging.add(std::span<const uint64_t>(slots));
  Result<Heap::Piece> memory = heap_.take(staged_.size());
  if (!memory.is_ok()) return memory.status();
  return keep(node, std::move(below), std::move(memory).value(), staged_.size());
}

Result<CardChanges::SharedPart> CardChanges::copy_row(
    uint32_t node, const std::shared_ptr<const catalogue::NodeChange>& change) {
  if (SharedPart known = find(change.get()); known != nullptr) return known;
  const catalogue::Children base =
      node < base_->node_count() ? base_->children(node) : catalogue::Children{};
  const std::vector<LaterChild> later = later_children(*change, base);
  Staging staging(staged_, sizeof(NodeRow));
  const uint64_t live = staging.add(std::span<const uint64_t>(change->live_children));
  const uint64_t items = staging.add(std::span<const uint32_t>(change->items));
  const uint64_t later_at = staging.add(std::span<const LaterChild>(later));
  Result<Heap::Piece> memory = heap_.take(staged_.size());
  if (!memory.is_ok()) return memory.status();
  const auto* at = static_cast<const char*>(memory.value().data());
  NodeRow row;
  row.node = node;
  row.item_count = static_cast<uint32_t>(change->items.size());
  row.later_count = static_cast<uint32_t>(later.size());
  row.later = reinterpret_cast<const LaterChild*>(at + later_at);
  if (!change->live_children.empty())
    row.live_children = reinterpret_cast<const uint64_t*>(at + live);
  if (change->has_items) row.items = reinterpret_cast<const uint32_t*>(at + items);
  staging.set_head(row);
  return keep(change, {}, std::move(memory).value(), staged_.size());
}

}  // namespace tessera::engine::cuda
