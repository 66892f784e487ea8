#include "cuda/engine/card_catalogue.h"

#include <algorithm>
#include <utility>

namespace tessera::engine::cuda {
namespace {

/// Arrays to be copied one behind the other, and the pointers that want to know where.
class Copies {
 public:
  template <typename T>
  void add(std::span<const T> values, const T*& target) {
    copies_.push_back(
        {values.data(), values.size_bytes(), reinterpret_cast<const void**>(&target)});
    bytes_ += device::cuda::padded_bytes(values.size_bytes());
  }
  Result<device::cuda::Memory> run(device::cuda::Queue& queue) const {
    Result<device::cuda::Memory> memory = device::cuda::Memory::allocate(queue, bytes_);
    if (!memory.is_ok()) return memory.status();
    auto* at = memory.value().as<char>();
    for (const Copy& copy : copies_) {
      *copy.target = at;
      TESSERA_RETURN_IF_ERROR(queue.copy_in(at, copy.from, copy.bytes));
      at += device::cuda::padded_bytes(copy.bytes);
    }
    return memory;
  }

 private:
  struct Copy {
    const void* from;
    uint64_t bytes;
    const void** target;
  };
  std::vector<Copy> copies_;
  uint64_t bytes_ = 0;
};

Result<std::shared_ptr<const CardSnapshot>> copy_snapshot(
    std::shared_ptr<const catalogue::Snapshot> snapshot, device::cuda::Queue& queue) {
  // Nodes are numbered level by level, so their children and items follow each other.
  const auto nodes = static_cast<catalogue::NodeIndex>(snapshot->node_count());
  std::vector<uint32_t> codes, child_offsets = {1}, item_offsets = {0};
  codes.reserve(nodes);
  child_offsets.reserve(nodes + 1);
  item_offsets.reserve(nodes + 1);
  for (catalogue::NodeIndex node = 0; node < nodes; ++node) {
    codes.push_back(node == 0 ? 0 : snapshot->code(node));
    item_offsets.push_back(item_offsets.back() + snapshot->items(node).count);
    const catalogue::Children children = snapshot->children(node);
    child_offsets.push_back(child_offsets.back() + children.codes.size());
  }
  auto result = std::make_shared<CardSnapshot>();
  const uint32_t* card_codes = nullptr;
  Copies copies;
  copies.add<uint32_t>(codes, card_codes);
  copies.add<uint32_t>(child_offsets, result->trie.child_offsets);
  copies.add<uint32_t>(item_offsets, result->trie.item_offsets);
  Result<device::cuda::Memory> memory = copies.run(queue);
  if (!memory.is_ok()) return memory.status();
  result->memory = std::move(memory).value();
  result->trie.codes = card_codes;
  result->trie.code_bytes = sizeof(uint32_t);
  result->trie.interior_count = nodes;
  result->trie.node_count = nodes;
  result->changes = CardChanges::make(snapshot, queue);
  result->snapshot = std::move(snapshot);
  return std::shared_ptr<const CardSnapshot>(std::move(result));
}

}  // namespace

Result<std::unique_ptr<CardCatalogue>> CardCatalogue::open(
    std::span<const std::vector<int32_t>> level_tokens, std::span<const int32_t> terminal_tokens,
    device::cuda::Queue& queue) {
  auto result = std::unique_ptr<CardCatalogue>(new CardCatalogue(queue));
  std::vector<std::vector<int32_t>> lists(level_tokens.begin(), level_tokens.end());
  lists.emplace_back();
  result->level_tokens_.resize(lists.size());
  result->terminal_count_ = static_cast<uint32_t>(terminal_tokens.size());
  Copies copies;
  for (size_t level = 0; level < lists.size(); ++level) {
    if (level < level_tokens.size()) {
      result->level_sizes_.push_back(static_cast<uint32_t>(lists[level].size()));
    }
    lists[level].insert(lists[level].end(), terminal_tokens.begin(), terminal_tokens.end());
    copies.add<int32_t>(lists[level], result->level_tokens_[level]);
  }
  Result<device::cuda::Memory> memory = copies.run(queue);
  if (!memory.is_ok()) return memory.status();
  result->memory_ = std::move(memory).value();
  return result;
}

Result<std::shared_ptr<const CardSnapshot>> CardCatalogue::snapshot_of(
    const catalogue::View& view) {
  std::erase_if(snapshots_, [](const auto& entry) { return entry.second.expired(); });
  const auto known = snapshots_.find(&view.base());
  if (known != snapshots_.end()) return known->second.lock();
  Result<std::shared_ptr<const CardSnapshot>> copied = copy_snapshot(view.shared_base(), queue_);
  if (copied.is_ok()) snapshots_[&view.base()] = copied.value();
  return copied;
}

Result<std::shared_ptr<const CardVersion>> CardCatalogue::pin(
    const std::shared_ptr<const catalogue::View>& view) {
  if (newest_ != nullptr && &newest_->view() == view.get()) return newest_;
  Result<std::shared_ptr<const CardSnapshot>> base = snapshot_of(*view);
  if (!base.is_ok()) return base.status();
  CardChanges& of_base = *base.value()->changes;
  Result<std::shared_ptr<const CardChanges::Part>> changes = of_base.copy(*view);
  if (!changes.is_ok()) return changes.status();
  Result<device::cuda::Heap::Piece> piece = of_base.heap().take(sizeof(beam::cuda::Trie));
  if (!piece.is_ok()) return piece.status();
  beam::cuda::Trie trie = base.value()->trie;
  trie.changes = CardChanges::root_of(changes.value());
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(piece.value().data(), &trie, sizeof(trie)));
  auto version = std::make_shared<const CardVersion>(base.value(), std::move(changes).value(), view,
                                                     std::move(piece).value());
  // Stays without requests too: the next one shares what it does not touch.
  if (newest_ == nullptr || view->sequence() >= newest_->view().sequence()) newest_ = version;
  return version;
}

}  // namespace tessera::engine::cuda
