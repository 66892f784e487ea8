#include "catalogue/attribute_schema.h"

#include <simdjson.h>

#include <algorithm>

#include "catalogue/input.h"
#include "catalogue/invalid_member.h"

namespace tessera::catalogue {
namespace {

constexpr const char* kTypeNames[] = {"a text", "a set", "a number", "an untyped attribute"};
// Two names are taken for one where not more than one letter in so many differs.
constexpr size_t kLettersPerTypo = 3;

/// Letters to be put in, taken out or changed (Levenshtein).
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// Maximum bytes and number of compared names or values: a refusal must not take longer than the
/// work it refuses.
constexpr size_t kComparedBytesMax = 64;
constexpr size_t kComparedMax = 1024;

template <typename Names, typename NameOf>
std::string meant(std::string_view given, const Names& names, const NameOf& name_of) {
  size_t best = given.size() / kLettersPerTypo + 1;
  std::string found;
  if (given.size() > kComparedBytesMax || names.size() > kComparedMax) return "";
  for (const auto& entry : names) {
    const std::string& name = name_of(entry);
    if (name.size() > kComparedBytesMax) continue;
    const size_t letters = distance(given, name);
    if (letters > best || (letters == best && !found.empty())) continue;
    best = letters;
    found = name;
  }
  return found.empty() ? "" : ", did you mean " + quote(found) + "?";
}

}  // namespace

Result<std::shared_ptr<const AttributeSchema>> AttributeSchema::make(
    std::span<const AttributeDeclaration> declarations) {
  auto schema = std::make_shared<AttributeSchema>();
  uint32_t typed_count = 0;
  for (const AttributeDeclaration& declaration : declarations) {
    const auto invalid = [&declaration](const std::string& message) {
      return Status(Code::kCatalogueInvalid, "attributes." + declaration.name + ": " + message);
    };
    if (declaration.name.empty()) return invalid("expected a name");
    const bool has_texts =
        declaration.type == DeclaredType::kText || declaration.type == DeclaredType::kSet;
    if (!has_texts && !declaration.values.empty()) {
      return invalid("expected values of a text or a set, got those of " +
                     std::string(kTypeNames[static_cast<int>(declaration.type)]));
    }
    if (declaration.values.size() > kAttributeValuesMax) {
      return invalid("expected at most " + std::to_string(kAttributeValuesMax) + " values, got " +
                     std::to_string(declaration.values.size()));
    }
    typed_count += declaration.type == DeclaredType::kUntyped ? 0 : 1;
    if (typed_count > kAttributesMax) {
      return invalid("expected at most " + std::to_string(kAttributesMax) + " typed attributes");
    }
    const bool is_new =
        schema->declared_
            .emplace(
                declaration.name,
                Declared{declaration.type, {declaration.values.begin(), declaration.values.end()}})
            .second;
    if (!is_new) return invalid("expected one declaration, got another");
  }
  return std::shared_ptr<const AttributeSchema>(std::move(schema));
}

std::string AttributeSchema::name_refusal(std::string_view name) const {
  if (declared_.contains(name)) return "";
  return "expected a declared attribute, got " + quote(name) +
         meant(name, declared_,
               [](const auto& entry) -> const std::string& { return entry.first; });
}

std::string AttributeSchema::type_refusal(std::string_view name, AttributeType type) const {
  const Declared& declared = declared_.find(name)->second;
  if (static_cast<int>(declared.type) == static_cast<int>(type)) return "";
  return std::string("expected ") + kTypeNames[static_cast<int>(declared.type)] + ", got " +
         kTypeNames[static_cast<int>(type)];
}

std::string AttributeSchema::value_refusal(std::string_view name, std::string_view value) const {
  const Declared& declared = declared_.find(name)->second;
  if (declared.values.empty() || declared.values.contains(value)) return "";
  const auto name_of = [](const std::string& known) -> const std::string& { return known; };
  return "expected a declared value, got " + quote(value) + meant(value, declared.values, name_of);
}

Status AttributeSchema::check_object(std::string_view json,
                                     const std::function<bool(std::string_view)>& concerns) const {
  static thread_local simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(json.data(), json.size()).get(object) != simdjson::SUCCESS) return Status::ok();
  const AttributeRow row = read_attributes(json);
  for (const auto member : object) {
    if (!concerns(member.key)) continue;
    std::string refusal = name_refusal(member.key);
    const auto typed = std::find_if(row.begin(), row.end(), [&member](const AttributeValue& value) {
      return value.name == member.key;
    });
    const bool is_checked = refusal.empty() && !member.value.is_null() &&
                            declared_.find(member.key)->second.type != DeclaredType::kUntyped;
    if (is_checked && typed == row.end()) {
      const Declared& declared = declared_.find(member.key)->second;
      refusal = std::string("expected ") + kTypeNames[static_cast<int>(declared.type)] +
                ", got an untyped value";
    } else if (is_checked) {
      refusal = type_refusal(member.key, typed->type);
      for (const std::string& text : typed->texts) {
        if (refusal.empty()) refusal = value_refusal(member.key, text);
      }
    }
    if (!refusal.empty()) {
      return {Code::kCatalogueInvalid, "attributes." + std::string(member.key) + ": " + refusal};
    }
  }
  return Status::ok();
}

Status AttributeSchema::check_clause(const Clause& clause, const std::string& path) const {
  for (const Clause& below : clause.clauses) TESSERA_RETURN_IF_ERROR(check_clause(below, path));
  if (!clause.is_about_attribute()) return Status::ok();
  std::string refusal = name_refusal(clause.attribute);
  if (refusal.empty()) refusal = type_refusal(clause.attribute, clause.type());
  for (const std::string& value : clause.values) {
    if (refusal.empty()) refusal = value_refusal(clause.attribute, value);
  }
  if (refusal.empty()) return Status::ok();
  return invalid_member(path, "attribute " + quote(clause.attribute) + ": " + refusal);
}

Status AttributeSchema::check_type(const std::string& name, AttributeType type) const {
  const auto found = declared_.find(name);
  if (found == declared_.end() || found->second.type == DeclaredType::kUntyped) return Status::ok();
  const std::string refusal = type_refusal(name, type);
  if (refusal.empty()) return Status::ok();
  return {Code::kCatalogueInvalid,
          "attributes." + name + ": " + refusal + " in the items of the catalogue"};
}

Result<std::vector<std::string>> AttributeSchema::check_items(const View& view) const {
  std::set<std::string> findings;
  const auto find = [&](const std::string& name, const std::string& value) {
    std::string refusal = name_refusal(name);
    if (refusal.empty()) refusal = value_refusal(name, value);
    if (refusal.empty() || findings.size() == kFindingsMax) return;
    findings.insert("attributes." + name + ": " + refusal);
  };
  for (const auto& [name, attribute] : view.eligibility_index().attributes().attributes()) {
    if (attribute.refusal.empty()) TESSERA_RETURN_IF_ERROR(check_type(name, attribute.type));
    if (attribute.items.empty() && !declared_.contains(name)) find(name, "");
    for (const auto& [value, items] : attribute.items) find(name, value);
  }
  Status status;
  view.item_changes().for_each([&](ItemOrdinal, const ItemChange& item) {
    for (const AttributeValue& value : item.row) {
      if (status.is_ok()) status = check_type(value.name, value.type);
      if (value.texts.empty() && !declared_.contains(value.name)) find(value.name, "");
      for (const std::string& text : value.texts) find(value.name, text);
    }
  });
  if (!status.is_ok()) return status;
  return std::vector<std::string>(findings.begin(), findings.end());
}

}  // namespace tessera::catalogue
