#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "store/ordered_store.h"

namespace tessera::store {
namespace store_test {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tessera-store-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::unique_ptr<OrderedStore> opened(const Folder& folder) {
  auto store = OrderedStore::open({folder.path()});
  EXPECT_TRUE(store.is_ok()) << (store.is_ok() ? "" : store.status().message());
  return std::move(store).value();
}

std::string key_of(uint32_t value) {
  return {static_cast<char>(value >> 8), static_cast<char>(value)};
}

std::vector<Entry> expected_scan(const std::map<std::string, std::string>& model,
                                 const Range& range) {
  std::vector<Entry> entries;
  for (const auto& entry : model) {
    if (entry.first >= range.from && entry.first < range.to) entries.push_back(entry);
  }
  if (range.descending) std::reverse(entries.begin(), entries.end());
  if (entries.size() > range.limit) entries.resize(range.limit);
  return entries;
}

TEST(OrderedStore, AgreesWithAMapThroughRandomBatchesAndReopenings) {
  const Folder folder;
  std::map<std::string, std::string> model;
  const uint32_t seed = 20;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  auto store = opened(folder);
  int at_once_count = 0;
  for (int round = 0; round < 300; ++round) {
    Batch batch;
    batch.durable = below(8) == 0;
    for (uint32_t i = below(6); i > 0; --i) batch.erased.push_back(key_of(below(600)));
    for (uint32_t i = below(12); i > 0; --i) {
      batch.put.emplace_back(key_of(below(600)), std::to_string(random()));
    }
    ASSERT_TRUE(store->write(batch).is_ok());
    for (const std::string& key : batch.erased) model.erase(key);
    for (const Entry& entry : batch.put) model[entry.first] = entry.second;
    if (below(40) == 0) {
      store.reset();
      store = opened(folder);
    }
    const Range range{key_of(below(600)), key_of(below(600)), below(20), below(2) == 0};
    const Query query{{key_of(below(600)), key_of(below(600))}, {range, {range.to, range.from, 5}}};
    const auto read = store->read(query);
    ASSERT_TRUE(read.is_ok());
    const Found& found = read.value();
    ASSERT_EQ(found.entries.size(), 2u);
    ASSERT_EQ(found.entries[0], expected_scan(model, range));
    ASSERT_EQ(found.entries[1], expected_scan(model, query.ranges[1]));
    for (size_t i = 0; i < query.keys.size(); ++i) {
      const auto expected = model.find(query.keys[i]);
      ASSERT_EQ(found.values[i].has_value(), expected != model.end());
      if (expected != model.end()) {
        ASSERT_EQ(*found.values[i], expected->second);
      }
    }
    const auto at_once = store->read_in_memory(query);
    if (!at_once) continue;
    ++at_once_count;
    ASSERT_EQ(at_once->values, found.values);
    ASSERT_EQ(at_once->entries, found.entries);
  }
  EXPECT_GT(at_once_count, 0);
}

TEST(OrderedStore, GivesNothingAtOnceThatIsOnTheDiskAloneOrLong) {
  const Folder folder;
  const Range all{"", "\xff", UINT32_MAX};
  Batch batch;
  // Of several blocks: opening reads the first.
  for (uint32_t i = 0; i < OrderedStore::kInMemoryMax; ++i) {
    batch.put.emplace_back(key_of(i), std::string(100, 'v'));
  }
  auto store = opened(folder);
  ASSERT_TRUE(store->write(batch).is_ok());
  EXPECT_TRUE(store->read_in_memory({{}, {all}}).has_value());
  EXPECT_FALSE(store->read_in_memory({{key_of(0)}, {all}}).has_value());
  ASSERT_TRUE(store->write({{}, {{"more", "v"}}, false}).is_ok());
  EXPECT_FALSE(store->read_in_memory({{}, {all}}).has_value());
  // The first opening makes a table of the log, the second finds nothing of it in memory.
  for (int time = 0; time < 2; ++time) {
    store.reset();
    store = opened(folder);
  }
  const Query one{{key_of(500)}, {}};
  EXPECT_FALSE(store->read_in_memory(one).has_value());
  ASSERT_TRUE(store->read(one).is_ok());
  EXPECT_TRUE(store->read_in_memory(one).has_value());
}

/// Files of the folder that have the bytes.
std::vector<std::string> files_with(const Folder& folder, const std::string& bytes) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (all.find(bytes) != std::string::npos) found.push_back(entry.path().filename());
  }
  return found;
}

/// Of a user, and like that of no other: compressed tables have it as it is, however many users
/// compaction, which runs when it likes, has brought together in one.
std::string name_of(char letter) {
  std::mt19937_64 random(static_cast<uint64_t>(letter));
  std::string name{letter, '-'};
  for (int i = 0; i < 12; ++i) name += static_cast<char>('a' + random() % 26);
  return name;
}

/// Users a to z, each in tables of three generations; that of "m" is the last of its table.
void put_users(OrderedStore& store) {
  for (int generation = 0; generation < 3; ++generation) {
    for (const char* letters : {"abcdefghijklm", "nopqrstuvwxyz"}) {
      Batch batch;
      for (const char* letter = letters; *letter != 0; ++letter) {
        const std::string user = name_of(*letter);
        batch.put.emplace_back(user + std::to_string(generation), "value of " + user);
      }
      ASSERT_TRUE(store.write(batch).is_ok());
      const Range none{"A", "B"};
      ASSERT_TRUE(store.scrub({&none, 1}).is_ok());
    }
  }
}

TEST(OrderedStore, LeavesNoByteOfWhatWasErasedInAScrubbedRange) {
  for (const bool is_compacted : {false, true}) {
    const Folder folder;
    auto store = opened(folder);
    put_users(*store);
    if (is_compacted) {
      ASSERT_TRUE(store->scrub({}).is_ok());
    }
    const std::string name = name_of('m');
    EXPECT_FALSE(files_with(folder, name).empty()) << is_compacted;
    ASSERT_TRUE(store->write({{name + "0", name + "1", name + "2"}, {}, true}).is_ok());
    EXPECT_FALSE(files_with(folder, name).empty());
    const Range range{name, name + "9"};
    ASSERT_TRUE(store->scrub({&range, 1}).is_ok());
    EXPECT_EQ(files_with(folder, name), std::vector<std::string>());
    store.reset();
    store = opened(folder);
    EXPECT_EQ(files_with(folder, name), std::vector<std::string>());
    EXPECT_EQ(store->read({{}, {{"", "\xff", 1000}}}).value().entries[0].size(), 75u);
  }
}

TEST(OrderedStore, LeavesNoByteOfAnythingErasedWhereAllIsScrubbed) {
  const Folder folder;
  auto store = opened(folder);
  put_users(*store);
  Batch batch;
  for (const char user : {'a', 'n', 'z'}) {
    for (const char generation : {'0', '1', '2'}) {
      batch.erased.push_back(name_of(user) + generation);
    }
  }
  ASSERT_TRUE(store->write(batch).is_ok());
  ASSERT_TRUE(store->scrub({}).is_ok());
  for (const char user : {'a', 'n', 'z'}) {
    EXPECT_EQ(files_with(folder, name_of(user)), std::vector<std::string>()) << user;
  }
  for (const char user : {'b', 'm', 'y'}) {
    EXPECT_FALSE(files_with(folder, name_of(user)).empty()) << user;
  }
}

TEST(OrderedStore, IsRefusedToASecondOwner) {
  const Folder folder;
  const auto first = opened(folder);
  const auto second = OrderedStore::open({folder.path()});
  ASSERT_FALSE(second.is_ok());
  EXPECT_EQ(second.status().code(), Code::kStoreInvalid);
}

TEST(OrderedStore, IsRefusedWhereItsListOfFilesIsDamaged) {
  const Folder folder;
  {
    auto store = opened(folder);
    ASSERT_TRUE(store->write({{}, {{"a", "1"}}, true}).is_ok());
  }
  std::ofstream(folder.path() + "/CURRENT", std::ios::trunc) << "no manifest";
  const auto store = OrderedStore::open({folder.path()});
  ASSERT_FALSE(store.is_ok());
  EXPECT_EQ(store.status().code(), Code::kStoreCorrupt);
}

TEST(OrderedStore, IsRefusedWhereAFileIsInTheWay) {
  const Folder folder;
  std::ofstream(folder.path() + "/file") << "x";
  const auto store = OrderedStore::open({folder.path() + "/file"});
  ASSERT_FALSE(store.is_ok());
  EXPECT_EQ(store.status().code(), Code::kStoreInvalid);
}

}  // namespace store_test
}  // namespace tessera::store
