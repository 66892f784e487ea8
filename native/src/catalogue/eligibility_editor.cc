#include "catalogue/eligibility_editor.h"

#include <algorithm>

#include "catalogue/persistent_map.h"

namespace tessera::catalogue {
namespace {

// Of what is set aside beyond the words at hand: later items and nodes come few at a time, and
// doubling would take twice the catalogue's bits.
constexpr uint64_t kGrowthShare = 16;

void resize_words(std::vector<uint64_t>& words, uint64_t bits) {
  const uint64_t count = words_for(bits);
  if (count > words.capacity()) words.reserve(count + count / kGrowthShare);
  words.resize(count, 0);
}

}  // namespace

/// True of an item of the view that is live, of the predicate, and in its flight.
bool EligibilityEditor::lets_pass(ItemOrdinal item, const std::optional<Clause>& predicate,
                                  const FlightStep* flight) const {
  const ItemChange* change = view_.item_change(item);
  if (change != nullptr) {
    return change->state == ItemState::kLive && (!predicate || matches(*predicate, change->row)) &&
           (flight == nullptr ||
            flight_seconds(flight->snapshot->attributes(), change->row).has(flight->to));
  }
  return item < view_.base().item_count() &&
         (flight == nullptr || flight->snapshot->of(item).has(flight->to)) &&
         (!predicate || matches(*predicate, read_attributes(view_.attributes(item))));
}

/// Looks again at the items whose flight may have begun or ended meanwhile.
void EligibilityEditor::pass_seconds(const std::optional<Clause>& predicate,
                                     const FlightStep& flight) {
  const auto look = [&](ItemOrdinal item) {
    if (item < view_.item_count()) set_item(item, lets_pass(item, predicate, &flight));
  };
  flight.snapshot->for_each_between(flight.from, flight.to, look);
  if (flight.to - flight.from > flight.events.size()) {
    flight.events.for_each([&](uint32_t second, const FlightEvents& events) {
      if (second <= flight.from || second > flight.to) return;
      for (const ItemOrdinal item : events.items) look(item);
    });
    return;
  }
  for (uint32_t second = flight.from; second++ < flight.to;) {
    const FlightEvents* events = flight.events.find(second);
    if (events == nullptr) continue;
    for (const ItemOrdinal item : events->items) look(item);
  }
}

void EligibilityEditor::bring_from(const ViewChanges& from, const std::optional<Clause>& predicate,
                                   const FlightStep* flight) {
  const uint64_t item_bits = bits_.items.size() * kWordBits;
  const uint64_t node_bits = bits_.nodes.size() * kWordBits;
  if (item_bits < view_.item_count()) resize_words(bits_.items, view_.item_count());
  if (node_bits < view_.node_count()) resize_words(bits_.nodes, view_.node_count());
  const uint64_t edit = flight == nullptr ? 0 : next_edit();
  const auto expect = [&](uint32_t second, ItemOrdinal item) {
    if (second > flight->to && second < UINT32_MAX)
      flight->events.edit(second, edit).items.push_back(item);
  };
  PersistentMap<ItemChange>::for_each_difference(
      from.items, view_.item_changes(),
      [&](ItemOrdinal item, const ItemChange*, const ItemChange* now) {
        if (now == nullptr && item >= view_.base().item_count()) {
          clear_bit(bits_.items.data(), item);  // the view does not have it yet
          return;
        }
        set_item(item, lets_pass(item, predicate, flight));
        if (flight == nullptr || now == nullptr) return;
        const FlightSeconds seconds = flight_seconds(flight->snapshot->attributes(), now->row);
        expect(seconds.begin, item);
        expect(seconds.end, item);
      });
  if (flight != nullptr) pass_seconds(predicate, *flight);
  PersistentMap<NodeChange>::for_each_difference(
      from.nodes, view_.node_changes(),
      [&](NodeIndex node, const NodeChange*, const NodeChange* now) {
        if (now != nullptr || !view_.is_later(node)) {
          check_later(node);
        } else {
          clear_bit(bits_.nodes.data(), node);
        }
      });
  resize_words(bits_.items, view_.item_count());
  resize_words(bits_.nodes, view_.node_count());
}

void EligibilityEditor::set_item(ItemOrdinal item, bool is_eligible) {
  if (test_bit(bits_.items.data(), item) == is_eligible) return;
  (is_eligible ? set_bit : clear_bit)(bits_.items.data(), item);
  check_later(view_.node_of(item));
}

void EligibilityEditor::finish() {
  for (size_t depth = nodes_.size(); depth-- > 0;) {
    std::vector<NodeIndex>& nodes = nodes_[depth];
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    for (const NodeIndex node : nodes) {
      const bool is_eligible = has_eligible(node);
      if (test_bit(bits_.nodes.data(), node) == is_eligible) continue;
      (is_eligible ? set_bit : clear_bit)(bits_.nodes.data(), node);
      if (depth > 0) nodes_[depth - 1].push_back(view_.parent(node));
    }
  }
}

bool EligibilityEditor::has_eligible(NodeIndex node) const {
  const ItemList items = view_.items(node);
  for (uint32_t i = 0; i < items.size(); ++i) {
    if (test_bit(bits_.items.data(), items[i])) return true;
  }
  const NodeChange* change = view_.node_change(node);
  if (change != nullptr) {
    for (const AddedChild& child : change->added) {
      if (test_bit(bits_.nodes.data(), child.node)) return true;
    }
  }
  if (view_.is_later(node)) return false;
  const Children below = view_.base().children(node);
  const uint64_t first = below.first_child;
  return any_bit(bits_.nodes.data(), first, first + below.codes.size());
}

}  // namespace tessera::catalogue
