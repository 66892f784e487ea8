// Compares a schema's verdicts with a naive restatement, and checks its messages.
#include "catalogue/attribute_schema.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "catalogue/test_clause.h"

namespace tessera::catalogue {
namespace attribute_schema_test {

const std::vector<AttributeDeclaration> kDeclarations = {
    {"country", DeclaredType::kText, {"de", "at", "fr"}},
    {"note", DeclaredType::kText, {}},
    {"labels", DeclaredType::kSet, {"new", "sale"}},
    {"bid", DeclaredType::kNumber, {}},
    {"creative", DeclaredType::kUntyped, {}},
};

bool all(std::string_view) { return true; }

std::shared_ptr<const AttributeSchema> schema() {
  const auto made = AttributeSchema::make(kDeclarations);
  EXPECT_TRUE(made.is_ok()) << made.status().message();
  return made.value();
}

TEST(AttributeSchemaTest, LetsDeclaredMembersOfDeclaredValuesPassAndNothingElse) {
  const std::map<std::string, std::map<std::string, bool>> members = {
      {"country",
       {{"\"de\"", true}, {"\"DE\"", false}, {"[\"de\"]", false}, {"1", false}, {"null", true}}},
      {"note", {{"\"anything\"", true}, {"true", true}, {"{}", false}}},
      {"labels",
       {{"[]", true},
        {"[\"new\",\"sale\"]", true},
        {"[\"new\",\"x\"]", false},
        {"[1]", false},
        {"\"new\"", false}}},
      {"bid", {{"-0.5", true}, {"\"1\"", false}}},
      {"creative", {{"{\"a\":[1,\"x\"]}", true}, {"3", true}}},
      {"Country", {{"\"de\"", false}, {"null", false}}},
  };
  std::mt19937_64 random(5);
  for (uint32_t round = 0; round < 2000; ++round) {
    std::string json;
    bool is_good = true;
    for (const auto& [name, values] : members) {
      if (random() % 3 != 0) continue;
      const auto& [value, fits] = *std::next(values.begin(), random() % values.size());
      json += (json.empty() ? "\"" : ",\"") + name + "\":" + value;
      is_good = is_good && fits;
    }
    json = "{" + json + "}";
    EXPECT_EQ(schema()->check_object(json, all).is_ok(), is_good) << json;
  }
}

TEST(AttributeSchemaTest, SaysWhatWasProbablyMeant) {
  const auto message = [](const std::string& json) {
    return schema()->check_object(json, all).message();
  };
  EXPECT_EQ(message(R"({"contry":"de"})"),
            "attributes.contry: expected a declared attribute, got \"contry\", did you mean "
            "\"country\"?");
  EXPECT_EQ(message(R"({"country":"dee"})"),
            "attributes.country: expected a declared value, got \"dee\", did you mean \"de\"?");
  EXPECT_EQ(message(R"({"nothing like it":1})"),
            "attributes.nothing like it: expected a declared attribute, got \"nothing like it\"");
  EXPECT_EQ(message(R"({"bid":"1"})"), "attributes.bid: expected a number, got a text");
  EXPECT_EQ(message(R"({"bid":{}})"), "attributes.bid: expected a number, got an untyped value");
}

TEST(AttributeSchemaTest, LooksAtTheMembersThatConcernItAlone) {
  const auto only_bid = [](std::string_view name) { return name == "bid"; };
  EXPECT_TRUE(schema()->check_object(R"({"old":"x","bid":1})", only_bid).is_ok());
  EXPECT_FALSE(schema()->check_object(R"({"old":"x","bid":"1"})", only_bid).is_ok());
}

TEST(AttributeSchemaTest, RefusesClausesAndPoliciesAboutOthers) {
  const auto is_in = [](const char* attribute, std::vector<std::string> values) {
    return text_clause(ClauseKind::kIn, attribute, std::move(values));
  };
  const auto refusal = [](const Clause& clause) { return schema()->check_clause(clause); };
  EXPECT_TRUE(
      refusal(joined_clause(ClauseKind::kAll, {is_in("country", {"de"}), range_clause("bid", 1)}))
          .is_ok());
  const Status wrong = refusal(joined_clause(ClauseKind::kNot, {is_in("country", {"de", "fx"})}));
  EXPECT_EQ(wrong.code(), Code::kRequestInvalid);
  EXPECT_EQ(wrong.message(),
            "eligibility.predicate: attribute \"country\": expected a declared value, got \"fx\", "
            "did you mean \"fr\"?");
  EXPECT_FALSE(refusal(is_in("bid", {"1"})).is_ok());
  EXPECT_FALSE(refusal(is_in("creative", {"1"})).is_ok());
  EXPECT_TRUE(schema()->check_policy({"bid", {{"country", 1}}}).is_ok());
  EXPECT_EQ(
      schema()->check_policy({"bit", {}}).message(),
      "itemPolicy.orderBy: expected a declared attribute, got \"bit\", did you mean \"bid\"?");
  EXPECT_EQ(schema()->check_policy({"", {{"country", 1}, {"bid", 1}}}).message(),
            "itemPolicy.diversity[1].attribute: expected a number, got a text");
}

TEST(AttributeSchemaTest, RefusesCapsByOtherAttributes) {
  const auto refusal = [](const char* attribute) {
    return schema()->check_caps(
        {{"frequencyCaps[0]", "", 1, {}, {}}, {"at", attribute, 1, {}, {}}});
  };
  EXPECT_TRUE(refusal("").is_ok());
  EXPECT_TRUE(refusal("country").is_ok());
  EXPECT_EQ(refusal("contry").message(),
            "at.attribute: expected a declared attribute, got \"contry\", did you mean "
            "\"country\"?");
  EXPECT_EQ(refusal("labels").code(), Code::kRequestInvalid);
}

TEST(AttributesTest, ATextReadAloneIsThatOfTheRow) {
  for (const std::string json :
       {"", "{}", "no JSON", "[\"a\"]", R"({"a":"x"})", R"({"a":"\u00e9\n"})", R"({"a":true})",
        R"({"b":{"a":"x"},"a":false})", R"({"a":null})", R"({"a":["x"]})", R"({"a":1.5})",
        R"({"a":{}})", R"({"a":1,"a":"x"})", R"({"a":"x","a":"y"})", R"({"A":"x"})"}) {
    const AttributeRow row = read_attributes(json);
    const std::string* found = find_text(row, "a");
    EXPECT_EQ(read_text(json, "a"), found == nullptr ? std::nullopt : std::optional(*found))
        << json;
  }
}

TEST(AttributeSchemaTest, RefusesDeclarationsThatCannotBe) {
  const auto message = [](std::vector<AttributeDeclaration> declarations) {
    return AttributeSchema::make(declarations).status().message();
  };
  EXPECT_EQ(message({{"", DeclaredType::kText, {}}}), "attributes.: expected a name");
  EXPECT_EQ(message({{"a", DeclaredType::kText, {}}, {"a", DeclaredType::kSet, {}}}),
            "attributes.a: expected one declaration, got another");
  EXPECT_EQ(message({{"a", DeclaredType::kNumber, {"1"}}}),
            "attributes.a: expected values of a text or a set, got those of a number");
  std::vector<AttributeDeclaration> many;
  for (uint32_t i = 0; i <= kAttributesMax; ++i) {
    many.push_back({"a" + std::to_string(i), DeclaredType::kText, {}});
  }
  EXPECT_EQ(message(many), "attributes.a64: expected at most 64 typed attributes");
}

}  // namespace attribute_schema_test
}  // namespace tessera::catalogue
