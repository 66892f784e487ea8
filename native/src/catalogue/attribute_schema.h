// The attributes that a catalogue may have, where they are declared: their names, types and, of
// enumerations, values. Changes and requests that name another are refused, with what was probably
// meant. docs/concepts/eligibility.md has the rules.
//
// Thread-safety: immutable once made.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "catalogue/attributes.h"
#include "catalogue/eligibility.h"
#include "catalogue/item_policy.h"

namespace tessera::catalogue {

inline constexpr uint32_t kFindingsMax = 20;  // reports of what items have that is not declared

/// AttributeType, and what is carried but not typed.
enum class DeclaredType : uint8_t { kText = 0, kSet = 1, kNumber = 2, kUntyped = 3 };

struct AttributeDeclaration {
  std::string name;
  DeclaredType type = DeclaredType::kText;
  std::vector<std::string> values;  // of texts and sets; empty: any
};

class AttributeSchema {
 public:
  /// Errors: CATALOGUE_INVALID, the message beginning with `attributes.NAME`: a name that is empty
  /// or there twice, values of a type that has none, more than kAttributesMax typed ones.
  static Result<std::shared_ptr<const AttributeSchema>> make(
      std::span<const AttributeDeclaration> declarations);

  /// Checks an attributes object: every member whose name `concerns` accepts must be declared and
  /// have a declared value. Errors: CATALOGUE_INVALID; the message begins with `attributes.NAME`.
  Status check_object(std::string_view json,
                      const std::function<bool(std::string_view)>& concerns) const;
  /// Errors: REQUEST_INVALID, the message beginning with `eligibility.predicate`, a cap's path or
  /// `itemPolicy`.
  Status check_clause(const Clause& clause, const std::string& path = kPredicatePath) const;
  Status check_caps(const std::vector<CountedCap>& caps) const;
  Status check_policy(const ItemPolicyRequest& request) const;
  bool declares(std::string_view name, AttributeType type) const {
    return declared_.contains(name) && type_refusal(name, type).empty();
  }

  /// Describes undeclared attributes of a view's items, the first kFindingsMax. Errors:
  /// CATALOGUE_INVALID: an item has an attribute of another type than the declared one.
  Result<std::vector<std::string>> check_items(const View& view) const;

 private:
  struct Declared {
    DeclaredType type = DeclaredType::kText;
    std::set<std::string, std::less<>> values;
  };

  Status check_type(const std::string& name, AttributeType type) const;
  /// Why a name, type or value is refused; empty: it is not.
  std::string name_refusal(std::string_view name) const;
  std::string type_refusal(std::string_view name, AttributeType type) const;
  std::string value_refusal(std::string_view name, std::string_view value) const;

  std::map<std::string, Declared, std::less<>> declared_;
};

}  // namespace tessera::catalogue
