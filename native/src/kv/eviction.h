// Which chain gives up its last block: the one that was used longest ago. Chains are ordered, never
// blocks: the pool always takes the tail of the chosen chain, so what stays is a prefix. The nodes
// lie in the chains: nothing is allocated.
//
// Thread-safety: under the lock of the pool.
#pragma once

#include <cstdint>

namespace tessera::kv {

struct EvictionNode {
  EvictionNode* before = nullptr;
  EvictionNode* after = nullptr;
  void* owner = nullptr;  // the chain
  bool is_listed = false;
};

/// A ring of nodes with a head of its own; behind the head is the one used longest ago.
class EvictionList {
 public:
  /// Says whether a node can give a block up now.
  using Accept = bool (*)(void* context, EvictionNode& node);

  EvictionList();
  EvictionList(const EvictionList&) = delete;
  EvictionList& operator=(const EvictionList&) = delete;
  void insert(EvictionNode& node);
  void hit(EvictionNode& node);
  void remove(EvictionNode& node);
  /// The coldest node that `accept` takes among the `scan_max` coldest; null when there is none.
  EvictionNode* victim(Accept accept, void* context, uint64_t scan_max);

 private:
  EvictionNode head_;
};

}  // namespace tessera::kv
