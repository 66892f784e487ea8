#include "catalogue/eligibility.h"

#include <array>
#include <unordered_set>

#include "catalogue/input.h"

namespace tessera::catalogue {
namespace {

// Ancestors are looked up bit by bit where fewer than one node in this many is set, else by one
// pass over all.
constexpr uint64_t kSparseNodes = 64;

/// Sets the bit of each node that has one of the items, and of all nodes above.
void mark_ancestors(const Snapshot& snapshot, Eligibility& bits) {
  for_each_bit(bits.items.data(), 0, snapshot.item_count(), [&](uint64_t item) {
    NodeIndex node = snapshot.node_of(static_cast<ItemOrdinal>(item));
    while (!test_bit(bits.nodes.data(), node)) {
      set_bit(bits.nodes.data(), node);
      if (node == kRoot) break;
      node = snapshot.parent(node);
    }
  });
}

/// The same in passes over all nodes, the deepest first.
void mark_levels(const Snapshot& snapshot, Eligibility& bits) {
  const auto node_count = static_cast<NodeIndex>(snapshot.node_count());
  for (NodeIndex node = node_count; node-- > 0;) {
    const ItemRange items = snapshot.items(node);
    const Children below = snapshot.children(node);
    const uint64_t first = below.first_child;
    if (any_bit(bits.items.data(), items.first, uint64_t{items.first} + items.count) ||
        any_bit(bits.nodes.data(), first, first + below.codes.size())) {
      set_bit(bits.nodes.data(), node);
    }
  }
}

std::shared_ptr<const Eligibility> make_bits(const Snapshot& snapshot, const Roaring& items) {
  auto bits = std::make_shared<Eligibility>();
  bits->items.assign(words_for(snapshot.item_count()), 0);
  bits->nodes.assign(words_for(snapshot.node_count()), 0);
  for (const uint32_t item : items) set_bit(bits->items.data(), item);
  if (items.cardinality() * kSparseNodes < snapshot.node_count()) {
    mark_ancestors(snapshot, *bits);
  } else {
    mark_levels(snapshot, *bits);
  }
  return bits;
}

/// Bits over a snapshot, brought to what a view and the lists of a request make of them.
class Correction {
 public:
  Correction(const View& view, const EligibilityRequest& request)
      : view_(view), request_(request), bits_(std::make_shared<Eligibility>()) {}

  std::shared_ptr<const Eligibility> run() {
    if (request_.allowed) {
      take_nothing();
      for (const std::string& id : *request_.allowed) allow(id);
    } else {
      take_snapshot();
      view_.item_changes().for_each([this](ItemOrdinal item, const ItemChange& change) {
        const bool passes = !request_.predicate || matches(*request_.predicate, change.row);
        set_item(item, change.state == ItemState::kLive && passes);
      });
      view_.node_changes().for_each(
          [this](NodeIndex node, const NodeChange&) { check_later(node); });
    }
    for (const auto* list : {&request_.denied, &request_.seen}) {
      for (const std::string& id : *list) deny(id);
    }
    update_nodes();
    return bits_;
  }

 private:
  void take_nothing() {
    bits_->items.assign(words_for(view_.item_count()), 0);
    bits_->nodes.assign(words_for(view_.node_count()), 0);
  }
  void take_snapshot() {
    const std::shared_ptr<const Eligibility> bits =
        view_.eligibility_index().bits_of(request_.predicate);
    bits_->items.reserve(words_for(view_.item_count()));
    bits_->items = bits->items;
    bits_->items.resize(words_for(view_.item_count()), 0);
    bits_->nodes.reserve(words_for(view_.node_count()));
    bits_->nodes = bits->nodes;
    bits_->nodes.resize(words_for(view_.node_count()), 0);
  }
  void set_item(ItemOrdinal item, bool is_eligible) {
    if (test_bit(bits_->items.data(), item) == is_eligible) return;
    (is_eligible ? set_bit : clear_bit)(bits_->items.data(), item);
    check_later(view_.node_of(item));
  }
  void allow(const std::string& id) {
    const ItemOrdinal item = view_.find_item(id);
    if (item == kNoItem || view_.state(item) != ItemState::kLive) return;
    const ItemChange* change = view_.item_change(item);
    const bool passes =
        !request_.predicate ||
        matches(*request_.predicate,
                change != nullptr ? change->row : read_attributes(view_.attributes(item)));
    if (passes) set_item(item, true);
  }
  void deny(const std::string& id) {
    const ItemOrdinal item = view_.find_item(id);
    if (item != kNoItem) set_item(item, false);
  }
  void check_later(NodeIndex node) { nodes_[view_.depth_of(node)].push_back(node); }

  /// Looks at the nodes whose items or children have changed, the deepest first.
  void update_nodes() {
    for (size_t depth = nodes_.size(); depth-- > 0;) {
      for (const NodeIndex node : nodes_[depth]) {
        const bool is_eligible = has_eligible(node);
        if (test_bit(bits_->nodes.data(), node) == is_eligible) continue;
        (is_eligible ? set_bit : clear_bit)(bits_->nodes.data(), node);
        if (depth > 0) nodes_[depth - 1].push_back(view_.parent(node));
      }
    }
  }
  bool has_eligible(NodeIndex node) const {
    const ItemList items = view_.items(node);
    for (uint32_t i = 0; i < items.size(); ++i) {
      if (test_bit(bits_->items.data(), items[i])) return true;
    }
    const NodeChange* change = view_.node_change(node);
    if (change != nullptr) {
      for (const AddedChild& child : change->added) {
        if (test_bit(bits_->nodes.data(), child.node)) return true;
      }
    }
    if (view_.is_later(node)) return false;
    const Children below = view_.base().children(node);
    const uint64_t first = below.first_child;
    return any_bit(bits_->nodes.data(), first, first + below.codes.size());
  }

  const View& view_;
  const EligibilityRequest& request_;
  std::shared_ptr<Eligibility> bits_;
  std::array<std::vector<NodeIndex>, kMaxDepth + 1> nodes_;  // to look at, by depth
};

Status check_clause(const View& view, const Clause& clause) {
  for (const Clause& below : clause.clauses) {
    TESSERA_RETURN_IF_ERROR(check_clause(view, below));
  }
  if (!clause.is_about_attribute()) return Status::ok();
  const auto invalid = [&clause](const std::string& message) {
    return Status(Code::kRequestInvalid,
                  "eligibility.predicate: attribute " + quote(clause.attribute) + " " + message);
  };
  const AttributeIndex::Attribute* indexed =
      view.eligibility_index().attributes().find(clause.attribute);
  if (indexed != nullptr && !indexed->refusal.empty()) return invalid(indexed->refusal);
  const std::optional<AttributeType> type = view.attribute_type(clause.attribute);
  if (!type) return invalid("is not known");
  if (*type == clause.type()) return Status::ok();
  return invalid(std::string("is a ") + kAttributeTypeNames[static_cast<int>(*type)] +
                 ", the clause asks about a " +
                 kAttributeTypeNames[static_cast<int>(clause.type())]);
}

Status check_list(const char* name, const std::vector<std::string>& items) {
  if (items.size() <= kItemListMax) return Status::ok();
  return {Code::kRequestInvalid, std::string("eligibility.") + name + ": " +
                                     std::to_string(items.size()) + " items, expected at most " +
                                     std::to_string(kItemListMax)};
}

}  // namespace

const AttributeIndex& EligibilityIndex::attributes() const {
  std::call_once(is_built_, [this] { attributes_ = AttributeIndex::build(*snapshot_); });
  return attributes_;
}

std::shared_ptr<const Eligibility> EligibilityIndex::bits_of(
    const std::optional<Clause>& predicate) const {
  const std::string key = predicate ? predicate_key(*predicate) : "";
  {
    const std::lock_guard lock(mutex_);
    for (auto cached = cached_.begin(); cached != cached_.end(); ++cached) {
      if (cached->key != key) continue;
      cached_.splice(cached_.begin(), cached_, cached);
      return cached->bits;
    }
  }
  Roaring items;
  if (predicate) {
    items = attributes().evaluate(*predicate);
  } else {
    items.addRange(0, snapshot_->item_count());
  }
  auto bits = make_bits(*snapshot_, items);
  const std::lock_guard lock(mutex_);
  cached_.push_front({key, bits});
  if (cached_.size() > kCachedPredicatesMax) cached_.pop_back();
  return bits;
}

Status check_eligibility(const View& view, const EligibilityRequest& request) {
  if (request.predicate) TESSERA_RETURN_IF_ERROR(check_clause(view, *request.predicate));
  if (request.allowed) TESSERA_RETURN_IF_ERROR(check_list("allowed", *request.allowed));
  TESSERA_RETURN_IF_ERROR(check_list("denied", request.denied));
  return check_list("seen", request.seen);
}

std::shared_ptr<const Eligibility> compile_eligibility(const View& view,
                                                       const EligibilityRequest& request) {
  if (request.is_empty()) return nullptr;
  const bool has_lists = request.allowed || !request.denied.empty() || !request.seen.empty();
  if (!view.has_changes() && !has_lists) {
    // The snapshot's bits as they are: nothing is copied.
    return view.eligibility_index().bits_of(request.predicate);
  }
  return Correction(view, request).run();
}

}  // namespace tessera::catalogue
