// Damaged and failing folders of changes: what was acknowledged is there, or the start is refused
// by name; a disk that takes nothing refuses changes and nothing else.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "base/test_count.h"
#include "catalogue/checksum.h"
#include "catalogue/live_catalogue.h"
#include "catalogue/repair_changes.h"
#include "platform/test_damage.h"

namespace tessera::catalogue {
namespace live_damage_test {

namespace fs = std::filesystem;
using platform::content_of;
using platform::write_content;

constexpr uint32_t kLevelSize = 64;
const uint64_t cases = test_count("CASES", 25);

/// Priority by item ID.
using Items = std::map<std::string, double>;

class LiveDamage : public testing::Test {
 protected:
  LiveDamage() {
    const fs::path memory = "/dev/shm";
    const fs::path parent = fs::is_directory(memory) ? memory : fs::temp_directory_path();
    std::string name = (parent / "tessera-live-damage-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    CatalogueInput input;
    input.level_sizes = {kLevelSize, kLevelSize};
    for (uint32_t i = 0; i < 100; ++i) {
      input.codes.insert(input.codes.end(), {i % 50, i * 7 % kLevelSize});
      input.sid_ends.push_back(input.codes.size());
      input.item_ids.add("seed-" + std::to_string(i));
    }
    EXPECT_TRUE(build_snapshot(input, folder_ / "seed", {}).is_ok());
    seed_ = Snapshot::open(folder_ / "seed").value();
  }
  ~LiveDamage() override { fs::remove_all(folder_); }

  fs::path changes() const { return folder_ / "changes"; }
  fs::path log(uint64_t number) const { return changes() / (std::to_string(number) + ".changes"); }
  Result<std::unique_ptr<LiveCatalogue>> open() const {
    return LiveCatalogue::open(seed_, {changes(), SyncPolicy::kEachCommit, {}});
  }
  static Result<uint64_t> apply(LiveCatalogue& live, uint64_t number) {
    Change change;
    change.item_id = "item-" + std::to_string(number % 40);
    change.sid = {static_cast<uint32_t>(number % kLevelSize), 1};
    change.priority = static_cast<double>(number);
    const auto applied = live.apply(given({&change, 1}));
    return applied.is_ok() ? Result<uint64_t>(applied.value().sequence) : applied.status();
  }
  /// Items that changes have put there, and the version.
  static std::pair<Items, uint64_t> content(const LiveCatalogue& live) {
    Items items;
    const auto view = live.view();
    for (ItemOrdinal item = 0; item < view->item_count(); ++item) {
      if (view->state(item) == ItemState::kRemoved) continue;
      items[std::string(view->item_id(item))] = view->priority(item);
    }
    return {items, view->sequence()};
  }
  void make(uint64_t count) const {
    const auto live = open().value();
    for (uint64_t i = 1; i <= count; ++i) ASSERT_TRUE(apply(*live, i).is_ok());
  }
  /// A repair leaves a version that has been, and numbers go on behind those given.
  void expect_repaired(uint64_t newest) const {
    const auto looked = repair_changes(changes(), ChangesRepairMode::kLook);
    const auto repaired = repair_changes(changes(), ChangesRepairMode::kApply);
    if (!repaired.is_ok()) {  // the one log there is has lost its head
      EXPECT_EQ(repaired.status().code(), Code::kCatalogueCorrupt);
      EXPECT_NE(repaired.status().message().find("backup"), std::string::npos);
      return;
    }
    EXPECT_EQ(looked.value().readable, repaired.value().readable);
    EXPECT_NE(repaired.value().damage, "");
    EXPECT_TRUE(fs::exists(repaired.value().aside));
    const auto live = open();
    ASSERT_TRUE(live.is_ok()) << live.status().message();
    Items wanted;
    for (uint32_t i = 0; i < 100; ++i) wanted["seed-" + std::to_string(i)] = 0;
    for (uint64_t i = 1; i <= repaired.value().readable; ++i) {
      wanted["item-" + std::to_string(i % 40)] = static_cast<double>(i);
    }
    EXPECT_TRUE(content(*live.value()).first == wanted);
    const auto applied = apply(*live.value(), 1);
    ASSERT_TRUE(applied.is_ok()) << applied.status().message();
    EXPECT_GT(applied.value(), newest);
  }
  std::string refusal() const {
    const auto live = open();
    if (live.is_ok()) return "opened";
    EXPECT_EQ(live.status().code(), Code::kCatalogueCorrupt);
    return live.status().message();
  }

  fs::path folder_;
  std::shared_ptr<const Snapshot> seed_;
};

TEST_F(LiveDamage, OfAnyFileAtAnyPlaceIsToldOrHarmless) {
  uint64_t exact = 0;
  for (uint64_t seed = 1; seed <= cases && !HasFailure(); ++seed) {
    std::mt19937_64 random(seed);
    fs::remove_all(changes());
    std::pair<Items, uint64_t> expected;
    {
      const auto live = open().value();
      const uint64_t count = 1 + random() % 30;
      const uint64_t compacted_at = random() % 40;
      for (uint64_t i = 1; i <= count; ++i) {
        ASSERT_TRUE(apply(*live, i).is_ok());
        if (i == compacted_at) {
          ASSERT_TRUE(live->compact({}).is_ok());
        }
      }
      expected = content(*live);
    }
    const std::string damage = platform::damage_a_file(changes(), random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + damage);
    for (int start = 0; start < 2; ++start) {
      const auto live = open();
      if (live.is_ok()) {
        EXPECT_TRUE(content(*live.value()) == expected) << content(*live.value()).second;
        ++exact;
      } else {
        const Code code = live.status().code();
        EXPECT_TRUE(code == Code::kCatalogueCorrupt || code == Code::kCatalogueNotFound ||
                    code == Code::kCatalogueInvalid)
            << code_name(code) << " " << live.status().message();
        if (start == 1) expect_repaired(expected.second);
      }
    }
  }
  std::printf("%llu damaged folders of changes, two starts each: %llu exact, the rest refused\n",
              static_cast<unsigned long long>(cases), static_cast<unsigned long long>(exact));
}

TEST_F(LiveDamage, AFlippedByteInTheMiddleIsToldWithFilePlaceAndWhatCanBeRead) {
  make(12);
  std::string content = content_of(log(1));
  content[content.size() / 2] ^= 1;
  write_content(log(1), content);
  const std::string message = refusal();
  for (const char* part : {"1.changes: byte ", "up to 12 as acknowledged, got 5",
                           "changes up to 5 can be read", "npm run repair"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  }
  EXPECT_EQ(content_of(log(1)), content);
}

TEST_F(LiveDamage, WhereMarksAreBehindRecordsBehindThePlaceTellDamageFromACutOffWrite) {
  make(3);
  const std::string behind = content_of(changes() / "marks");
  {
    const auto live = open().value();
    for (uint64_t i = 4; i <= 9; ++i) ASSERT_TRUE(apply(*live, i).is_ok());
  }
  const std::string whole = content_of(log(1));
  const auto ends = ChangeLog::read(log(1)).value().ends;
  std::string damaged = whole;
  damaged[ends[5].bytes + 20] ^= 1;
  write_content(log(1), damaged);
  write_content(changes() / "marks", behind);
  EXPECT_NE(refusal().find("whole records behind it"), std::string::npos) << refusal();
  // The last record may be unacknowledged.
  write_content(log(1), whole.substr(0, whole.size() - 5));
  const auto live = open();
  ASSERT_TRUE(live.is_ok()) << live.status().message();
  EXPECT_EQ(live.value()->view()->sequence(), 8u);
  EXPECT_GT(live.value()->recovery().cut_bytes, 0u);
}

TEST_F(LiveDamage, AWriteThatACrashCutOffIsCut) {
  make(5);
  const std::string whole = content_of(log(1));
  make(1);
  const std::string longer = content_of(log(1));
  ASSERT_GT(longer.size(), whole.size());
  fs::remove_all(changes());
  make(5);
  for (size_t bytes = whole.size(); bytes < longer.size(); bytes += 7) {
    write_content(log(1), whole + std::string(longer, whole.size(), bytes - whole.size()));
    const auto live = open();
    ASSERT_TRUE(live.is_ok()) << live.status().message();
    EXPECT_EQ(live.value()->view()->sequence(), 5u);
    EXPECT_EQ(live.value()->recovery().cut_bytes, bytes - whole.size());
  }
}

TEST_F(LiveDamage, AMissingNewestLogOrMissingMarksAreTold) {
  {
    const auto live = open().value();
    for (uint64_t i = 1; i <= 4; ++i) ASSERT_TRUE(apply(*live, i).is_ok());
    ASSERT_TRUE(live->compact({}).is_ok());
    for (uint64_t i = 5; i <= 8; ++i) ASSERT_TRUE(apply(*live, i).is_ok());
  }
  fs::rename(log(2), folder_ / "aside");
  EXPECT_NE(refusal().find("2.changes: expected a log up to change 8, got no such file"),
            std::string::npos)
      << refusal();
  fs::rename(folder_ / "aside", log(2));
  fs::rename(changes() / "marks", folder_ / "aside");
  EXPECT_NE(refusal().find("marks: expected the marks of the logs"), std::string::npos)
      << refusal();
  fs::rename(folder_ / "aside", changes() / "marks");
  EXPECT_EQ(open().value()->view()->sequence(), 8u);
}

/// A log as a former release wrote it: version 2 has no place for the marks of batches.
std::string of_version_2(const std::string& log) {
  std::string old = log.substr(0, 8);
  const auto put = [&](uint64_t value, size_t bytes) {
    old.append(reinterpret_cast<const char*>(&value), bytes);
  };
  put(2, 4);
  uint64_t chain = 0;
  for (size_t at = 12; at < log.size();) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, log.data() + at, sizeof(bytes));
    const size_t later_bytes = at == 12 ? 0 : 5;  // a mark, a flag
    const std::string payload = log.substr(at + 16, bytes - later_bytes);
    chain = chained64(std::as_bytes(std::span(payload)), chain);
    put(payload.size(), 8);
    put(chain, 8);
    old += payload;
    at += 16 + bytes;
  }
  return old;
}

TEST_F(LiveDamage, LogsOlderThanTheReleaseBeforeAreRefusedAndStay) {
  make(7);
  std::string old = content_of(log(1));
  old[8] = 1;
  old[20] = static_cast<char>(old[20] ^ 1);  // the head's hash was another one
  write_content(log(1), old);
  const Status refused = open().status();
  EXPECT_EQ(refused.code(), Code::kCatalogueInvalid);
  EXPECT_NE(refused.message().find("version 2 or later, got version 1: start the release before"),
            std::string::npos)
      << refused.message();
  EXPECT_EQ(repair_changes(changes(), ChangesRepairMode::kApply).status().code(),
            Code::kCatalogueInvalid);
  EXPECT_EQ(content_of(log(1)), old);
}

TEST_F(LiveDamage, LogsOfVersion2GoOnInOneWithMarksAndAreKeptWithWhatTheyMustHold) {
  make(7);
  {
    const auto live = open().value();
    Change pause;
    pause.kind = ChangeKind::kPause;
    pause.item_id = "item-7";
    ASSERT_TRUE(live->apply(given({&pause, 1})).is_ok());
    ASSERT_TRUE(live->compact({}).is_ok());
  }
  make(3);
  const auto expected = content(*open().value());
  const std::string old = of_version_2(content_of(log(2)));
  write_content(log(2), old);
  std::vector<platform::LogMark> marks =
      platform::LogMarks::find(changes() / "marks").value().marks;
  marks.back() = ChangeLog::read(log(2)).value().ends.back();
  fs::remove(changes() / "marks");
  ASSERT_TRUE(platform::LogMarks::open(changes() / "marks", marks).is_ok());
  const std::string old_marks = content_of(changes() / "marks");
  for (int start = 0; start < 3; ++start) {
    const auto live = open();
    ASSERT_TRUE(live.is_ok()) << live.status().message();
    EXPECT_TRUE(content(*live.value()) == expected);
    EXPECT_EQ(live.value()->view()->base_sequence(), 8u);
    EXPECT_EQ(live.value()->generations().value().back().first_sequence, 8u);
    EXPECT_EQ(live.value()->generations().value().back().last_sequence, 11u);
    EXPECT_EQ(live.value()->view()->mark(), start < 2 ? "" : "later");
    if (start == 1) {
      EXPECT_TRUE(live.value()->apply({}, "later").is_ok());
    }
  }
  EXPECT_EQ(ChangeLog::read(log(3)).value().version, kLogVersion);
  EXPECT_EQ(content_of(changes() / "2.changes.v2"), old);
  EXPECT_EQ(content_of(changes() / "2.marks.v2"), old_marks);
  std::string damaged = old;
  damaged[damaged.size() - 20] ^= 1;
  fs::remove(log(3));
  write_content(log(2), damaged);
  write_content(changes() / "marks", old_marks);
  EXPECT_NE(refusal().find("up to 11 as acknowledged, got 10"), std::string::npos) << refusal();
}

TEST_F(LiveDamage, ALogOfANewerReleaseIsNamedAndNeitherReadNorRepaired) {
  make(7);
  std::string newer = content_of(log(1));
  newer[8] = static_cast<char>(kLogVersion + 1);
  write_content(log(1), newer);
  const auto live = open();
  ASSERT_FALSE(live.is_ok());
  EXPECT_EQ(live.status().code(), Code::kStoreNewer);
  EXPECT_NE(live.status().message().find("got version 4"), std::string::npos);
  for (const auto mode : {ChangesRepairMode::kLook, ChangesRepairMode::kApply}) {
    const auto repair = repair_changes(changes(), mode);
    ASSERT_FALSE(repair.is_ok());
    EXPECT_EQ(repair.status().code(), Code::kStoreNewer);
  }
  EXPECT_EQ(content_of(log(1)), newer);
}

/// Files of this process may not grow beyond some bytes: writes end short, and then fail.
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

TEST_F(LiveDamage, WritesThatFailHalfWayRefuseChangesAndGoOnWhenTheyAreTakenAgain) {
  make(3);
  auto live = open().value();
  uint64_t acknowledged = 3;
  std::mt19937_64 random(7);
  for (int round = 0; round < 12; ++round) {
    {
      const FileLimit limit(fs::file_size(log(1)) + random() % 200);
      bool is_refused = false;
      for (uint64_t i = 0; i < 8 && !is_refused; ++i) {
        const auto applied = apply(*live, acknowledged + 1);
        is_refused = !applied.is_ok();
        if (applied.is_ok()) {
          EXPECT_EQ(applied.value(), ++acknowledged);
        } else {
          EXPECT_EQ(applied.status().code(), Code::kStoreUnavailable);
        }
      }
      EXPECT_TRUE(is_refused);
      EXPECT_NE(live->why_not_written(), "");
      EXPECT_EQ(live->view()->sequence(), acknowledged);
    }
    if (round % 2 == 0) {
      EXPECT_TRUE(live->recover_writing().is_ok());
      EXPECT_EQ(live->why_not_written(), "");
    }
    const auto applied = apply(*live, acknowledged + 1);
    ASSERT_TRUE(applied.is_ok()) << applied.status().message();
    EXPECT_EQ(applied.value(), ++acknowledged);
    if (round % 4 == 3) {
      live.reset();
      auto again = open();
      ASSERT_TRUE(again.is_ok()) << again.status().message();
      live = std::move(again).value();
      EXPECT_EQ(live->view()->sequence(), acknowledged);
    }
  }
}

TEST_F(LiveDamage, AnEarlierVersionIsReadWhileLaterOnesAreWritten) {
  // A read takes as long as the log is long. The writer waits for reads: it bounds the log.
  constexpr uint64_t kReads = 300;
  constexpr uint64_t kChangesPerRead = 20;
  const auto live = open().value();
  ASSERT_TRUE(apply(*live, 1).is_ok());
  std::atomic<uint64_t> reads = 0;
  std::thread writer([&] {
    for (uint64_t i = 2; reads < kReads; ++i) {
      EXPECT_TRUE(apply(*live, i).is_ok());
      while (i > (reads + 1) * kChangesPerRead && reads < kReads) std::this_thread::yield();
    }
  });
  for (; reads < kReads; ++reads) {
    const auto view = live->view_at(1);
    EXPECT_TRUE(view.is_ok()) << view.status().message();
    if (!view.is_ok()) break;
  }
  reads = kReads;
  writer.join();
}

TEST_F(LiveDamage, ManyWritersAreEachToldWhatBecameOfTheirsWhileTheDiskFailsNowAndThen) {
  auto live = open().value();
  std::vector<uint64_t> acknowledged[4];
  std::atomic<uint64_t> refused = 0;
  std::vector<std::thread> writers;
  for (uint64_t w = 0; w < 4; ++w) {
    writers.emplace_back([&, w] {
      for (uint64_t i = 0; i < 300; ++i) {
        const auto applied = apply(*live, i);
        if (applied.is_ok()) acknowledged[w].push_back(applied.value());
        if (!applied.is_ok()) ++refused;
      }
    });
  }
  for (int i = 0; i < 40; ++i) {
    const FileLimit limit(fs::file_size(log(1)) + 50);
    const uint64_t before = refused;
    for (int spin = 0; spin < 200 && refused == before; ++spin) std::this_thread::yield();
  }
  for (std::thread& writer : writers) writer.join();
  std::vector<uint64_t> all;
  for (const auto& numbers : acknowledged) all.insert(all.end(), numbers.begin(), numbers.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "a number was given twice";
  EXPECT_EQ(live->view()->sequence(), all.size());
  const auto expected = content(*live);
  live.reset();
  EXPECT_TRUE(content(*open().value()) == expected);
}

TEST_F(LiveDamage, AReserveThatTheDiskLacksRefusesChangesByName) {
  make(2);
  LiveOptions options{changes(), SyncPolicy::kEachCommit, {}};
  options.reserve_bytes = platform::free_bytes(folder_) * 2;
  const auto live = LiveCatalogue::open(seed_, options);
  ASSERT_TRUE(live.is_ok()) << live.status().message();
  const auto applied = apply(*live.value(), 3);
  EXPECT_EQ(applied.status().code(), Code::kStoreFull);
  EXPECT_NE(applied.status().message().find("disk.reserveBytes"), std::string::npos);
  EXPECT_EQ(live.value()->view()->sequence(), 2u);
  EXPECT_EQ(live.value()->compact({}).code(), Code::kStoreFull);
}

}  // namespace live_damage_test
}  // namespace tessera::catalogue
