// The predicate of a request over the attributes of items, as JSON on the wire:
//
//   {"all": [...]}, {"any": [...]}, {"not": ...}
//   {"attribute": "country", "in": ["de", "fr"]}           a text that is one of these
//   {"attribute": "labels", "contains": ["new", "sale"]}   a set that has at least one of these
//   {"attribute": "bid", "min": 0.5, "max": 2}             a number in [min, max]; one may be left
//   out
//
// A clause about an attribute that the item does not have is false. docs/eligibility.md.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "catalogue/attributes.h"

namespace tessera::catalogue {

inline constexpr uint32_t kPredicateDepthMax = 16;
inline constexpr uint32_t kPredicateClausesMax = 256;
inline constexpr uint32_t kPredicateValuesMax = 4096;  // of all clauses together
inline constexpr uint32_t kPredicateTextBytesMax = 1u << 18;

enum class ClauseKind : uint8_t { kAll, kAny, kNot, kIn, kContains, kRange };

struct Clause {
  ClauseKind kind = ClauseKind::kAll;
  std::vector<Clause> clauses;      // kAll, kAny; one of kNot
  std::string attribute;            // kIn, kContains, kRange
  std::vector<std::string> values;  // kIn, kContains: ascending, each once
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();

  /// The values that the attribute may have. REQUIRES: one of kIn, kContains, kRange.
  AttributeType type() const {
    return kind == ClauseKind::kIn         ? AttributeType::kText
           : kind == ClauseKind::kContains ? AttributeType::kSet
                                           : AttributeType::kNumber;
  }
  bool is_about_attribute() const { return kind >= ClauseKind::kIn; }
};

/// Errors: REQUEST_INVALID, the message beginning with the path of the member at fault, from
/// "eligibility.predicate" on: no clause of the forms above, or beyond a limit above.
Result<Clause> parse_predicate(std::string_view json);

bool matches(const Clause& clause, const AttributeRow& row);

/// The clause that decides against the row, as a path such as "all[1].not"; empty where the row
/// matches.
std::string failing_clause(const Clause& clause, const AttributeRow& row);

/// Equal for predicates that are the same up to the order and number of equal values.
std::string predicate_key(const Clause& clause);

}  // namespace tessera::catalogue
