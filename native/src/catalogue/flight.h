// The flight of an item: the time in which it may be recalled, by two of its number attributes.
// Time is counted in whole seconds: an item is in its flight in second s where the whole of it,
// [s, s + 1), is. So none is ever recalled outside its flight, and one that begins and ends with a
// second is recalled in all of it. docs/concepts/eligibility.md.
//
// Thread-safety: values; SnapshotFlights is immutable once made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "catalogue/attribute_index.h"

namespace tessera::catalogue {

/// Names of number attributes: milliseconds since 1970. One that an item lacks does not bound it.
struct FlightAttributes {
  std::string begin;
  std::string end;

  bool operator==(const FlightAttributes&) const = default;
};

/// A second, since 1970, that items must be in their flight in.
struct Flight {
  FlightAttributes attributes;
  uint32_t second = 0;
};

/// Seconds [begin, end).
struct FlightSeconds {
  uint32_t begin = 0;
  uint32_t end = UINT32_MAX;

  bool has(uint32_t second) const { return begin <= second && second < end; }
};

/// NaN: not bounded.
FlightSeconds flight_seconds(double begin_ms, double end_ms);
FlightSeconds flight_seconds(const FlightAttributes& attributes, const AttributeRow& row);

/// The flights of a snapshot's items, and when they begin and end.
class SnapshotFlights {
 public:
  /// `index` outlives this.
  SnapshotFlights(const AttributeIndex& index, FlightAttributes attributes, uint32_t item_count);

  const FlightAttributes& attributes() const { return attributes_; }
  FlightSeconds of(ItemOrdinal item) const;
  /// Calls visit(item) for each that may have begun or ended in seconds (after, until].
  template <typename Visit>
  void for_each_between(uint32_t after, uint32_t until, const Visit& visit) const {
    const auto first =
        std::upper_bound(events_.begin(), events_.end(), after,
                         [](uint32_t second, const auto& event) { return second < event.first; });
    for (auto event = first; event != events_.end() && event->first <= until; ++event) {
      visit(event->second);
    }
  }

 private:
  const FlightAttributes attributes_;
  const std::vector<double>* begins_ = nullptr;  // by item; null: no item has one
  const std::vector<double>* ends_ = nullptr;
  std::vector<std::pair<uint32_t, ItemOrdinal>> events_;  // by second
};

}  // namespace tessera::catalogue
