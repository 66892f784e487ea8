// The snapshot against a std::map of the same items, over seeded random catalogues; and every
// refusal of the builder.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "catalogue/builder.h"
#include "catalogue/snapshot.h"

namespace tessera::catalogue {
namespace catalogue_test {

using Sid = std::vector<uint32_t>;

struct Item {
  std::string id;
  Sid sid;
  std::string title;
  std::string attributes;
  double priority = 0;
};

CatalogueInput input_of(const std::vector<Item>& items) {
  CatalogueInput input;
  for (const Item& item : items) {
    input.codes.insert(input.codes.end(), item.sid.begin(), item.sid.end());
    input.sid_ends.push_back(input.codes.size());
    input.item_ids.add(item.id);
    input.titles.add(item.title);
    input.attributes.add(item.attributes);
    input.priorities.push_back(item.priority);
  }
  return input;
}

/// Memory where there is some: each snapshot is synced to its disk.
std::filesystem::path shared_memory_or_temp() {
  return std::filesystem::is_directory("/dev/shm") ? std::filesystem::path("/dev/shm")
                                                   : std::filesystem::temp_directory_path();
}

class CatalogueTest : public testing::Test {
 protected:
  CatalogueTest()
      : folder_(shared_memory_or_temp() / ("tessera-catalogue-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~CatalogueTest() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ / "snapshot.tsra"; }

  std::shared_ptr<const Snapshot> build(const CatalogueInput& input) {
    const Result<BuildReport> report = build_snapshot(input, path(), {});
    EXPECT_TRUE(report.is_ok()) << report.status().message();
    Result<std::shared_ptr<const Snapshot>> snapshot = Snapshot::open(path());
    EXPECT_TRUE(snapshot.is_ok()) << snapshot.status().message();
    EXPECT_EQ(snapshot.value()->digest(), report.value().digest);
    return snapshot.value();
  }

  void expect_refused(const CatalogueInput& input, const std::string& words) {
    const Result<BuildReport> report = build_snapshot(input, path(), {});
    ASSERT_FALSE(report.is_ok()) << "expected: " << words;
    EXPECT_EQ(report.status().code(), Code::kCatalogueInvalid);
    EXPECT_NE(report.status().message().find(words), std::string::npos)
        << report.status().message();
    EXPECT_FALSE(std::filesystem::exists(path()));
  }

  std::string bytes() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_;
};

std::vector<Item> random_items(std::mt19937_64& random) {
  const auto below = [&](uint64_t limit) { return static_cast<uint32_t>(random() % limit); };
  const uint32_t depth = 1 + below(6);
  const bool is_mixed = below(2) == 0;
  std::vector<uint32_t> sizes(depth);
  const uint32_t choices[] = {2, 3, 7, 256, 300, 70000};
  for (uint32_t& size : sizes) size = choices[below(6)];
  std::vector<Item> items(1 + below(200));
  for (size_t i = 0; i < items.size(); ++i) {
    items[i].id = "ad-" + std::to_string(i * 7 % 1000) + (below(4) == 0 ? "é" : "");
    const uint32_t length = is_mixed ? 1 + below(depth) : depth;
    if (i > 0 && below(4) == 0) {
      items[i].sid = items[below(i)].sid;
    } else {
      for (uint32_t level = 0; level < length; ++level) {
        items[i].sid.push_back(below(std::min(sizes[level], 1 + below(sizes[level]))));
      }
    }
    if (below(3) != 0) items[i].title = "title " + std::to_string(i);
    if (below(3) == 0) items[i].attributes = "{\"bid\":" + std::to_string(i) + "}";
    if (below(3) == 0) items[i].priority = static_cast<double>(below(4)) - 1.5;
  }
  return items;
}

void expect_equal(const Snapshot& snapshot, const std::vector<Item>& items) {
  std::map<Sid, std::vector<const Item*>> by_sid;
  std::map<Sid, std::set<uint32_t>> children;
  for (const Item& item : items) {
    by_sid[item.sid].push_back(&item);
    for (size_t d = 0; d < item.sid.size(); ++d) {
      children[Sid(item.sid.begin(), item.sid.begin() + d)].insert(item.sid[d]);
    }
  }
  EXPECT_EQ(snapshot.item_count(), items.size());
  EXPECT_EQ(snapshot.path_count(), by_sid.size());
  std::vector<std::pair<size_t, Sid>> nodes = {{0, {}}};
  for (const auto& [prefix, codes] : children) {
    for (const uint32_t code : codes) {
      Sid sid = prefix;
      sid.push_back(code);
      nodes.emplace_back(sid.size(), sid);
    }
  }
  std::sort(nodes.begin(), nodes.end());
  ASSERT_EQ(snapshot.node_count(), nodes.size());
  ItemOrdinal next_item = 0;
  for (NodeIndex node = 0; node < nodes.size(); ++node) {
    const Sid& sid = nodes[node].second;
    uint32_t codes[kMaxDepth];
    const uint32_t depth = snapshot.sid(node, codes);
    ASSERT_EQ(Sid(codes, codes + depth), sid);
    EXPECT_EQ(snapshot.find_node(sid), node);
    const Children below = snapshot.children(node);
    ASSERT_EQ(below.codes.size(), children[sid].size());
    EXPECT_EQ(snapshot.has_children(node), !below.codes.empty());
    uint32_t index = 0;
    for (const uint32_t code : children[sid]) {
      EXPECT_EQ(below.codes[index], code);
      EXPECT_EQ(snapshot.child(node, code), below.first_child + index);
      EXPECT_EQ(snapshot.parent(below.first_child + index), node);
      EXPECT_EQ(snapshot.code(below.first_child + index), code);
      EXPECT_EQ(snapshot.child(node, code + 1) == kNoNode, children[sid].count(code + 1) == 0);
      ++index;
    }
    std::vector<const Item*> expected =
        by_sid.count(sid) ? by_sid[sid] : std::vector<const Item*>();
    std::sort(expected.begin(), expected.end(), [](const Item* a, const Item* b) {
      return a->priority != b->priority ? a->priority > b->priority : a->id < b->id;
    });
    const ItemRange range = snapshot.items(node);
    ASSERT_EQ(range.count, expected.size());
    for (uint32_t i = 0; i < range.count; ++i, ++next_item) {
      EXPECT_EQ(range.first + i, next_item);
      EXPECT_EQ(snapshot.item_id(next_item), expected[i]->id);
      EXPECT_EQ(snapshot.title(next_item), expected[i]->title);
      EXPECT_EQ(snapshot.attributes(next_item),
                expected[i]->attributes.empty() ? "{}" : expected[i]->attributes);
      EXPECT_EQ(snapshot.priority(next_item), expected[i]->priority);
      EXPECT_EQ(snapshot.find_item(expected[i]->id), next_item);
      EXPECT_EQ(snapshot.node_of(next_item), node);
    }
  }
  EXPECT_EQ(snapshot.find_item("no such item"), kNoItem);
  EXPECT_EQ(snapshot.find_item(""), kNoItem);
}

TEST_F(CatalogueTest, SnapshotHoldsExactlyTheItemsItWasBuiltFrom) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const std::vector<Item> items = random_items(random);
    expect_equal(*build(input_of(items)), items);
    if (HasFailure()) return;
  }
}

TEST_F(CatalogueTest, SnapshotComparesSidsAsTuplesCompare) {
  std::mt19937_64 random(7);
  const std::vector<Item> items = random_items(random);
  const auto snapshot = build(input_of(items));
  uint32_t a_codes[kMaxDepth];
  uint32_t b_codes[kMaxDepth];
  for (NodeIndex a = 0; a < snapshot->node_count(); ++a) {
    for (NodeIndex b = 0; b < snapshot->node_count(); ++b) {
      const Sid a_sid(a_codes, a_codes + snapshot->sid(a, a_codes));
      const Sid b_sid(b_codes, b_codes + snapshot->sid(b, b_codes));
      ASSERT_EQ(snapshot->sid_before(a, b), a_sid < b_sid);
    }
  }
}

TEST_F(CatalogueTest, SameItemsInAnyOrderGiveTheSameBytes) {
  std::mt19937_64 random(11);
  std::vector<Item> items = random_items(random);
  build(input_of(items));
  const std::string first = bytes();
  std::shuffle(items.begin(), items.end(), random);
  build(input_of(items));
  EXPECT_EQ(bytes(), first);
  items[0].title += "!";
  build(input_of(items));
  EXPECT_NE(bytes(), first);
}

TEST_F(CatalogueTest, SidsTooLongForOneSortingKeyAreOrderedToo) {
  std::mt19937_64 random(13);
  std::vector<Item> items(300);
  for (size_t i = 0; i < items.size(); ++i) {
    items[i].id = std::to_string(i);
    for (uint32_t level = 0; level < kMaxDepth; ++level) {
      items[i].sid.push_back(
          static_cast<uint32_t>(level % 7 == 6 ? random() % kMaxLevelSize : random() % 2));
    }
  }
  expect_equal(*build(input_of(items)), items);
}

TEST_F(CatalogueTest, LevelPatternsAreKept) {
  CatalogueInput input = input_of({{"a", {1, 2}, "", "", 0}});
  input.level_patterns = {"<a_{code}>", "<b_{code}>"};
  const auto snapshot = build(input);
  EXPECT_EQ(snapshot->level_pattern(0), "<a_{code}>");
  EXPECT_EQ(snapshot->level_pattern(1), "<b_{code}>");
  input.level_patterns.clear();
  EXPECT_EQ(build(input)->level_pattern(1), "");
}

TEST_F(CatalogueTest, DeclaredLevelSizesAreKept) {
  CatalogueInput input = input_of({{"a", {1, 2}, "", "", 0}});
  input.level_sizes = {256, 4096};
  const auto snapshot = build(input);
  EXPECT_EQ(snapshot->level_size(0), 256u);
  EXPECT_EQ(snapshot->level_size(1), 4096u);
  EXPECT_EQ(snapshot->child(kRoot, 255), kNoNode);
  EXPECT_EQ(snapshot->child(kRoot, 256), kNoNode);
}

TEST_F(CatalogueTest, ProgressNamesEveryStageAndReachesItsTotal) {
  std::set<std::string> stages;
  uint64_t done_max = 0;
  const CatalogueInput input = input_of({{"a", {1}, "", "", 0}, {"b", {2}, "", "", 0}});
  const auto report =
      build_snapshot(input, path(), [&](std::string_view stage, uint64_t done, uint64_t total) {
        stages.emplace(stage);
        EXPECT_LE(done, total);
        if (stage == "index") done_max = done;
      });
  ASSERT_TRUE(report.is_ok());
  EXPECT_EQ(stages, (std::set<std::string>{"check", "sort", "trie", "index", "write"}));
  EXPECT_EQ(done_max, 2u);
}

TEST_F(CatalogueTest, BuilderNamesWhatItRefuses) {
  const Item good{"a", {1, 2}, "", "", 0};
  expect_refused(CatalogueInput{}, "no items");
  expect_refused(input_of({good, {"b", {}, "", "", 0}}), "items[1] (item \"b\"): sid has 0 codes");
  expect_refused(input_of({good, {"a", {3, 4}, "", "", 0}}),
                 "items[1] (item \"a\"): item ID already given by items[0]");
  expect_refused(input_of({good, {"b", Sid(33, 0), "", "", 0}}), "sid has 33 codes");
  expect_refused(input_of({good, {"b", {1u << 20}, "", "", 0}}), "sid[0] is 1048576");
  expect_refused(input_of({{"", {1}, "", "", 0}}), "item_id has 0 bytes");
  expect_refused(input_of({{" \t", {1}, "", "", 0}}), "item_id is blank");
  expect_refused(input_of({{std::string(1025, 'x'), {1}, "", "", 0}}), "item_id has 1025 bytes");
  expect_refused(input_of({{"a", {1}, std::string(65536, 'x'), "", 0}}), "title has 65536 bytes");
  expect_refused(input_of({{"a", {1}, "", std::string(65536, 'x'), 0}}), "attributes has 65536");
  expect_refused(input_of({good, {"b\xff", {1}, "", "", 0}}),
                 "items[1]: item_id is not valid UTF-8");
  expect_refused(input_of({{"a", {1}, "\xc3", "", 0}, {"b", {1}, "\xa9", "", 0}}),
                 "title is not valid UTF-8");
  expect_refused(input_of({{"a", {1}, "", "", std::nan("")}}), "priority is not a finite number");
  CatalogueInput declared = input_of({good, {"b", {2, 256}, "", "", 0}});
  declared.level_sizes = {256, 256};
  expect_refused(declared, "items[1] (item \"b\"): sid[1] is 256, expected a code in [0, 256)");
  declared.level_sizes = {256};
  expect_refused(declared, "items[0] (item \"a\"): sid has 2 codes, expected 1 to 1");
  declared.level_sizes = {256, 0};
  expect_refused(declared, "level_sizes[1]: 0");
  CatalogueInput ragged = input_of({good});
  ragged.sid_ends.push_back(2);
  expect_refused(ragged, "sid_ends has 2 entries, expected 1");
}

TEST_F(CatalogueTest, ARefusedBuildLeavesTheFileBeforeInPlace) {
  build(input_of({{"a", {1}, "", "", 0}}));
  const std::string before = bytes();
  EXPECT_FALSE(build_snapshot(input_of({{"", {1}, "", "", 0}}), path(), {}).is_ok());
  EXPECT_EQ(bytes(), before);
}

TEST_F(CatalogueTest, EveryCutAndEveryFlippedBitIsRefused) {
  std::mt19937_64 random(17);
  std::vector<Item> items = random_items(random);
  items.resize(std::min<size_t>(items.size(), 6));
  build(input_of(items));
  const std::string whole = bytes();
  const auto expect_corrupt = [&](const std::string& content) {
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << content;
    const auto opened = Snapshot::open(path());
    ASSERT_FALSE(opened.is_ok());
    EXPECT_EQ(opened.status().code(), Code::kCatalogueCorrupt) << opened.status().message();
  };
  for (size_t size = 0; size < whole.size(); size += 1 + size / 40) {
    expect_corrupt(whole.substr(0, size));
  }
  expect_corrupt(whole + '\0');
  for (size_t byte = 0; byte < whole.size(); ++byte) {
    std::string flipped = whole;
    flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << byte % 8));
    expect_corrupt(flipped);
  }
}

TEST_F(CatalogueTest, AMissingFileIsNotFound) {
  const auto opened = Snapshot::open(path() + ".absent");
  ASSERT_FALSE(opened.is_ok());
  EXPECT_EQ(opened.status().code(), Code::kCatalogueNotFound);
}

}  // namespace catalogue_test
}  // namespace tessera::catalogue
