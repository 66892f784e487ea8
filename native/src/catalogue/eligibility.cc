#include "catalogue/eligibility.h"

#include <algorithm>

#include "catalogue/eligibility_editor.h"
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

Eligibility make_bits(const Snapshot& snapshot, const Roaring& items) {
  Eligibility bits;
  bits.items.assign(words_for(snapshot.item_count()), 0);
  bits.nodes.assign(words_for(snapshot.node_count()), 0);
  for (const uint32_t item : items) set_bit(bits.items.data(), item);
  if (items.cardinality() * kSparseNodes < snapshot.node_count()) {
    mark_ancestors(snapshot, bits);
  } else {
    mark_levels(snapshot, bits);
  }
  return bits;
}

bool lets_pass(const View& view, const std::optional<Clause>& predicate, ItemOrdinal item) {
  if (view.state(item) != ItemState::kLive) return false;
  const ItemChange* change = view.item_change(item);
  return !predicate ||
         matches(*predicate,
                 change != nullptr ? change->row : read_attributes(view.attributes(item)));
}

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
  // One that no item has (any more, or yet) is false, as it is for an item that lacks it: the end
  // of a campaign must not turn the requests about it into errors.
  if (!type || *type == clause.type()) return Status::ok();
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
    const View& view, const std::optional<Clause>& predicate) const {
  return cached(predicate)->of(view);
}

std::shared_ptr<PredicateBits> EligibilityIndex::cached(
    const std::optional<Clause>& predicate) const {
  const std::string key = predicate ? predicate_key(*predicate) : "";
  std::shared_ptr<PredicateBits> dropped;  // let go of after the lock
  const MutexLock lock(mutex_);
  const auto found = std::find_if(cached_.begin(), cached_.end(),
                                  [&key](const Cached& cached) { return cached.key == key; });
  if (found != cached_.end()) {
    cached_.splice(cached_.begin(), cached_, found);
    return found->bits;
  }
  const auto snapshot_bits = [this, predicate] {
    Roaring items;
    if (predicate) {
      items = attributes().evaluate(*predicate);
    } else {
      items.addRange(0, snapshot_->item_count());
    }
    return make_bits(*snapshot_, items);
  };
  cached_.push_front({key, std::make_shared<PredicateBits>(predicate, snapshot_bits)});
  if (cached_.size() > kCachedPredicatesMax) {
    dropped = std::move(cached_.back().bits);
    cached_.pop_back();
  }
  return cached_.front().bits;
}

std::vector<std::optional<Clause>> EligibilityIndex::predicates() const {
  const MutexLock lock(mutex_);
  std::vector<std::optional<Clause>> result;
  for (const Cached& cached : cached_) result.push_back(cached.bits->predicate());
  return result;
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
  const EligibilityIndex& index = view.eligibility_index();
  if (!request.has_lists()) return index.bits_of(view, request.predicate);
  auto bits = std::make_shared<Eligibility>();
  if (request.allowed) {
    bits->items.assign(words_for(view.item_count()), 0);
    bits->nodes.assign(words_for(view.node_count()), 0);
  } else {
    *bits = *index.bits_of(view, request.predicate);
  }
  EligibilityEditor editor(view, *bits);
  if (request.allowed) {
    for (const std::string& id : *request.allowed) {
      const ItemOrdinal item = view.find_item(id);
      if (item != kNoItem && lets_pass(view, request.predicate, item)) editor.set_item(item, true);
    }
  }
  for (const auto* list : {&request.denied, &request.seen}) {
    for (const std::string& id : *list) {
      const ItemOrdinal item = view.find_item(id);
      if (item != kNoItem) editor.set_item(item, false);
    }
  }
  editor.finish();
  return bits;
}

void carry_predicates(const EligibilityIndex& from, const View& to) {
  // The one used last is made last, and so stands first in the cache again.
  const std::vector<std::optional<Clause>> predicates = from.predicates();
  for (size_t i = predicates.size(); i-- > 0;) {
    EligibilityRequest request;
    request.predicate = predicates[i];
    if (!check_eligibility(to, request).is_ok()) continue;  // an attribute has another type now
    to.eligibility_index().bits_of(to, request.predicate);
  }
}

}  // namespace tessera::catalogue
