#include "kv/eviction.h"

namespace tessera::kv {
namespace {

EvictionNode* scan(EvictionList& list, EvictionPolicy::Accept accept, void* context,
                   uint64_t& left) {
  for (EvictionNode* node = list.front(); node != nullptr && left > 0; node = list.next(*node)) {
    --left;
    if (accept(context, *node)) return node;
  }
  return nullptr;
}

class Lru final : public EvictionPolicy {
 public:
  void insert(EvictionNode& node) override { list_.push_back(node); }
  void hit(EvictionNode& node) override {
    list_.remove(node);
    list_.push_back(node);
  }
  void remove(EvictionNode& node) override { list_.remove(node); }
  EvictionNode* victim(Accept accept, void* context, uint64_t scan_max) override {
    return scan(list_, accept, context, scan_max);
  }

 private:
  EvictionList list_;
};

class SegmentedLru final : public EvictionPolicy {
 public:
  void insert(EvictionNode& node) override {
    node.segment = kProbation;
    probation_.push_back(node);
  }
  void hit(EvictionNode& node) override {
    list_of(node).remove(node);
    node.segment = kProtected;
    protected_.push_back(node);
    const uint64_t total = probation_.size() + protected_.size();
    while (protected_.size() * 5 > total * 4) {
      EvictionNode* coldest = protected_.front();
      protected_.remove(*coldest);
      coldest->segment = kProbation;
      probation_.push_back(*coldest);
    }
  }
  void remove(EvictionNode& node) override { list_of(node).remove(node); }
  EvictionNode* victim(Accept accept, void* context, uint64_t scan_max) override {
    EvictionNode* found = scan(probation_, accept, context, scan_max);
    return found != nullptr ? found : scan(protected_, accept, context, scan_max);
  }

 private:
  static constexpr uint8_t kProbation = 0;
  static constexpr uint8_t kProtected = 1;

  EvictionList& list_of(const EvictionNode& node) {
    return node.segment == kProtected ? protected_ : probation_;
  }

  EvictionList probation_;
  EvictionList protected_;
};

}  // namespace

EvictionList::EvictionList() { head_.before = head_.after = &head_; }

void EvictionList::push_back(EvictionNode& node) {
  node.before = head_.before;
  node.after = &head_;
  head_.before->after = &node;
  head_.before = &node;
  node.is_listed = true;
  ++size_;
}

void EvictionList::remove(EvictionNode& node) {
  node.before->after = node.after;
  node.after->before = node.before;
  node.before = node.after = nullptr;
  node.is_listed = false;
  --size_;
}

std::unique_ptr<EvictionPolicy> make_policy(EvictionKind kind) {
  if (kind == EvictionKind::kSegmentedLru) return std::make_unique<SegmentedLru>();
  return std::make_unique<Lru>();
}

}  // namespace tessera::kv
