// Marks and content digests against a model in std::map that knows neither maps that persist nor
// nodes: random batches, restarts, compactions, roll-backs and commits that fail.
#include "catalogue/content_digest.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bit>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "catalogue/live_catalogue.h"

namespace tessera::catalogue {
namespace content_digest_test {

namespace fs = std::filesystem;

constexpr uint32_t kLevelSize = 16;
constexpr uint32_t kSeedItems = 40;

struct ModelItem {
  std::vector<uint32_t> sid;
  std::string title;
  std::string attributes = "{}";
  double priority = 0;
  bool is_paused = false;
};
using Model = std::map<std::string, ModelItem>;

/// The rule of docs/concepts/live-catalogue.md, item by item.
std::string digest_of(const Model& model) {
  uint64_t low = 0;
  uint64_t high = 0;
  for (const auto& [id, item] : model) {
    std::string bytes;
    const auto put = [&bytes](const void* data, size_t size) {
      bytes.append(static_cast<const char*>(data), size);
    };
    const auto put_text = [&](const std::string& text) {
      const auto size = static_cast<uint32_t>(text.size());
      put(&size, 4);
      put(text.data(), size);
    };
    put_text(id);
    const auto depth = static_cast<uint32_t>(item.sid.size());
    put(&depth, 4);
    put(item.sid.data(), 4 * size_t{depth});
    put_text(item.title);
    put_text(item.attributes);
    const double priority = item.priority == 0 ? 0.0 : item.priority;
    put(&priority, 8);
    bytes.push_back(item.is_paused ? '\1' : '\0');
    const Hash128 hash = hash128(std::as_bytes(std::span(bytes)));
    low += hash.low;
    high += hash.high;
  }
  char text[33];
  std::snprintf(text, sizeof(text), "%016llx%016llx", static_cast<unsigned long long>(high),
                static_cast<unsigned long long>(low));
  return text;
}

void apply_to(Model& model, const Change& change) {
  ModelItem& item = model[change.item_id];
  switch (change.kind) {
    case ChangeKind::kUpsert:
      item.sid = change.sid;
      item.title = change.title;
      item.attributes = change.attributes.empty() ? "{}" : change.attributes;
      item.priority = change.priority;
      break;
    case ChangeKind::kPause: item.is_paused = true; break;
    case ChangeKind::kResume: item.is_paused = false; break;
    case ChangeKind::kRemove: model.erase(change.item_id); break;
    case ChangeKind::kSetPriority: item.priority = change.priority; break;
    default: item.attributes = change.attributes.empty() ? "{}" : change.attributes;
  }
}

Change upsert_of(const std::string& id, const ModelItem& item) {
  Change change;
  change.item_id = id;
  change.sid = item.sid;
  change.title = item.title;
  change.attributes = item.attributes;
  change.priority = item.priority;
  return change;
}

/// Files of this process may not grow beyond some bytes.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_;
};

class ContentDigestTest : public testing::Test {
 protected:
  ContentDigestTest() {
    const fs::path root = fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
    folder_ = root / ("tessera-content-digest-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (uint32_t i = 0; i < kSeedItems; ++i) {
      ModelItem item;
      item.sid = {i % 5, i % 7};
      if (i % 8 == 0) item.sid.push_back(i % 3);
      if (i % 3 == 0) item.title = "title " + std::to_string(i);
      if (i % 4 == 0) item.attributes = R"({"n":1})";
      item.priority = i % 6 == 0 ? -0.0 : i;
      seed_model_["seed-" + std::to_string(i)] = item;
    }
    seed_ = snapshot_of(seed_model_, "seed");
  }
  ~ContentDigestTest() override { fs::remove_all(folder_); }

  std::shared_ptr<const Snapshot> snapshot_of(const Model& model, const std::string& name) const {
    CatalogueInput input;
    input.level_sizes = {kLevelSize, kLevelSize, kLevelSize};
    for (const auto& [id, item] : model) {
      input.codes.insert(input.codes.end(), item.sid.begin(), item.sid.end());
      input.sid_ends.push_back(input.codes.size());
      input.item_ids.add(id);
      input.titles.add(item.title);
      input.attributes.add(item.attributes == "{}" ? "" : item.attributes);
      input.priorities.push_back(item.priority);
    }
    EXPECT_TRUE(build_snapshot(input, folder_ / name, {}).is_ok());
    return Snapshot::open(folder_ / name).value();
  }
  fs::path changes() const { return folder_ / "changes"; }
  std::unique_ptr<LiveCatalogue> open() const {
    auto live = LiveCatalogue::open(seed_, {changes(), SyncPolicy::kNever, {}});
    EXPECT_TRUE(live.is_ok()) << live.status().message();
    return live.is_ok() ? std::move(live).value() : nullptr;
  }
  /// One change of each of some items, none twice.
  static std::vector<Change> random_batch(const Model& model, std::mt19937_64& random) {
    std::map<std::string, Change> batch;
    for (uint64_t i = 0; i < random() % 6; ++i) {
      Change change;
      change.kind = static_cast<ChangeKind>(random() % kItemChangeKinds);
      if (change.kind == ChangeKind::kUpsert) {
        change.item_id = (random() % 2 == 0 ? "seed-" : "new-") + std::to_string(random() % 30);
        for (uint64_t level = 0; level < 1 + random() % 3; ++level) {
          change.sid.push_back(static_cast<uint32_t>(random() % 6));
        }
        if (random() % 2 == 0) change.title = "title " + std::to_string(random() % 5);
      } else {
        if (model.empty()) continue;
        const auto skipped = static_cast<ptrdiff_t>(random() % model.size());
        change.item_id = std::next(model.begin(), skipped)->first;
      }
      if (random() % 2 == 0) change.attributes = R"({"n":)" + std::to_string(random() % 9) + "}";
      change.priority = random() % 3 == 0 ? -0.0 : static_cast<double>(random() % 4);
      batch[change.item_id] = std::move(change);
    }
    std::vector<Change> changes;
    for (auto& [id, change] : batch) changes.push_back(std::move(change));
    return changes;
  }
  static void expect(LiveCatalogue& live, const Model& model, const std::string& mark) {
    const Digest digest = live.digest();
    EXPECT_EQ(digest.digest, digest_of(model));
    EXPECT_EQ(digest.mark, mark);
    EXPECT_EQ(digest.sequence, live.view()->sequence());
    EXPECT_EQ(live.view()->mark(), mark);
  }

  fs::path folder_;
  Model seed_model_;
  std::shared_ptr<const Snapshot> seed_;
};

TEST_F(ContentDigestTest, WhateverHappensDigestAndMarkAreThoseOfTheItemsAndOfTheNewestBatch) {
  for (uint64_t seed = 1; seed <= 12 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    fs::remove_all(changes());
    Model model = seed_model_;
    std::string mark;
    std::map<uint64_t, Model> versions = {{0, model}};
    auto live = open();
    for (int step = 0; step < 120 && !HasFailure(); ++step) {
      const uint64_t kind = random() % 20;
      if (kind == 0) {
        live.reset();
        live = open();
      } else if (kind == 1) {
        ASSERT_TRUE(live->compact({}).is_ok());
      } else if (kind == 2) {
        const auto version = std::next(versions.begin(), random() % versions.size());
        const auto rolled = live->roll_back(version->first);
        if (!rolled.is_ok()) continue;  // no longer kept
        model = version->second;
        versions[rolled.value()] = model;
      } else {
        const std::vector<Change> batch = random_batch(model, random);
        const std::string next = random() % 2 == 0 ? "" : "mark " + std::to_string(random() % 9);
        const bool is_refused = random() % 8 == 0;
        std::optional<FileLimit> limit;
        if (is_refused) limit.emplace(1);
        const auto applied = live->apply(given(batch), next);
        limit.reset();
        if (batch.empty() && next.empty()) {
          ASSERT_TRUE(applied.is_ok());
        } else {
          ASSERT_EQ(applied.is_ok(), !is_refused) << applied.status().message();
        }
        if (!applied.is_ok()) continue;
        for (const Change& change : batch) apply_to(model, change);
        if (!next.empty()) mark = next;
        versions[applied.value().sequence] = model;
      }
      if (random() % 3 != 0) expect(*live, model, mark);
    }
    expect(*live, model, mark);
    live.reset();
    expect(*open(), model, mark);
  }
}

TEST_F(ContentDigestTest, TheRoadToTheItemsDoesNotCount) {
  std::mt19937_64 random(3);
  Model model = seed_model_;
  const auto live = open();
  for (int i = 0; i < 60; ++i) {
    const auto batch = random_batch(model, random);
    const auto applied = live->apply(given(batch));
    ASSERT_TRUE(applied.is_ok()) << applied.status().message();
    for (const Change& change : batch) apply_to(model, change);
  }
  const std::string digest = live->digest().digest;
  EXPECT_EQ(digest, digest_of(model));
  // Built, with what is paused paused.
  const auto built = LiveCatalogue::open(snapshot_of(model, "built"), {}).value();
  std::vector<Change> pauses;
  std::vector<Change> upserts;
  for (const auto& [id, item] : model) {
    upserts.push_back(upsert_of(id, item));
    if (!item.is_paused) continue;
    pauses.emplace_back().kind = ChangeKind::kPause;
    pauses.back().item_id = id;
  }
  EXPECT_NE(built->digest().digest, digest);
  ASSERT_TRUE(built->apply(given(pauses)).is_ok());
  EXPECT_EQ(built->digest().digest, digest);
  // By upserts alone, in another order, over a snapshot of something else.
  const Model other = {{"other", {{1}, "", "{}", 0, false}}};
  LiveOptions options;
  options.level_sizes = {kLevelSize, kLevelSize, kLevelSize};
  const auto upserted = LiveCatalogue::open(snapshot_of(other, "other"), options).value();
  EXPECT_EQ(upserted->digest().digest, digest_of(other));
  std::shuffle(upserts.begin(), upserts.end(), random);
  for (const Change& change : upserts) {
    ASSERT_TRUE(upserted->apply(given({&change, 1})).is_ok());
  }
  ASSERT_TRUE(upserted->apply(given(pauses)).is_ok());
  Change remove;
  remove.kind = ChangeKind::kRemove;
  remove.item_id = "other";
  ASSERT_TRUE(upserted->apply(given({&remove, 1})).is_ok());
  EXPECT_EQ(upserted->digest().digest, digest);
}

TEST_F(ContentDigestTest, EachMemberOfAnItemCountsAndTextsDoNotRunIntoEachOther) {
  const ModelItem item{{1, 2}, "ab", R"({"n":1})", 2, false};
  std::vector<Model> models(8, Model{{"id", item}});
  models[1] = {{"idab", item}};
  models[1]["idab"].title = "";
  models[2]["id"].sid = {1};
  models[3]["id"].sid = {2, 1};
  models[4]["id"].title = "a";
  models[5]["id"].attributes = "{}";
  models[6]["id"].priority = -2;
  models[7]["id2"] = item;
  std::map<std::string, size_t> digests;
  for (size_t i = 0; i < models.size(); ++i) {
    const auto live = LiveCatalogue::open(snapshot_of(models[i], "one"), {}).value();
    EXPECT_EQ(live->digest().digest, digest_of(models[i]));
    EXPECT_TRUE(digests.emplace(live->digest().digest, i).second) << i;
  }
}

TEST_F(ContentDigestTest, MarksWithoutChangesMakeNoVersionAndSurvive) {
  auto live = open();
  EXPECT_EQ(live->apply({}, "first").value().sequence, 0u);
  expect(*live, seed_model_, "first");
  EXPECT_EQ(live->view()->sequence(), 0u);
  Change pause;
  pause.kind = ChangeKind::kPause;
  pause.item_id = "seed-1";
  ASSERT_TRUE(live->apply(given({&pause, 1})).is_ok());
  EXPECT_EQ(live->apply({}, "second").value().sequence, 1u);
  const std::string longest(kMarkBytesMax, 'x');
  const auto refused = live->apply(given({&pause, 1}), longest + "x");
  EXPECT_EQ(refused.status().code(), Code::kCatalogueInvalid);
  EXPECT_EQ(refused.status().message(), "mark: expected at most 4096 bytes, got 4097");
  EXPECT_EQ(live->generations().value().back().first_sequence, 0u);
  EXPECT_EQ(live->generations().value().back().last_sequence, 1u);
  EXPECT_EQ(live->roll_back(0).value(), 2u);
  expect(*live, seed_model_, "second");
  live.reset();
  live = open();
  expect(*live, seed_model_, "second");
  EXPECT_EQ(live->view()->sequence(), 2u);
  ASSERT_TRUE(live->apply({}, longest).is_ok());
  ASSERT_TRUE(live->compact({}).is_ok());
  expect(*live, seed_model_, longest);
  EXPECT_EQ(live->generations().value().back().first_sequence, 2u);
  live.reset();
  live = open();
  expect(*live, seed_model_, longest);
  EXPECT_EQ(live->view()->base_sequence(), 2u);
}

TEST_F(ContentDigestTest, MarksAndFailuresDuringACompactionAreCarriedOverOrNotAtAll) {
  auto live = open();
  Model model = seed_model_;
  std::string mark;
  bool has_interfered = false;
  const auto meanwhile = [&](std::string_view, uint64_t, uint64_t) {
    if (std::exchange(has_interfered, true)) return;
    std::thread([&] {
      std::mt19937_64 random(5);
      for (int i = 0; i < 200; ++i) {
        const auto batch = i % 4 == 0 ? std::vector<Change>() : random_batch(model, random);
        const std::string next = "mark " + std::to_string(i);
        std::optional<FileLimit> limit;
        if (i % 5 == 0) limit.emplace(1);
        const auto applied = live->apply(given(batch), next);
        limit.reset();
        ASSERT_EQ(applied.is_ok(), i % 5 != 0);
        if (!applied.is_ok()) continue;
        for (const Change& change : batch) apply_to(model, change);
        mark = next;
      }
      // The last, which is refused, has a mark alone: of the version before.
      const FileLimit limit(1);
      ASSERT_FALSE(live->apply({}, "refused").is_ok());
    }).join();
  };
  ASSERT_TRUE(live->compact(meanwhile).is_ok());
  expect(*live, model, mark);
  live.reset();
  expect(*open(), model, mark);
}

TEST_F(ContentDigestTest, WritersThatShareACommitAreEachKeptOrRefusedWithTheirMarks) {
  auto live = open();
  std::map<std::string, uint64_t> versions;  // of acknowledged marks
  Mutex mutex;
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 0; i < 150; ++i) {
        const std::string mark = std::to_string(w) + "-" + std::to_string(i);
        Change change;
        change.item_id = "of " + mark;
        change.sid = {1};
        const bool is_bare = i % 3 == 0;
        const auto applied =
            live->apply(is_bare ? std::vector<GivenChange>() : given({&change, 1}), mark);
        const bool is_there = live->view()->find_item("of " + mark) != kNoItem;
        EXPECT_EQ(is_there, applied.is_ok() && !is_bare);
        const MutexLock lock(mutex);
        if (applied.is_ok()) versions[mark] = applied.value().sequence;
      }
    });
  }
  std::thread reader([&] {
    for (int i = 0; i < 100; ++i) {
      const FileLimit limit(i % 4 == 0 ? 1 : RLIM_INFINITY);
      std::this_thread::yield();
      (void)live->digest();
    }
  });
  for (std::thread& writer : writers) writer.join();
  reader.join();
  const Digest newest = live->digest();
  ASSERT_EQ(versions.count(newest.mark), 1u) << newest.mark;
  EXPECT_EQ(versions[newest.mark], newest.sequence);
  live.reset();
  live = open();
  const Digest again = live->digest();
  EXPECT_EQ(again.digest, newest.digest);
  EXPECT_EQ(again.mark, newest.mark);
  EXPECT_EQ(again.sequence, newest.sequence);
}

}  // namespace content_digest_test
}  // namespace tessera::catalogue
