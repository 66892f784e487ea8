// Test and bench only: clauses as a request gives them.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "catalogue/predicate.h"

namespace tessera::catalogue {

/// kIn or kContains.
inline Clause text_clause(ClauseKind kind, const std::string& attribute,
                          std::vector<std::string> values) {
  Clause clause;
  clause.kind = kind;
  clause.attribute = attribute;
  clause.values = std::move(values);
  return clause;
}

inline Clause range_clause(const std::string& attribute, double min,
                           double max = std::numeric_limits<double>::infinity()) {
  Clause clause;
  clause.kind = ClauseKind::kRange;
  clause.attribute = attribute;
  clause.min = min;
  clause.max = max;
  return clause;
}

/// kAll, kAny or kNot.
inline Clause joined_clause(ClauseKind kind, std::vector<Clause> clauses) {
  Clause clause;
  clause.kind = kind;
  clause.clauses = std::move(clauses);
  return clause;
}

}  // namespace tessera::catalogue
