#include "catalogue/eligibility.h"

#include <algorithm>
#include <utility>

#include "catalogue/eligibility_editor.h"
#include "catalogue/input.h"
#include "catalogue/invalid_member.h"

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

/// Marks levels in passes over all nodes, the deepest first.
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

Roaring in_flight(const Roaring& items, const SnapshotFlights& flights, uint32_t second) {
  Roaring result;
  for (const uint32_t item : items) {
    if (flights.of(item).has(second)) result.add(item);
  }
  return result;
}

bool lets_pass(const View& view, const std::optional<Clause>& predicate,
               const std::optional<Flight>& flight, ItemOrdinal item) {
  if (view.state(item) != ItemState::kLive) return false;
  const ItemChange* change = view.item_change(item);
  if (!predicate && !flight) return true;
  const AttributeRow row = change != nullptr ? change->row : read_attributes(view.attributes(item));
  return (!predicate || matches(*predicate, row)) &&
         (!flight || flight_seconds(flight->attributes, row).has(flight->second));
}

Status check_clause(const View& view, const Clause& clause, const std::string& path) {
  for (const Clause& below : clause.clauses) {
    TESSERA_RETURN_IF_ERROR(check_clause(view, below, path));
  }
  if (!clause.is_about_attribute()) return Status::ok();
  const auto invalid = [&](const std::string& message) {
    return invalid_member(path, "attribute " + quote(clause.attribute) + " " + message);
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

}  // namespace

const AttributeIndex& EligibilityIndex::attributes() const {
  std::call_once(is_built_, [this] { attributes_ = AttributeIndex::build(*snapshot_); });
  return attributes_;
}

std::shared_ptr<const Eligibility> EligibilityIndex::bits_of(
    const View& view, const std::optional<Clause>& predicate,
    const std::optional<Flight>& flight) const {
  return cached(predicate, flight)->of(view, flight ? flight->second : 0);
}

std::shared_ptr<const SnapshotFlights> EligibilityIndex::flights(
    const FlightAttributes& attributes) const {
  const MutexLock lock(flights_mutex_);
  if (flights_ == nullptr || !(flights_->attributes() == attributes)) {
    const auto item_count = static_cast<uint32_t>(snapshot_->item_count());
    flights_ = std::make_shared<SnapshotFlights>(this->attributes(), attributes, item_count);
  }
  return flights_;
}

std::shared_ptr<PredicateBits> EligibilityIndex::cached(const std::optional<Clause>& predicate,
                                                        const std::optional<Flight>& flight) const {
  const std::string key =
      (predicate ? predicate_key(*predicate) : "") + (flight ? "\nin flight" : "");
  const auto found_flights = flight ? flights(flight->attributes) : nullptr;
  std::shared_ptr<PredicateBits> dropped;  // let go of after the lock
  const MutexLock lock(mutex_);
  const auto found = std::find_if(cached_.begin(), cached_.end(),
                                  [&key](const Cached& cached) { return cached.key == key; });
  if (found != cached_.end()) {
    cached_.splice(cached_.begin(), cached_, found);
    return found->bits;
  }
  const auto snapshot_bits = [this, predicate, found_flights](uint32_t second) {
    Roaring items;
    if (predicate) {
      items = attributes().evaluate(*predicate);
    } else {
      items.addRange(0, snapshot_->item_count());
    }
    return make_bits(*snapshot_, found_flights ? in_flight(items, *found_flights, second) : items);
  };
  cached_.push_front(
      {key, std::make_shared<PredicateBits>(predicate, found_flights, snapshot_bits)});
  if (cached_.size() > kCachedPredicatesMax) {
    dropped = std::move(cached_.back().bits);
    cached_.pop_back();
  }
  return cached_.front().bits;
}

std::vector<EligibilityIndex::Condition> EligibilityIndex::conditions() const {
  std::vector<std::shared_ptr<PredicateBits>> kept;
  {
    const MutexLock lock(mutex_);
    for (const Cached& cached : cached_) kept.push_back(cached.bits);
  }
  std::vector<Condition> result;
  for (const auto& bits : kept) result.push_back({bits->predicate(), bits->flight()});
  return result;
}

Roaring EligibilityIndex::items_with(const View& view, const std::string& attribute,
                                     const std::vector<std::string>& texts) const {
  Roaring items;
  if (const AttributeIndex::Attribute* indexed = attributes().find(attribute)) {
    for (const std::string& text : texts) {
      const auto found = indexed->items.find(text);
      if (found != indexed->items.end()) items |= found->second;
    }
  }
  if (!view.has_changes()) return items;
  const MutexLock lock(changed_mutex_);
  ChangedTexts& changed = changed_.try_emplace(attribute, attribute).first->second;
  changed.bring_to(view);
  items -= changed.items();
  for (const std::string& text : texts) {
    if (const Roaring* later = changed.items_with(text)) items |= *later;
  }
  return items;
}

bool EligibilityIndex::knows_text(const View& view, const std::string& attribute,
                                  const std::string& text) const {
  const AttributeIndex::Attribute* indexed = attributes().find(attribute);
  if (indexed != nullptr && indexed->items.contains(text)) return true;
  if (!view.has_changes()) return false;
  const MutexLock lock(changed_mutex_);
  ChangedTexts& changed = changed_.try_emplace(attribute, attribute).first->second;
  changed.bring_to(view);
  return changed.items_with(text) != nullptr;
}

Status check_attribute(const View& view, const std::string& path, const std::string& name,
                       AttributeType wanted) {
  const AttributeIndex::Attribute* found = view.eligibility_index().attributes().find(name);
  if (found != nullptr && !found->refusal.empty()) return invalid_member(path, found->refusal);
  const std::optional<AttributeType> type = view.attribute_type(name);
  // One that no item has orders nothing and caps nothing.
  if (!type || *type == wanted) return Status::ok();
  return invalid_member(path, std::string("expected a ") + kAttributeTypeNames[size_t(wanted)] +
                                  " attribute, " + quote(name) + " is a " +
                                  kAttributeTypeNames[size_t(*type)]);
}

Status check_eligibility(const View& view, const EligibilityRequest& request) {
  if (request.predicate) {
    TESSERA_RETURN_IF_ERROR(check_clause(view, *request.predicate, kPredicatePath));
  }
  if (request.drawn) TESSERA_RETURN_IF_ERROR(check_clause(view, *request.drawn, kDrawnPath));
  return check_caps(view, request.caps);
}

EligibilityRequest for_drawn_places(const EligibilityRequest& request) {
  EligibilityRequest drawn = request;
  drawn.drawn.reset();
  if (!request.predicate) {
    drawn.predicate = request.drawn;
  } else {
    Clause both;
    both.kind = ClauseKind::kAll;
    both.clauses = {*request.predicate, *request.drawn};
    drawn.predicate = std::move(both);
  }
  return drawn;
}

std::optional<Flight> flight_in(const View& view, const EligibilityRequest& request) {
  if (!request.flight) return std::nullopt;
  const FlightAttributes& names = request.flight->attributes;
  const bool has_some = view.attribute_type(names.begin) == AttributeType::kNumber ||
                        view.attribute_type(names.end) == AttributeType::kNumber;
  return has_some ? request.flight : std::nullopt;
}

std::shared_ptr<const Eligibility> compile_eligibility(const View& view,
                                                       const EligibilityRequest& request) {
  const std::optional<Flight> flight = flight_in(view, request);
  const Roaring capped = capped_items(view, request.caps);
  const bool has_own_bits = request.has_lists() || !capped.isEmpty();
  if (!request.predicate && !has_own_bits && !flight) return nullptr;
  const EligibilityIndex& index = view.eligibility_index();
  if (!has_own_bits) return index.bits_of(view, request.predicate, flight);
  auto bits = std::make_shared<Eligibility>();
  if (request.allowed) {
    bits->items.assign(words_for(view.item_count()), 0);
    bits->nodes.assign(words_for(view.node_count()), 0);
  } else {
    *bits = *index.bits_of(view, request.predicate, flight);
  }
  EligibilityEditor editor(view, *bits);
  if (request.allowed) {
    for (const std::string& id : *request.allowed) {
      const ItemOrdinal item = view.find_item(id);
      const bool passes = item != kNoItem && lets_pass(view, request.predicate, flight, item);
      if (passes) editor.set_item(item, true);
    }
  }
  for (const auto* list : {&request.denied, &request.seen}) {
    for (const std::string& id : *list) {
      const ItemOrdinal item = view.find_item(id);
      if (item != kNoItem) editor.set_item(item, false);
    }
  }
  for (const ItemOrdinal item : capped) {
    if (test_bit(bits->items.data(), item)) ++bits->capped_items;
    editor.set_item(item, false);
  }
  editor.finish();
  return bits;
}

void carry_predicates(const EligibilityIndex& from, const View& to) {
  // The one used last is made last, and so stands first in the cache again.
  const std::vector<EligibilityIndex::Condition> conditions = from.conditions();
  for (size_t i = conditions.size(); i-- > 0;) {
    EligibilityRequest request;
    request.predicate = conditions[i].predicate;
    if (!check_eligibility(to, request).is_ok()) continue;  // an attribute has another type now
    to.eligibility_index().bits_of(to, request.predicate, conditions[i].flight);
  }
}

}  // namespace tessera::catalogue
