#include "engine/cuda/card_catalogue.h"

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

}  // namespace

Result<CardCatalogue> CardCatalogue::copy(const catalogue::Snapshot& snapshot,
                                          std::span<const std::vector<int32_t>> level_tokens,
                                          device::cuda::Queue& queue) {
  // Nodes are numbered level by level, so their children and items follow each other.
  std::vector<uint32_t> codes, child_offsets = {1}, item_offsets = {0};
  for (catalogue::NodeIndex node = 0; node < snapshot.node_count(); ++node) {
    codes.push_back(node == 0 ? 0 : snapshot.code(node));
    item_offsets.push_back(item_offsets.back() + snapshot.items(node).count);
    const catalogue::Children children = snapshot.children(node);
    child_offsets.push_back(child_offsets.back() + children.codes.size());
  }
  CardCatalogue result;
  const uint32_t* card_codes = nullptr;
  Copies copies;
  copies.add<uint32_t>(codes, card_codes);
  copies.add<uint32_t>(child_offsets, result.trie_.child_offsets);
  copies.add<uint32_t>(item_offsets, result.trie_.item_offsets);
  result.level_tokens_.resize(snapshot.depth());
  for (uint32_t level = 0; level < snapshot.depth(); ++level) {
    result.level_sizes_.push_back(static_cast<uint32_t>(level_tokens[level].size()));
    result.node_counts_.push_back(static_cast<uint32_t>(snapshot.nodes_at_level(level)));
    copies.add<int32_t>(level_tokens[level], result.level_tokens_[level]);
  }
  Result<device::cuda::Memory> memory = copies.run(queue);
  if (!memory.is_ok()) return memory.status();
  result.memory_ = std::move(memory).value();
  result.trie_.codes = card_codes;
  result.trie_.code_bytes = sizeof(uint32_t);
  result.trie_.interior_count = static_cast<uint32_t>(child_offsets.size() - 1);
  return result;
}

}  // namespace tessera::engine::cuda
