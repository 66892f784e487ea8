#include "kv/eviction.h"

namespace tessera::kv {

EvictionList::EvictionList() { head_.before = head_.after = &head_; }

void EvictionList::insert(EvictionNode& node) {
  node.before = head_.before;
  node.after = &head_;
  head_.before->after = &node;
  head_.before = &node;
  node.is_listed = true;
}

void EvictionList::hit(EvictionNode& node) {
  remove(node);
  insert(node);
}

void EvictionList::remove(EvictionNode& node) {
  node.before->after = node.after;
  node.after->before = node.before;
  node.before = node.after = nullptr;
  node.is_listed = false;
}

EvictionNode* EvictionList::victim(Accept accept, void* context, uint64_t scan_max) {
  for (EvictionNode* node = head_.after; node != &head_ && scan_max > 0; node = node->after) {
    --scan_max;
    if (accept(context, *node)) return node;
  }
  return nullptr;
}

}  // namespace tessera::kv
