// The predicate of a request over the attributes of items: a tree of clauses
// (native/abi/reach.mjs). A clause about an attribute that the item does not have is false.
// docs/concepts/eligibility.md.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/status.h"
#include "catalogue/attributes.h"

namespace tessera::catalogue {

inline constexpr uint32_t kPredicateDepthMax = 16;
inline constexpr uint32_t kPredicateClausesMax = 256;
inline constexpr uint32_t kPredicateValuesMax = 4096;         // of all clauses together
inline constexpr uint32_t kPredicateTextBytesMax = 1u << 18;  // attributes and values

enum class ClauseKind : uint8_t { kAll, kAny, kNot, kIn, kContains, kRange };

struct Clause {
  ClauseKind kind = ClauseKind::kAll;
  std::vector<Clause> clauses;      // kAll, kAny; one of kNot
  std::string attribute;            // kIn, kContains, kRange
  std::vector<std::string> values;  // kIn, kContains: ascending, each once (complete_predicate)
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

/// The member of a request that restricts its items.
inline constexpr char kPredicatePath[] = "eligibility.predicate";
/// The one that restricts those of its drawn places.
inline constexpr char kDrawnPath[] = "eligibility.drawn";

/// Checks a predicate as a caller gives it and sorts its values. Errors: REQUEST_INVALID, the
/// message beginning with the path of the member at fault, from `path` on: a clause that lacks what
/// its kind needs, or a limit above.
Status complete_predicate(Clause& predicate, const std::string& path = kPredicatePath);

bool matches(const Clause& clause, const AttributeRow& row);

/// The clause that decides against the row, as a path such as "all[1].not"; empty where the row
/// matches.
std::string failing_clause(const Clause& clause, const AttributeRow& row);

/// Equal for predicates that are the same up to the order and number of equal values.
std::string predicate_key(const Clause& clause);

}  // namespace tessera::catalogue
