// Which chain gives up its last block. A policy orders chains, never blocks: the pool always takes
// the tail of the chosen chain, so what stays is a prefix whatever the policy. The nodes lie in the
// chains: nothing is allocated.
//
// Thread-safety: under the lock of the pool.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/status.h"

namespace tessera::kv {

struct EvictionNode {
  EvictionNode* before = nullptr;
  EvictionNode* after = nullptr;
  void* owner = nullptr;  // the chain
  uint8_t segment = 0;    // of the policy
  bool is_listed = false;
};

/// A ring of nodes with a head of its own; front is the coldest.
class EvictionList {
 public:
  EvictionList();
  EvictionList(const EvictionList&) = delete;
  EvictionList& operator=(const EvictionList&) = delete;
  void push_back(EvictionNode& node);
  void remove(EvictionNode& node);
  EvictionNode* front() { return head_.after == &head_ ? nullptr : head_.after; }
  EvictionNode* next(EvictionNode& node) { return node.after == &head_ ? nullptr : node.after; }
  uint64_t size() const { return size_; }

 private:
  EvictionNode head_;
  uint64_t size_ = 0;
};

class EvictionPolicy {
 public:
  /// Says whether a node can give a block up now.
  using Accept = bool (*)(void* context, EvictionNode& node);

  virtual ~EvictionPolicy() = default;
  virtual void insert(EvictionNode& node) = 0;
  virtual void hit(EvictionNode& node) = 0;
  virtual void remove(EvictionNode& node) = 0;
  /// The coldest node that `accept` takes among the `scan_max` coldest; null when there is none.
  virtual EvictionNode* victim(Accept accept, void* context, uint64_t scan_max) = 0;
};

enum class EvictionKind : uint8_t {
  kLru,
  kSegmentedLru,  // a second hit promotes into a protected part of 4/5 of the chains
};

std::unique_ptr<EvictionPolicy> make_policy(EvictionKind kind);

}  // namespace tessera::kv
