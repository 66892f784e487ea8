// A map from 32-bit keys to values of which any number of versions live at once: a copy costs one
// reference, a change copies the few nodes on its way and shares the rest. A hash array mapped trie
// (Bagwell 2001) over a bijective mix of the key, so that it is balanced and has no collisions.
//
// Thread-safety: a version is immutable once its editor is done, and safe to share. Owner of what
// an edit may write in place: the edit number, unique per editor; a node or value of another edit
// is copied first.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tessera::catalogue {

/// The number of an edit, of any map; never 0, which means no edit.
inline uint64_t next_edit() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

/// Value has a member `uint64_t edit` and is copyable.
template <typename Value>
class PersistentMap {
 public:
  static constexpr uint32_t kBits = 6;  // of a key's path, per node

  struct Node;
  /// Either a value or a child.
  struct Slot {
    uint32_t key = 0;
    std::shared_ptr<Value> value;
    std::shared_ptr<Node> child;
  };
  struct Node {
    uint64_t edit = 0;
    uint64_t used = 0;  // bit b: a slot for the paths whose next kBits are b
    std::vector<Slot> slots;
  };

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// Null where the key is absent. Valid as long as this version.
  const Value* find(uint32_t key) const {
    const uint32_t path = mix(key);
    const Node* node = root_.get();
    for (uint32_t shift = 0; node != nullptr; shift += kBits) {
      const uint64_t bit = bit_of(path, shift);
      if ((node->used & bit) == 0) return nullptr;
      const Slot& slot = node->slots[rank(node->used, bit)];
      if (slot.value != nullptr) return slot.key == key ? slot.value.get() : nullptr;
      node = slot.child.get();
    }
    return nullptr;
  }

  /// The value at `key`, made from nothing where absent, to be changed until the edit ends.
  Value& edit(uint32_t key, uint64_t edit) {
    std::shared_ptr<Node>* place = &root_;
    const uint32_t path = mix(key);
    for (uint32_t shift = 0;; shift += kBits) {
      Node& node = own(*place, edit);
      const uint64_t bit = bit_of(path, shift);
      const uint32_t index = rank(node.used, bit);
      if ((node.used & bit) == 0) {
        node.used |= bit;
        node.slots.insert(node.slots.begin() + index, Slot{key, fresh(edit), nullptr});
        ++size_;
        return *node.slots[index].value;
      }
      Slot& slot = node.slots[index];
      if (slot.value != nullptr && slot.key == key) return own_value(slot, edit);
      if (slot.value != nullptr) push_down(slot, shift + kBits, edit);
      place = &slot.child;
    }
  }

  /// Calls visit(key, const Value&) for each, in no order of meaning.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    if (root_ != nullptr) visit_node(*root_, visit);
  }

  /// True for the same version, or copies of it.
  bool is_same(const PersistentMap& other) const { return root_ == other.root_; }

  /// The tree of nodes, for copying the map elsewhere: two versions share a node as the same
  /// object, and no node changes once its editor is done. Null: empty.
  std::shared_ptr<const Node> root() const { return root_; }

  /// Calls visit(key, const Value* before, const Value* after), in no order of meaning, for each
  /// key whose value is not the same object in both; null where absent. Parts that the two share
  /// are not looked at, so between versions it costs what changed; any two maps will do.
  template <typename Visit>
  static void for_each_difference(const PersistentMap& from, const PersistentMap& to,
                                  const Visit& visit) {
    visit_differences(from.root_.get(), to.root_.get(), 0, visit);
  }

 private:
  static uint32_t mix(uint32_t x) {
    x = (x ^ x >> 16) * 0x7FEB352Du;
    x = (x ^ x >> 15) * 0x846CA68Bu;
    return x ^ x >> 16;
  }
  static uint64_t bit_of(uint32_t path, uint32_t shift) {
    return uint64_t{1} << (path >> shift & ((1u << kBits) - 1));
  }
  static uint32_t rank(uint64_t used, uint64_t bit) {
    return static_cast<uint32_t>(std::popcount(used & (bit - 1)));
  }
  static std::shared_ptr<Value> fresh(uint64_t edit) {
    auto value = std::make_shared<Value>();
    value->edit = edit;
    return value;
  }
  static Node& own(std::shared_ptr<Node>& place, uint64_t edit) {
    if (place == nullptr) {
      place = std::make_shared<Node>();
    } else if (place->edit != edit) {
      place = std::make_shared<Node>(*place);
    }
    place->edit = edit;
    return *place;
  }
  static Value& own_value(Slot& slot, uint64_t edit) {
    if (slot.value->edit != edit) {
      slot.value = std::make_shared<Value>(*slot.value);
      slot.value->edit = edit;
    }
    return *slot.value;
  }
  /// Makes room for a second key where one stands: it moves into a child of its own.
  static void push_down(Slot& slot, uint32_t shift, uint64_t edit) {
    auto child = std::make_shared<Node>();
    child->edit = edit;
    child->used = bit_of(mix(slot.key), shift);
    child->slots.push_back({slot.key, std::move(slot.value), nullptr});
    slot = {0, nullptr, std::move(child)};
  }
  template <typename Visit>
  static void visit_node(const Node& node, const Visit& visit) {
    for (const Slot& slot : node.slots) {
      if (slot.value != nullptr) {
        visit(slot.key, static_cast<const Value&>(*slot.value));
      } else {
        visit_node(*slot.child, visit);
      }
    }
  }

  template <typename Visit>
  static void visit_differences(const Node* from, const Node* to, uint32_t shift,
                                const Visit& visit) {
    if (from == to) return;
    const uint64_t in_from = from == nullptr ? 0 : from->used;
    const uint64_t in_to = to == nullptr ? 0 : to->used;
    for (uint64_t left = in_from | in_to; left != 0; left &= left - 1) {
      const uint64_t bit = left & ~(left - 1);
      const Slot* before = (in_from & bit) == 0 ? nullptr : &from->slots[rank(in_from, bit)];
      const Slot* after = (in_to & bit) == 0 ? nullptr : &to->slots[rank(in_to, bit)];
      compare_slots(before, after, shift + kBits, visit);
    }
  }
  template <typename Visit>
  static void compare_slots(const Slot* before, const Slot* after, uint32_t shift,
                            const Visit& visit) {
    const Value* old_value = before == nullptr ? nullptr : before->value.get();
    const Value* new_value = after == nullptr ? nullptr : after->value.get();
    if (old_value == nullptr && new_value == nullptr) {
      return visit_differences(before == nullptr ? nullptr : before->child.get(),
                               after == nullptr ? nullptr : after->child.get(), shift, visit);
    }
    // A value on one side at least: a key of its own beside whatever the other side has.
    const auto absent = static_cast<const Value*>(nullptr);
    if (old_value != nullptr && new_value != nullptr) {
      if (before->key != after->key) {
        visit(before->key, old_value, absent);
        visit(after->key, absent, new_value);
      } else if (old_value != new_value) {
        visit(after->key, old_value, new_value);
      }
    } else if (old_value != nullptr) {
      compare_value(*before, after, [&visit](uint32_t key, const Value* own, const Value* other) {
        visit(key, own, other);
      });
    } else {
      compare_value(*after, before, [&visit](uint32_t key, const Value* own, const Value* other) {
        visit(key, other, own);
      });
    }
  }
  /// A slot with a value against one without; visit(key, of the former, of the latter).
  template <typename Visit>
  static void compare_value(const Slot& slot, const Slot* other, const Visit& visit) {
    const Value* found = nullptr;
    if (other != nullptr) {
      visit_node(*other->child, [&](uint32_t key, const Value& value) {
        if (key == slot.key) {
          found = &value;
        } else {
          visit(key, static_cast<const Value*>(nullptr), &value);
        }
      });
    }
    if (found != slot.value.get()) {
      visit(slot.key, static_cast<const Value*>(slot.value.get()), found);
    }
  }

  std::shared_ptr<Node> root_;
  size_t size_ = 0;
};

}  // namespace tessera::catalogue
