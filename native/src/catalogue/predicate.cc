#include "catalogue/predicate.h"

#include <algorithm>
#include <cmath>

#include "catalogue/invalid_member.h"

namespace tessera::catalogue {
namespace {

class PredicateCompleter {
 public:
  Status complete(Clause& clause, const std::string& path, uint32_t depth) {
    if (depth > kPredicateDepthMax) return beyond(path, kPredicateDepthMax, "clauses deep", depth);
    if (++clauses_ > kPredicateClausesMax) {
      return beyond(path, kPredicateClausesMax, "clauses", clauses_);
    }
    if (clause.is_about_attribute()) return complete_leaf(clause, path);
    if (clause.kind == ClauseKind::kNot) {
      if (clause.clauses.size() != 1) {
        return invalid_member(path + ".not",
                              "expected one clause, got " + std::to_string(clause.clauses.size()));
      }
      return complete(clause.clauses[0], path + ".not", depth + 1);
    }
    const std::string list = path + (clause.kind == ClauseKind::kAll ? ".all[" : ".any[");
    for (size_t i = 0; i < clause.clauses.size(); ++i) {
      TESSERA_RETURN_IF_ERROR(
          complete(clause.clauses[i], list + std::to_string(i) + "]", depth + 1));
    }
    return Status::ok();
  }

 private:
  static Status beyond(const std::string& path, uint32_t max, const char* what, uint64_t got) {
    return invalid_member(path, "expected at most " + std::to_string(max) + " " + what + ", got " +
                                    std::to_string(got));
  }

  Status complete_leaf(Clause& clause, const std::string& path) {
    if (clause.attribute.empty()) {
      return invalid_member(path + ".attribute", "expected a name, got nothing");
    }
    if (!clause.clauses.empty()) {
      return invalid_member(path, "expected no clauses within one about an attribute, got " +
                                      std::to_string(clause.clauses.size()));
    }
    text_bytes_ += clause.attribute.size();
    for (const std::string& value : clause.values) text_bytes_ += value.size();
    values_ += clause.values.size();
    if (values_ > kPredicateValuesMax) return beyond(path, kPredicateValuesMax, "values", values_);
    if (text_bytes_ > kPredicateTextBytesMax) {
      return beyond(path, kPredicateTextBytesMax, "bytes of texts", text_bytes_);
    }
    const bool is_unbounded = std::isinf(clause.min) && std::isinf(clause.max);
    if (clause.kind == ClauseKind::kRange &&
        (std::isnan(clause.min) || std::isnan(clause.max) || is_unbounded)) {
      return invalid_member(path, "expected min or max, got neither");
    }
    std::sort(clause.values.begin(), clause.values.end());
    clause.values.erase(std::unique(clause.values.begin(), clause.values.end()),
                        clause.values.end());
    return Status::ok();
  }

  uint32_t clauses_ = 0;
  uint64_t values_ = 0;
  uint64_t text_bytes_ = 0;
};

bool has_value(const Clause& clause, const AttributeValue& value) {
  return std::any_of(value.texts.begin(), value.texts.end(), [&](const std::string& text) {
    return std::binary_search(clause.values.begin(), clause.values.end(), text);
  });
}

bool matches_leaf(const Clause& clause, const AttributeRow& row) {
  return std::any_of(row.begin(), row.end(), [&](const AttributeValue& value) {
    if (value.name != clause.attribute || value.type != clause.type()) return false;
    if (clause.kind != ClauseKind::kRange) return has_value(clause, value);
    return value.number >= clause.min && value.number <= clause.max;
  });
}

/// Path of the clause that makes `clause` come out as not wanted; REQUIRES that it does.
std::string deciding_clause(const Clause& clause, const AttributeRow& row, bool wanted) {
  if (clause.kind == ClauseKind::kNot) {
    return ".not" + deciding_clause(clause.clauses[0], row, !wanted);
  }
  const bool is_all = clause.kind == ClauseKind::kAll;
  // One clause decides an `all` that fails and an `any` that holds; else all of them do.
  if (clause.is_about_attribute() || is_all != wanted) return "";
  for (size_t i = 0; i < clause.clauses.size(); ++i) {
    if (matches(clause.clauses[i], row) == wanted) continue;
    return (is_all ? ".all[" : ".any[") + std::to_string(i) + "]" +
           deciding_clause(clause.clauses[i], row, wanted);
  }
  return "";
}

}  // namespace

Status complete_predicate(Clause& predicate, const std::string& path) {
  return PredicateCompleter().complete(predicate, path, 1);
}

bool matches(const Clause& clause, const AttributeRow& row) {
  const auto holds = [&row](const Clause& below) { return matches(below, row); };
  switch (clause.kind) {
    case ClauseKind::kAll: return std::all_of(clause.clauses.begin(), clause.clauses.end(), holds);
    case ClauseKind::kAny: return std::any_of(clause.clauses.begin(), clause.clauses.end(), holds);
    case ClauseKind::kNot: return !matches(clause.clauses[0], row);
    default: return matches_leaf(clause, row);
  }
}

std::string failing_clause(const Clause& clause, const AttributeRow& row) {
  return matches(clause, row) ? "" : "predicate" + deciding_clause(clause, row, true);
}

std::string predicate_key(const Clause& clause) {
  std::string key(1, static_cast<char>('a' + static_cast<int>(clause.kind)));
  const auto add = [&key](std::string_view text) {
    key += std::to_string(text.size());
    key += ':';
    key += text;
  };
  if (!clause.is_about_attribute()) {
    for (const Clause& below : clause.clauses) add(predicate_key(below));
    return key;
  }
  add(clause.attribute);
  for (const std::string& value : clause.values) add(value);
  if (clause.kind == ClauseKind::kRange) {
    add(std::string_view(reinterpret_cast<const char*>(&clause.min), sizeof(double)));
    add(std::string_view(reinterpret_cast<const char*>(&clause.max), sizeof(double)));
  }
  return key;
}

}  // namespace tessera::catalogue
