// kill -9 while changes are acknowledged, one by one, in batches and in one that is larger than a
// message: what was acknowledged is there, and of each batch all or nothing, its mark too.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <map>
#include <random>

#include "base/test_count.h"
#include "catalogue/live_catalogue.h"

namespace tessera::catalogue {
namespace catalogue_kill_test {

namespace fs = std::filesystem;

constexpr uint32_t kLevelSize = 64;
constexpr uint32_t kSeedItems = 200;
constexpr uint32_t kLargeBatch = kChangesMax + 4000;
constexpr uint64_t kCompactEach = 400;
/// Of large batches: an opening replays all that was not compacted.
constexpr uint64_t kCompactEachLarge = 6;

const uint64_t kills = test_count("KILLS", 6);

/// The change of an item in a batch: the number of the batch is its priority.
Change mark(const std::string& item_id, uint64_t batch) {
  Change change;
  change.item_id = item_id;
  change.sid = {static_cast<uint32_t>(batch % kLevelSize), 2};
  change.priority = static_cast<double>(batch);
  return change;
}

/// Batch `number`, every fourth of which would take more than one message.
std::vector<Change> batch_of(uint64_t number, bool has_large) {
  const uint64_t count = has_large && number % 4 == 0 ? kLargeBatch : 1 + number % 5;
  std::vector<Change> changes;
  for (uint64_t i = 0; i < count; ++i) changes.push_back(mark("item-" + std::to_string(i), number));
  return changes;
}

class CatalogueKillTest : public testing::Test {
 protected:
  CatalogueKillTest()
      : folder_((fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
                ("tessera-catalogue-kill-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    CatalogueInput input;
    input.level_sizes = {kLevelSize, kLevelSize};
    for (uint32_t i = 0; i < kSeedItems; ++i) {
      input.codes.insert(input.codes.end(), {i % 50, i * 7 % kLevelSize});
      input.sid_ends.push_back(input.codes.size());
      input.item_ids.add("seed-" + std::to_string(i));
    }
    EXPECT_TRUE(build_snapshot(input, folder_ / "seed", {}).is_ok());
    seed_ = Snapshot::open(folder_ / "seed").value();
  }
  ~CatalogueKillTest() override { fs::remove_all(folder_); }

  std::unique_ptr<LiveCatalogue> open(const std::string& name) const {
    auto live = LiveCatalogue::open(seed_, {folder_ / name, SyncPolicy::kEachCommit, {}});
    EXPECT_TRUE(live.is_ok()) << live.status().message();
    return live.is_ok() ? std::move(live).value() : nullptr;
  }

  /// Number of the newest batch that a view has; fails where it has a part of one.
  static uint64_t newest_batch(const View& view, bool has_large) {
    const ItemOrdinal first = view.find_item("item-0");
    const auto number = first == kNoItem ? 0 : static_cast<uint64_t>(view.priority(first));
    EXPECT_EQ(view.mark(), number == 0 ? "" : std::to_string(number));
    std::map<std::string, double> wanted;
    const uint64_t whole = has_large ? 4 : 5;  // batches after which each item has been marked
    for (uint64_t n = number - std::min(number, 2 * whole) + 1; n <= number; ++n) {
      for (const Change& change : batch_of(n, has_large)) wanted[change.item_id] = change.priority;
    }
    for (const auto& [id, priority] : wanted) {
      const ItemOrdinal item = view.find_item(id);
      EXPECT_NE(item, kNoItem) << id << " of batch " << priority;
      if (item != kNoItem) {
        EXPECT_EQ(view.priority(item), priority) << id;
      }
      if (testing::Test::HasFailure()) break;
    }
    return number;
  }

  [[noreturn]] void write_until_killed(const std::string& name, uint64_t next, bool has_large,
                                       uint64_t lifetime_us, int channel) const {
    auto opened = LiveCatalogue::open(seed_, {folder_ / name, SyncPolicy::kEachCommit, {}});
    if (!opened.is_ok()) ::_exit(1);
    ::signal(SIGPROF, [](int) { ::kill(::getpid(), SIGKILL); });
    // Of the time that it computes: wherever that is in its work, on a busy machine too.
    const itimerval lifetime{{0, 0},
                             {static_cast<time_t>(lifetime_us / 1'000'000),
                              static_cast<suseconds_t>(lifetime_us % 1'000'000)}};
    ::setitimer(ITIMER_PROF, &lifetime, nullptr);
    const uint64_t compact_each = has_large ? kCompactEachLarge : kCompactEach;
    for (uint64_t number = next;; ++number) {
      const auto changes = given(batch_of(number, has_large));
      if (!opened.value()->apply(changes, std::to_string(number)).is_ok()) ::_exit(2);
      if (number % compact_each == 0 && !opened.value()->compact({}).is_ok()) ::_exit(3);
      if (::write(channel, &number, sizeof(number)) != sizeof(number)) ::_exit(4);
    }
  }

  /// Lets a writer live for a while; the newest batch that it has acknowledged.
  uint64_t acknowledged(const std::string& name, uint64_t next, bool has_large,
                        uint64_t lifetime_us) const {
    int channel[2];
    if (::pipe(channel) != 0) return 0;
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(channel[0]);
      write_until_killed(name, next, has_large, lifetime_us, channel[1]);
    }
    ::close(channel[1]);
    uint64_t newest = next - 1;
    while (::read(channel[0], &newest, sizeof(newest)) == sizeof(newest)) {
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
    ::close(channel[0]);
    return newest;
  }

  void run(const std::string& name, bool has_large, uint64_t rounds) {
    const uint64_t longest_us = has_large ? 1'500'000 : 300'000;
    std::mt19937_64 random(rounds);
    uint64_t next = 1;
    for (uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
      const uint64_t newest = acknowledged(name, next, has_large, 1 + random() % longest_us);
      const auto live = open(name);
      ASSERT_NE(live, nullptr);
      const uint64_t kept = newest_batch(*live->view(), has_large);
      EXPECT_GE(kept, newest);
      EXPECT_LE(kept, newest + 1);
      next = kept + 1;
    }
    EXPECT_GT(next, rounds / 2);
  }

  const fs::path folder_;
  std::shared_ptr<const Snapshot> seed_;
};

TEST_F(CatalogueKillTest, WhatWasAcknowledgedSurvives) { run("small", false, kills); }

TEST_F(CatalogueKillTest, OfABatchLargerThanAMessageAllIsThereOrNothing) {
  run("large", true, (kills + 2) / 4);
}

}  // namespace catalogue_kill_test
}  // namespace tessera::catalogue
