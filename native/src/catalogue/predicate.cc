#include "catalogue/predicate.h"

#include <simdjson.h>

#include <algorithm>

#include "catalogue/input.h"
#include "catalogue/invalid_member.h"

namespace tessera::catalogue {
namespace {

using simdjson::dom::element;

class PredicateParser {
 public:
  Status parse(element json, const std::string& path, uint32_t depth, Clause& clause) {
    if (depth > kPredicateDepthMax) {
      return invalid_member(path, "deeper than " + std::to_string(kPredicateDepthMax) + " clauses");
    }
    if (++clause_count_ > kPredicateClausesMax) {
      return invalid_member(path, "more than " + std::to_string(kPredicateClausesMax) + " clauses");
    }
    simdjson::dom::object object;
    if (json.get(object) != simdjson::SUCCESS) return invalid_member(path, "expected an object");
    if (object["attribute"].error() == simdjson::SUCCESS) return leaf(object, path, clause);
    if (object.size() != 1) {
      return invalid_member(path, "expected one of all, any and not, or an attribute");
    }
    const auto member = *object.begin();
    const std::string below = path + "." + std::string(member.key);
    if (member.key == "all" || member.key == "any") {
      clause.kind = member.key == "all" ? ClauseKind::kAll : ClauseKind::kAny;
      return list(member.value, below, depth, clause);
    }
    if (member.key != "not") return invalid_member(below, "expected all, any, not or attribute");
    clause.kind = ClauseKind::kNot;
    clause.clauses.emplace_back();
    return parse(member.value, below, depth + 1, clause.clauses[0]);
  }

 private:
  Status list(element json, const std::string& path, uint32_t depth, Clause& clause) {
    simdjson::dom::array array;
    if (json.get(array) != simdjson::SUCCESS) return invalid_member(path, "expected an array");
    for (const element entry : array) {
      const std::string at = path + "[" + std::to_string(clause.clauses.size()) + "]";
      clause.clauses.emplace_back();
      TESSERA_RETURN_IF_ERROR(parse(entry, at, depth + 1, clause.clauses.back()));
    }
    return Status::ok();
  }

  Status leaf(simdjson::dom::object object, const std::string& path, Clause& clause) {
    std::string_view name;
    if (object["attribute"].get(name) != simdjson::SUCCESS || name.empty()) {
      return invalid_member(path + ".attribute", "expected a name");
    }
    clause.attribute = name;
    clause.kind = ClauseKind::kRange;
    bool is_bounded = false;
    for (const auto member : object) {
      const std::string at = path + "." + std::string(member.key);
      if (member.key == "attribute") continue;
      const bool is_in = member.key == "in";
      if (is_in || member.key == "contains") {
        if (object.size() != 2) return invalid_member(path, "expected " + at + " alone");
        clause.kind = is_in ? ClauseKind::kIn : ClauseKind::kContains;
        return values(member.value, at, clause);
      }
      if (member.key != "min" && member.key != "max") {
        return invalid_member(at, "expected in, contains, min or max");
      }
      double& bound = member.key == "min" ? clause.min : clause.max;
      if (member.value.get(bound) != simdjson::SUCCESS)
        return invalid_member(at, "expected a number");
      is_bounded = true;
    }
    return is_bounded ? Status::ok() : invalid_member(path, "expected in, contains, min or max");
  }

  Status values(element json, const std::string& path, Clause& clause) {
    simdjson::dom::array array;
    if (json.get(array) != simdjson::SUCCESS) return invalid_member(path, "expected an array");
    for (const element entry : array) {
      std::string_view text;
      bool truth = false;
      if (entry.get(truth) == simdjson::SUCCESS) text = truth ? "true" : "false";
      if (text.empty() && entry.get(text) != simdjson::SUCCESS) {
        return invalid_member(path + "[" + std::to_string(clause.values.size()) + "]",
                              "expected a text");
      }
      if (++value_count_ > kPredicateValuesMax) {
        return invalid_member(path, "more than " + std::to_string(kPredicateValuesMax) + " values");
      }
      clause.values.emplace_back(text);
    }
    std::sort(clause.values.begin(), clause.values.end());
    clause.values.erase(std::unique(clause.values.begin(), clause.values.end()),
                        clause.values.end());
    return Status::ok();
  }

  uint32_t clause_count_ = 0;
  uint32_t value_count_ = 0;
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

Result<Clause> parse_predicate(std::string_view json) {
  const std::string path = "eligibility.predicate";
  if (json.size() > kPredicateTextBytesMax) {
    return invalid_member(path, std::to_string(json.size()) + " bytes, expected at most " +
                                    std::to_string(kPredicateTextBytesMax));
  }
  simdjson::dom::parser parser;
  element root;
  if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS) {
    return invalid_member(path, "expected JSON, got " + quote(json));
  }
  Clause clause;
  TESSERA_RETURN_IF_ERROR(PredicateParser().parse(root, path, 1, clause));
  return clause;
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
