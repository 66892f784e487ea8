#include "catalogue/flight.h"

#include <cmath>
#include <limits>

namespace tessera::catalogue {
namespace {

constexpr double kMillisecondsPerSecond = 1000;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

uint32_t clamped(double second) {
  return static_cast<uint32_t>(std::clamp(second, 0.0, double{UINT32_MAX}));
}

const std::vector<double>* numbers_of(const AttributeIndex& index, const std::string& name) {
  const AttributeIndex::Attribute* found = index.find(name);
  const bool has_numbers = found != nullptr && !found->numbers.empty();
  return has_numbers ? &found->numbers : nullptr;
}

}  // namespace

FlightSeconds flight_seconds(double begin_ms, double end_ms) {
  FlightSeconds seconds;
  if (!std::isnan(begin_ms)) seconds.begin = clamped(std::ceil(begin_ms / kMillisecondsPerSecond));
  if (!std::isnan(end_ms)) seconds.end = clamped(std::floor(end_ms / kMillisecondsPerSecond));
  return seconds;
}

FlightSeconds flight_seconds(const FlightAttributes& attributes, const AttributeRow& row) {
  double begin = kNone;
  double end = kNone;
  for (const AttributeValue& value : row) {
    if (value.type != AttributeType::kNumber) continue;
    if (value.name == attributes.begin) begin = value.number;
    if (value.name == attributes.end) end = value.number;
  }
  return flight_seconds(begin, end);
}

SnapshotFlights::SnapshotFlights(const AttributeIndex& index, FlightAttributes attributes,
                                 uint32_t item_count)
    : attributes_(std::move(attributes)),
      begins_(numbers_of(index, attributes_.begin)),
      ends_(numbers_of(index, attributes_.end)) {
  if (begins_ == nullptr && ends_ == nullptr) return;
  for (ItemOrdinal item = 0; item < item_count; ++item) {
    const FlightSeconds seconds = of(item);
    if (seconds.begin > 0) events_.emplace_back(seconds.begin, item);
    if (seconds.end < UINT32_MAX) events_.emplace_back(seconds.end, item);
  }
  std::sort(events_.begin(), events_.end());
}

FlightSeconds SnapshotFlights::of(ItemOrdinal item) const {
  return flight_seconds(begins_ == nullptr ? kNone : (*begins_)[item],
                        ends_ == nullptr ? kNone : (*ends_)[item]);
}

}  // namespace tessera::catalogue
