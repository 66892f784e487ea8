// A persistent map against plain maps, one per version: what is found, and what differs between any
// two versions, related or not.
#include "catalogue/persistent_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace tessera::catalogue {
namespace persistent_map_test {

struct Number {
  uint64_t edit = 0;
  uint64_t value = 0;
};
using Map = PersistentMap<Number>;
using Model = std::map<uint32_t, uint64_t>;

struct Version {
  Map map;
  Model model;
};

/// A version made from another by some edits, each value different from all others.
Version edited(const Version& from, uint64_t edit, uint32_t key_count, std::mt19937_64& random) {
  Version next = from;
  for (uint64_t i = 0; i < 1 + random() % 40; ++i) {
    const auto key = static_cast<uint32_t>(random() % key_count);
    next.map.edit(key, edit).value = next.model[key] = edit * 1000 + i;
  }
  return next;
}

void expect_difference(const Version& from, const Version& to) {
  std::set<uint32_t> visited;
  Map::for_each_difference(from.map, to.map,
                           [&](uint32_t key, const Number* before, const Number* after) {
                             ASSERT_TRUE(visited.insert(key).second) << "visited twice: " << key;
                             ASSERT_EQ(before, from.map.find(key)) << key;
                             ASSERT_EQ(after, to.map.find(key)) << key;
                             ASSERT_NE(before, after) << key;
                           });
  std::set<uint32_t> keys;
  for (const Model* model : {&from.model, &to.model}) {
    for (const auto& [key, value] : *model) keys.insert(key);
  }
  for (const uint32_t key : keys) {
    const auto before = from.model.find(key);
    const auto after = to.model.find(key);
    const bool is_same =
        before != from.model.end() && after != to.model.end() && before->second == after->second;
    ASSERT_EQ(visited.count(key) == 0, is_same) << key;
  }
}

TEST(PersistentMapTest, TellsWhatDiffersBetweenAnyTwoVersionsAndNothingElse) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const uint32_t key_count = seed % 2 == 0 ? 100 : 1u << 20;  // crowded, or hardly
    std::vector<Version> versions(1);
    uint64_t edit = 0;
    for (uint32_t i = 0; i < 12; ++i) {
      // Mostly the newest, else one that others have been made from already.
      const size_t from = random() % 4 == 0 ? random() % versions.size() : versions.size() - 1;
      versions.push_back(edited(versions[from], ++edit, key_count, random));
    }
    versions.push_back(edited(Version(), ++edit, key_count, random));  // shares nothing
    for (const Version& from : versions) {
      for (const auto& [key, value] : from.model) ASSERT_EQ(from.map.find(key)->value, value);
      ASSERT_EQ(from.map.size(), from.model.size());
      for (const Version& to : versions) {
        expect_difference(from, to);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace persistent_map_test
}  // namespace tessera::catalogue
