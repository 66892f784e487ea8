// Attributes of an answer's items: the members that were asked for, in that order, as they are.
#include "engine/item_texts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/test_fixture.h"

namespace tessera::engine {
namespace item_texts_test {

using Names = std::vector<std::string>;

TEST(ItemTexts, MembersAreThoseAskedForInTheirOrder) {
  const std::string json =
      R"({"bid":9.50,"tags":["a","b"],"name":"x \"y\" é","on":true,"deep":{"a":[1,{}]},"bid":1})";
  EXPECT_EQ(members_of(json, Names{"tags", "bid"}), R"({"tags":["a","b"],"bid":9.5})");
  EXPECT_EQ(members_of(json, Names{"name", "none", "on"}), R"({"name":"x \"y\" é","on":true})");
  EXPECT_EQ(members_of(json, Names{"deep"}), R"({"deep":{"a":[1,{}]}})");
  EXPECT_EQ(members_of(R"({"a\"\n":1})", Names{"a\"\n"}), R"({"a\"\u000a":1})");
  EXPECT_EQ(members_of("{}", Names{"a"}), "{}");
  EXPECT_EQ(members_of("", Names{"a"}), "{}");
}

class CopiedTexts : public ::testing::Test {
 protected:
  std::shared_ptr<const catalogue::View> view_of(size_t items, size_t bytes) {
    catalogue::CatalogueInput input;
    for (size_t i = 0; i < items; ++i) {
      input.codes.push_back(static_cast<uint32_t>(i % 7));
      input.sid_ends.push_back(i + 1);
      input.item_ids.add(std::to_string(i));
      input.attributes.add("{\"n\":" + std::to_string(i) + ",\"text\":\"" +
                           std::string(bytes, 'x') + "\"}");
      items_.push_back(static_cast<catalogue::ItemOrdinal>(i));
    }
    return catalogue::View::of(snapshot_of(input));
  }
  std::vector<catalogue::ItemOrdinal> items_;
  platform::ThreadPool threads_{2};
};

TEST_F(CopiedTexts, HaveTheAttributesOfEachItem) {
  const auto view = view_of(300, 3);
  const Names names{"n"};
  const auto texts = copy_texts(*view, items_, names, threads_);
  ASSERT_TRUE(texts.is_ok());
  for (size_t i = 0; i < items_.size(); ++i) {
    EXPECT_EQ(texts.value().attributes_of(i), "{\"n\":" + std::string(texts.value().ids[i]) + "}");
  }
  const auto none = copy_texts(*view, items_, {}, threads_);
  EXPECT_EQ(none.value().attributes_of(7), "");
}

TEST_F(CopiedTexts, AreRefusedWhereTheyHaveTooManyBytes) {
  const auto view = view_of(300, 60000);
  const Names names{"text"};
  const auto texts = copy_texts(*view, items_, names, threads_);
  ASSERT_FALSE(texts.is_ok());
  EXPECT_EQ(texts.status().code(), Code::kRequestInvalid);
  EXPECT_EQ(texts.status().message(),
            "attributes: expected at most 16777216 bytes in all items, got more");
}

}  // namespace item_texts_test
}  // namespace tessera::engine
