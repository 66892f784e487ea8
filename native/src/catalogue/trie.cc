#include "catalogue/trie.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "catalogue/format.h"
#include "catalogue/snapshot.h"

namespace tessera::catalogue {
namespace {

using PerDepth = std::array<uint64_t, kMaxDepth + 2>;

struct Counts {
  PerDepth nodes{};  // new nodes per depth
  PerDepth items{};  // items per depth of their SID
  PerDepth paths{};
};

Counts count_levels(const SidOrder& order) {
  Counts counts;
  counts.nodes[0] = 1;
  for (size_t i = 0; i < order.items.size(); ++i) {
    const size_t depth = order.depths[i];
    if (order.shared[i] != kSameSid) {
      for (size_t d = order.shared[i] + 1u; d <= depth; ++d) ++counts.nodes[d];
      ++counts.paths[depth];
    }
    ++counts.items[depth];
  }
  return counts;
}

/// First index of each depth when depths are laid one after the other.
PerDepth begins(const PerDepth& counts) {
  PerDepth begin{};
  for (size_t d = 1; d < begin.size(); ++d) begin[d] = begin[d - 1] + counts[d - 1];
  return begin;
}

/// One pass over the sorted items: a node is made where a SID parts from the one before it.
template <typename Code>
void fill_nodes(const CatalogueInput& input, const SidOrder& order, PerDepth next_item,
                Trie& trie) {
  auto* codes = reinterpret_cast<Code*>(trie.codes.data());
  std::array<uint32_t, kMaxDepth + 3> next_node{};
  std::copy(trie.level_begin.begin(), trie.level_begin.end(), next_node.begin());
  const uint32_t first_item_node = trie.level_begin[trie.first_item_depth];
  trie.child_offsets[0] = 1;
  for (size_t i = 0; i < order.items.size(); ++i) {
    if (i + kSidsAhead < order.items.size()) {
      prefetch_sid(input, order.items[i + kSidsAhead]);
    }
    const size_t depth = order.depths[i];
    if (order.shared[i] != kSameSid) {
      const std::span<const uint32_t> sid = input.sid(order.items[i]);
      for (size_t d = order.shared[i] + 1u; d <= depth; ++d) {
        const uint32_t node = next_node[d]++;
        codes[node] = static_cast<Code>(sid[d - 1]);
        if (d < trie.depth) trie.child_offsets[node] = next_node[d + 1];
        if (node >= first_item_node) {
          trie.item_offsets[node - first_item_node] = static_cast<uint32_t>(next_item[d]);
        }
      }
    }
    trie.items[next_item[depth]++] = order.items[i];
  }
  trie.child_offsets.back() = static_cast<uint32_t>(trie.node_count());
  trie.item_offsets.back() = static_cast<uint32_t>(order.items.size());
}

void fill_hints(Trie& trie) {
  const uint64_t nodes = trie.node_count();
  trie.parent_hints.resize((nodes + kHintStride - 1) / kHintStride, 0);
  for (uint32_t parent = 0; parent + 1 < trie.child_offsets.size(); ++parent) {
    const uint32_t begin = trie.child_offsets[parent];
    const uint32_t end = trie.child_offsets[parent + 1];
    for (uint64_t h = (uint64_t{begin} + kHintStride - 1) / kHintStride; h * kHintStride < end;
         ++h) {
      trie.parent_hints[h] = parent;
    }
  }
  const uint32_t first_item_node = trie.level_begin[trie.first_item_depth];
  trie.item_hints.resize((trie.items.size() + kHintStride - 1) / kHintStride, 0);
  for (uint32_t n = 0; n + 1 < trie.item_offsets.size(); ++n) {
    const uint32_t end = trie.item_offsets[n + 1];
    for (uint64_t h = (uint64_t{trie.item_offsets[n]} + kHintStride - 1) / kHintStride;
         h * kHintStride < end; ++h) {
      trie.item_hints[h] = first_item_node + n;
    }
  }
}

void fill_root_index(uint32_t level_size, Trie& trie) {
  trie.root_index.assign(level_size, kNoNode);
  const Codes codes(trie.codes.data(), static_cast<uint32_t>(trie.node_count()), trie.code_bytes);
  for (uint32_t node = 1; node < trie.level_begin[2]; ++node) trie.root_index[codes[node]] = node;
}

}  // namespace

Result<Trie> build_trie(const CatalogueInput& input, std::span<const uint32_t> level_sizes,
                        const SidOrder& order) {
  const Counts counts = count_levels(order);
  Trie trie;
  trie.depth = static_cast<uint32_t>(level_sizes.size());
  const PerDepth node_begin = begins(counts.nodes);
  const uint64_t node_count = node_begin[trie.depth + 1];
  if (node_count > kMaxNodes) {
    return Status(Code::kCatalogueInvalid, "catalogue: its trie has " + std::to_string(node_count) +
                                               " nodes, expected at most " +
                                               std::to_string(kMaxNodes));
  }
  trie.level_begin.assign(node_begin.begin(), node_begin.begin() + trie.depth + 2);
  trie.code_bytes = code_bytes_for(*std::max_element(level_sizes.begin(), level_sizes.end()));
  while (counts.items[trie.first_item_depth] == 0) ++trie.first_item_depth;
  for (const uint64_t paths : counts.paths) trie.path_count += paths;
  trie.codes.resize(node_count * trie.code_bytes);
  trie.child_offsets.resize(trie.level_begin[trie.depth] + 1);
  trie.item_offsets.resize(node_count - trie.level_begin[trie.first_item_depth] + 1);
  trie.items.resize(order.items.size());
  const PerDepth item_begin = begins(counts.items);
  switch (trie.code_bytes) {
    case 1: fill_nodes<uint8_t>(input, order, item_begin, trie); break;
    case 2: fill_nodes<uint16_t>(input, order, item_begin, trie); break;
    default: fill_nodes<uint32_t>(input, order, item_begin, trie); break;
  }
  fill_hints(trie);
  fill_root_index(level_sizes[0], trie);
  return trie;
}

}  // namespace tessera::catalogue
