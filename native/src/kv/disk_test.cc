// The real disk tier: restarts, faults, damaged files, foreign folders, two processes. Every fault
// ends in a miss or a clear error, never in another answer.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "kv/disk_store.h"
#include "kv/faulty_disk.h"
#include "kv/memory.h"
#include "kv/test_model.h"
#include "kv/work.h"

namespace tessera::kv {
namespace disk_test {

namespace fs = std::filesystem;
constexpr uint64_t kPatience = 20'000'000;  // microseconds
constexpr uint64_t kBlockBytes = 8192;
constexpr uint32_t kDiskBlocks = 64;

/// True if another thread makes the condition true within kPatience.
template <typename Meant>
bool comes_true(Meant meant) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(kPatience);
  while (!meant()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

class Disk : public testing::Test {
 protected:
  Disk() {
    static int count = 0;
    folder_ = fs::temp_directory_path() /
              ("tessera-kv-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
  }
  ~Disk() override {
    std::error_code ignored;
    fs::permissions(folder_, fs::perms::owner_all, ignored);
    fs::remove_all(folder_, ignored);
  }

  DiskLayout layout() const {
    return {.folder = folder_, .block_bytes = kBlockBytes, .slot_count = kDiskBlocks};
  }

  PoolOptions options(uint32_t device_blocks = 8) const {
    PoolOptions made;
    made.block_bytes = kBlockBytes;
    made.device_blocks = device_blocks;
    made.disk_blocks = kDiskBlocks;
    made.disk_folder = folder_;
    made.store_retry_us = 0;
    return made;
  }

  static std::unique_ptr<Pool> open(PoolOptions made) {
    Result<std::unique_ptr<Pool>> pool = Pool::open(std::move(made));
    EXPECT_TRUE(pool.is_ok()) << pool.status().message();
    return std::move(pool).value();
  }

  static TestRequest request(Pool& pool, uint32_t user, uint32_t length = 90) {
    const Version version = pool.add_version(test_identity("model", kBlockBytes)).value();
    return {.version = version,
            .salt = 5,
            .user = "user" + std::to_string(user),
            .tokens = random_tokens(user, length),
            .scene = {1, 2}};
  }

  /// Serves users [0, count), each with a right answer, and waits until all is on disk.
  static void fill(Pool& pool, uint32_t count) {
    for (uint32_t user = 0; user < count; ++user) {
      const TestRequest asked = request(pool, user);
      EXPECT_EQ(serve(pool, asked).value, expected_answer(asked));
      // The device holds two users: the third would take the first one's place.
      EXPECT_TRUE(pool.flush(kPatience).is_ok());
    }
  }

  /// Tokens that a restart gives back to the user; every one of them is right.
  static uint32_t bring_back(Pool& pool, uint32_t user) {
    const TestRequest asked = request(pool, user);
    Prefetch prefetch = pool.prefetch(asked.version, asked.user, 1000);
    EXPECT_TRUE(prefetch.wait(kPatience));
    prefetch.cut_off();
    const TestAnswer answer = serve(pool, asked, false);
    EXPECT_EQ(answer.value, expected_answer(asked));
    return answer.matched;
  }

  std::string folder_;
};

TEST_F(Disk, ARestartFindsEveryUserAgain) {
  {
    auto pool = open(options());
    fill(*pool, 10);
  }
  auto pool = open(options());
  for (uint32_t user = 0; user < 10; ++user) EXPECT_EQ(bring_back(*pool, user), 90u);
  const IntegrityReport report = pool->check_integrity();
  EXPECT_TRUE(report.faults.empty());
  EXPECT_EQ(report.checked_disk_blocks, 30u);
  EXPECT_EQ(report.corrupt_disk_blocks, 0u);
  const PoolMetrics metrics = pool->metrics();
  EXPECT_EQ(metrics.tier("disk").used_blocks, 30u);
  EXPECT_EQ(metrics.tier("disk").hit_tokens, 900u);
}

TEST_F(Disk, ATierThatIsFullKeepsTheMostRecentUsersAcrossARestart) {
  {
    auto pool = open(options());
    for (uint32_t user = 0; user < 40; ++user) {
      serve(*pool, request(*pool, user));
      ASSERT_TRUE(pool->flush(kPatience).is_ok());
    }
    EXPECT_GT(pool->metrics().tier("disk").evicted_blocks, 0u);
  }
  auto pool = open(options());
  EXPECT_EQ(bring_back(*pool, 39), 90u);
  EXPECT_EQ(bring_back(*pool, 0), 0u);
  EXPECT_TRUE(pool->check_integrity().faults.empty());
}

TEST_F(Disk, AnErasedUserIsGoneFromTheFiles) {
  auto pool = open(options());
  fill(*pool, 2);
  std::vector<std::byte> bytes(kBlockBytes);
  EXPECT_TRUE(pool->drop_user("user0", kPatience).is_ok());
  pool.reset();
  std::ifstream blocks(folder_ + "/blocks", std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(blocks)), {});
  uint64_t blocks_left = 0;
  for (uint64_t slot = 0; slot * kBlockBytes < content.size(); ++slot) {
    const auto at = content.begin() + static_cast<int64_t>(slot * kBlockBytes);
    blocks_left += std::any_of(at, at + kBlockBytes, [](char byte) { return byte != 0; });
  }
  EXPECT_EQ(blocks_left, 3u);
  for (const auto& entry : fs::recursive_directory_iterator(folder_ + "/index")) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(text.find("user0"), std::string::npos) << entry.path();
  }
  EXPECT_EQ(bring_back(*(pool = open(options())), 0), 0u);
  EXPECT_EQ(bring_back(*pool, 1), 90u);
}

TEST_F(Disk, ShortAndInterruptedCallsAreCompleted) {
  fs::create_directories(folder_);
  FileFaults faults{.is_short = true, .is_interrupted = true};
  PoolOptions made = options();
  made.store = open_faulty(layout(), faults);
  auto pool = open(std::move(made));
  fill(*pool, 10);
  for (uint32_t user = 0; user < 10; ++user) EXPECT_EQ(bring_back(*pool, user), 90u);
}

TEST_F(Disk, AReadErrorIsAMissAndTheNextReadMayDoBetter) {
  fs::create_directories(folder_);
  FileFaults faults;
  PoolOptions made = options();
  made.store = open_faulty(layout(), faults);
  auto pool = open(std::move(made));
  fill(*pool, 10);
  faults.read_errno = EIO;
  faults.reads = 1000;
  EXPECT_EQ(bring_back(*pool, 0), 0u);
  EXPECT_GT(pool->metrics().loads_failed, 0u);
  faults.reads = 0;
  EXPECT_EQ(bring_back(*pool, 0), 90u);
}

TEST_F(Disk, AFullDiskStopsStoresAndServingGoesOn) {
  fs::create_directories(folder_);
  FileFaults faults;
  PoolOptions made = options();
  made.store_retry_us = 3'600'000'000;
  made.store = open_faulty(layout(), faults);
  auto pool = open(std::move(made));
  fill(*pool, 2);
  faults.space_left = 1 << 20;
  const TestRequest asked = request(*pool, 5);
  EXPECT_EQ(serve(*pool, asked).value, expected_answer(asked));
  EXPECT_EQ(pool->flush(kPatience).code(), Code::kIoFailed);
  EXPECT_FALSE(pool->metrics().is_storing);
  EXPECT_NE(pool->metrics().store_error, "");
  EXPECT_EQ(bring_back(*pool, 0), 90u);
  EXPECT_TRUE(pool->check_integrity().faults.empty());
}

TEST_F(Disk, NoSpaceForABlockStopsStoresUntilTheyAreTriedAgain) {
  fs::create_directories(folder_);
  FileFaults faults;
  PoolOptions made = options();
  made.store_retry_us = 1000;
  made.store = open_faulty(layout(), faults);
  auto pool = open(std::move(made));
  faults.write_errno = ENOSPC;  // though the file system said that there was room
  faults.writes = 1;
  const TestRequest asked = request(*pool, 0);
  EXPECT_EQ(serve(*pool, asked).value, expected_answer(asked));
  ASSERT_TRUE(comes_true([&] { return pool->metrics().stores_failed > 0; }));
  EXPECT_NE(pool->metrics().store_error.find("No space left"), std::string::npos);
  ASSERT_TRUE(comes_true([&] { return pool->metrics().is_storing; }));
  TestRequest longer = asked;
  longer.tokens = random_tokens(0, 95);
  EXPECT_EQ(serve(*pool, longer).value, expected_answer(longer));
  ASSERT_TRUE(pool->flush(kPatience).is_ok());
  EXPECT_EQ(pool->inspect(asked.user).at(0).durable_tokens, 95u);
  EXPECT_TRUE(pool->check_integrity().faults.empty());
}

TEST_F(Disk, AFailedWriteOrSyncCommitsNothing) {
  fs::create_directories(folder_);
  FileFaults faults;
  {
    PoolOptions made = options();
    made.store = open_faulty(layout(), faults);
    auto pool = open(std::move(made));
    fill(*pool, 1);
    faults.write_errno = EIO;
    faults.writes = 1;
    serve(*pool, request(*pool, 1));
    ASSERT_TRUE(comes_true([&] { return pool->metrics().stores_failed > 0; }));
    faults.sync_errno = EIO;
    serve(*pool, request(*pool, 2));
    (void)pool->flush(kPatience);
    EXPECT_GT(pool->metrics().stores_failed, 1u);
  }
  auto pool = open(options());
  EXPECT_EQ(bring_back(*pool, 0), 90u);
  EXPECT_EQ(bring_back(*pool, 1), 0u);
  EXPECT_EQ(bring_back(*pool, 2), 0u);
}

TEST_F(Disk, AFailedCommitStopsStoresUntilTheNextStart) {
  fs::create_directories(folder_);
  FileFaults faults;
  PoolOptions made = options();
  made.store = open_faulty(layout(), faults);
  auto pool = open(std::move(made));
  fill(*pool, 1);
  faults.fails_commit = true;
  serve(*pool, request(*pool, 1));
  EXPECT_EQ(pool->flush(kPatience).code(), Code::kIoFailed);
  faults.fails_commit = false;
  serve(*pool, request(*pool, 2));
  EXPECT_EQ(pool->flush(kPatience).code(), Code::kIoFailed);
  EXPECT_EQ(pool->drop_user("user0", kPatience).code(), Code::kIoFailed);
  EXPECT_TRUE(pool->check_integrity().faults.empty());
}

void flip_bits(const fs::path& path, uint32_t count, std::mt19937_64& random) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const uint64_t size = fs::file_size(path);
  for (uint32_t i = 0; i < count && size > 0; ++i) {
    const auto at = static_cast<std::streamoff>(random() % size);
    file.seekg(at);
    char byte = 0;
    file.read(&byte, 1);
    byte = static_cast<char>(byte ^ (1 << random() % 8));
    file.seekp(at);
    file.write(&byte, 1);
  }
}

TEST_F(Disk, FlippedBitsInBlocksAreMisses) {
  std::mt19937_64 random(1);
  { fill(*open(options()), 10); }
  flip_bits(folder_ + "/blocks", 200, random);
  auto pool = open(options());
  uint32_t found = 0;
  for (uint32_t user = 0; user < 10; ++user) found += bring_back(*pool, user);
  EXPECT_LT(found, 900u);
  EXPECT_GT(pool->metrics().loads_corrupt, 0u);
  EXPECT_EQ(pool->check_integrity().faults.size(), 0u);
}

TEST_F(Disk, FlippedBitsInTheIndexAreMissesOrAnIndexBegunAnew) {
  std::mt19937_64 random(2);
  uint64_t dropped = 0;
  for (uint32_t round = 0; round < 12; ++round) {
    fs::remove_all(folder_);
    {
      auto pool = open(options());
      fill(*pool, 6);
      // Half of the rounds with the heads in a table, half with them in the log.
      const bool is_compacted = round % 2 == 0;
      EXPECT_EQ(is_compacted && pool->drop_user("user5", kPatience).is_ok(), is_compacted);
    }
    for (const auto& entry : fs::directory_iterator(folder_ + "/index")) {
      if (entry.is_regular_file() && entry.path().filename() != "LOCK") {
        flip_bits(entry.path(), 1 + round / 4, random);
      }
    }
    Result<std::unique_ptr<Pool>> pool = Pool::open(options());
    ASSERT_TRUE(pool.is_ok()) << pool.status().message();
    dropped += pool.value()->metrics().indexes_dropped;
    for (uint32_t user = 0; user < 6; ++user) bring_back(*pool.value(), user);
  }
  EXPECT_GT(dropped, 0u);
}

/// The kind of an index file, from its name: "log", "sst", "MANIFEST" and so on.
std::string kind_of(const fs::path& file) {
  const std::string name = file.filename();
  return file.has_extension() ? file.extension().string().substr(1)
                              : name.substr(0, name.find('-'));
}

TEST_F(Disk, EveryKindOfFileDamagedOrCutIsAMissOrAnIndexBegunAnew) {
  std::mt19937_64 random(3);
  for (const char* kind : {"CURRENT", "IDENTITY", "MANIFEST", "OPTIONS", "log", "sst"}) {
    for (const bool is_cut : {false, true}) {
      SCOPED_TRACE(std::string(kind) + (is_cut ? " cut" : " damaged"));
      fs::remove_all(folder_);
      {
        auto pool = open(options());
        fill(*pool, 3);
        ASSERT_TRUE(pool->drop_user("user2", kPatience).is_ok());  // brings heads into a table
        serve(*pool, request(*pool, 3));                           // and one more into the log
        ASSERT_TRUE(pool->flush(kPatience).is_ok());
      }
      uint32_t touched = 0;
      for (const auto& entry : fs::directory_iterator(folder_ + "/index")) {
        if (!entry.is_regular_file() || kind_of(entry.path()) != kind) continue;
        ++touched;
        if (is_cut) fs::resize_file(entry.path(), entry.file_size() / 2);
        if (!is_cut) flip_bits(entry.path(), 3, random);
      }
      EXPECT_GT(touched, 0u);
      Result<std::unique_ptr<Pool>> pool = Pool::open(options());
      ASSERT_TRUE(pool.is_ok()) << pool.status().message();
      if (std::string(kind) == "CURRENT") {
        EXPECT_EQ(pool.value()->metrics().indexes_dropped, 1u);
        EXPECT_NE(pool.value()->metrics().store_error, "");
        EXPECT_TRUE(fs::exists(folder_ + "/index.damaged"));
      }
      for (uint32_t user = 0; user < 4; ++user) bring_back(*pool.value(), user);
      EXPECT_TRUE(pool.value()->check_integrity().faults.empty());
    }
  }
}

TEST_F(Disk, OfTwoHeadsThatClaimOneSlotTheNewerStays) {
  fs::create_directories(folder_);
  const Identity identity = test_identity("model", kBlockBytes);
  std::vector<HeadRecord> heads(2);
  for (uint32_t i = 0; i < 2; ++i) {
    heads[i].key = {version_digest(identity), false,
                    std::string(owner_of(shared_owner(false, "user" + std::to_string(i))))};
    heads[i].seq = 10 - i;  // the first one is the newer
    heads[i].tokens = random_tokens(i, 40);
    heads[i].blocks = {{i, kBlockTokens, 1}, {5, 8, 2}};
  }
  ASSERT_TRUE(DiskStore::open(layout()).value()->commit({}, heads).is_ok());
  auto pool = open(options());
  EXPECT_EQ(pool->metrics().heads_corrupt, 1u);
  EXPECT_EQ(pool->inspect("user0").size(), 1u);
  EXPECT_EQ(pool->inspect("user1").size(), 0u);
  EXPECT_EQ(pool->metrics().tier("disk").used_blocks, 2u);
  EXPECT_TRUE(pool->check_integrity().faults.empty());
  // The record that was given up is gone from the disk with the next commit.
  serve(*pool, request(*pool, 3));
  ASSERT_TRUE(pool->flush(kPatience).is_ok());
  EXPECT_EQ((pool = nullptr, open(options()))->metrics().heads_corrupt, 0u);
}

TEST_F(Disk, ABlocksFileThatIsGoneIsAMiss) {
  { fill(*open(options()), 3); }
  fs::remove(folder_ + "/blocks");
  auto pool = open(options());
  for (uint32_t user = 0; user < 3; ++user) EXPECT_EQ(bring_back(*pool, user), 0u);
  EXPECT_TRUE(pool->check_integrity().faults.empty());
}

TEST_F(Disk, AFlippedBitAtTheEndOfALargeBlockIsAMiss) {
  constexpr uint64_t kLargeBytes = uint64_t{6} << 20;
  const auto large = [&] {
    PoolOptions made = options(2);
    made.block_bytes = kLargeBytes;
    made.disk_blocks = 4;
    return made;
  };
  const auto asked_of = [](Pool& pool) {
    const Version version = pool.add_version(test_identity("model", kLargeBytes)).value();
    return TestRequest{.version = version, .salt = 5, .user = "u", .tokens = random_tokens(1, 60)};
  };
  {
    auto pool = open(large());
    serve(*pool, asked_of(*pool));
    ASSERT_TRUE(pool->flush(kPatience).is_ok());
  }
  // Slots are taken from the front: the second block lies in the second slot.
  std::fstream file(folder_ + "/blocks", std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(2 * kLargeBytes - 1));
  file.put('\x10');
  file.close();
  auto pool = open(large());
  const TestRequest asked = asked_of(*pool);
  Prefetch prefetch = pool->prefetch(asked.version, asked.user, 1000);
  EXPECT_TRUE(prefetch.wait(kPatience));
  prefetch.cut_off();
  const TestAnswer answer = serve(*pool, asked, false);
  EXPECT_EQ(answer.matched, kBlockTokens);
  EXPECT_EQ(answer.value, expected_answer(asked));
  EXPECT_EQ(pool->metrics().loads_corrupt, 1u);
}

/// Remembers where calls went; holds nothing.
class RecordingFile final : public File {
 public:
  explicit RecordingFile(std::vector<uint64_t>& offsets, uint64_t space_left = uint64_t{1} << 50)
      : offsets_(offsets), space_left_(space_left) {}
  int64_t read_some(uint64_t offset, std::span<std::byte> to) override {
    offsets_.push_back(offset);
    return static_cast<int64_t>(to.size());
  }
  int64_t write_some(uint64_t offset, std::span<const std::byte> from) override {
    offsets_.push_back(offset);
    return static_cast<int64_t>(from.size());
  }
  int sync() override { return 0; }
  int punch(uint64_t offset, uint64_t) override {
    offsets_.push_back(offset);
    return 0;
  }
  uint64_t space_left() override { return space_left_; }
  bool is_direct() const override { return false; }

 private:
  std::vector<uint64_t>& offsets_;
  const uint64_t space_left_;
};

TEST_F(Disk, ABlockThatWouldTakeTheReserveIsNotWritten) {
  std::vector<std::byte> bytes(kBlockBytes);
  const uint64_t enough = layout().reserve_bytes + kBlockBytes;
  for (const uint64_t space_left : {enough, enough - 1}) {
    std::vector<uint64_t> offsets;
    DiskStore store(layout(), std::make_unique<RecordingFile>(offsets, space_left), nullptr,
                    nullptr);
    const Status status = store.write(3, bytes);
    const bool is_room = space_left == enough;
    EXPECT_EQ(status.code(), is_room ? Code::kOk : Code::kEngineOverloaded);
    EXPECT_EQ(offsets.size(), is_room ? 1u : 0u);
  }
}

/// A file in memory whose calls do `read_most` and `write_most` bytes at most.
class ShortFile final : public File {
 public:
  ShortFile(std::vector<std::byte>& bytes, uint64_t read_most, uint64_t write_most)
      : bytes_(bytes), read_most_(read_most), write_most_(write_most) {}
  int64_t read_some(uint64_t offset, std::span<std::byte> to) override {
    const uint64_t size = std::min<uint64_t>(read_most_, to.size());
    std::copy_n(bytes_.begin() + static_cast<int64_t>(offset), size, to.begin());
    return static_cast<int64_t>(size);
  }
  int64_t write_some(uint64_t offset, std::span<const std::byte> from) override {
    const uint64_t size = std::min<uint64_t>(write_most_, from.size());
    std::copy_n(from.begin(), size, bytes_.begin() + static_cast<int64_t>(offset));
    return static_cast<int64_t>(size);
  }
  int sync() override { return 0; }
  int punch(uint64_t, uint64_t) override { return -EOPNOTSUPP; }
  uint64_t space_left() override { return uint64_t{1} << 50; }
  bool is_direct() const override { return false; }

 private:
  std::vector<std::byte>& bytes_;
  const uint64_t read_most_;
  const uint64_t write_most_;
};

TEST_F(Disk, EveryByteOfABlockGoesThroughCallsThatDoLessThanAsked) {
  constexpr uint64_t kWhole = kBlockBytes;
  const std::pair<uint64_t, uint64_t> mosts[] = {{4096, kWhole}, {kWhole, 4096}, {5000, 333}};
  std::mt19937_64 random(1);
  for (const auto& [read_most, write_most] : mosts) {
    std::vector<std::byte> file(3 * kBlockBytes, std::byte{0xEE});
    DiskStore store(layout(), std::make_unique<ShortFile>(file, read_most, write_most), nullptr,
                    nullptr);
    std::vector<std::byte> written(kBlockBytes);
    for (std::byte& byte : written) byte = static_cast<std::byte>(random());
    ASSERT_TRUE(store.write(1, written).is_ok());
    std::vector<std::byte> read(kBlockBytes, std::byte{0x11});
    ASSERT_TRUE(store.read(1, read).is_ok());
    EXPECT_EQ(read, written);
    const auto is_untouched = [](std::byte byte) { return byte == std::byte{0xEE}; };
    EXPECT_TRUE(std::all_of(file.begin(), file.begin() + kBlockBytes, is_untouched));
    EXPECT_TRUE(std::all_of(file.end() - kBlockBytes, file.end(), is_untouched));
    ASSERT_TRUE(store.discard(1).is_ok());
    EXPECT_TRUE(std::all_of(file.begin() + kBlockBytes, file.end() - kBlockBytes,
                            [](std::byte byte) { return byte == std::byte{0}; }));
  }
}

TEST_F(Disk, SlotsBehindFourGibibytesHavePlacesOfTheirOwn) {
  constexpr SlotIndex kSlot = 3'000'000'000;
  std::vector<uint64_t> offsets;
  const DiskLayout huge{.folder = folder_, .block_bytes = kBlockBytes, .slot_count = kNoSlot};
  DiskStore store(huge, std::make_unique<RecordingFile>(offsets), nullptr, nullptr);
  std::vector<std::byte> bytes(kBlockBytes);
  EXPECT_TRUE(store.write(kSlot, bytes).is_ok());
  EXPECT_TRUE(store.read(kSlot, bytes).is_ok());
  EXPECT_TRUE(store.discard(kSlot).is_ok());
  EXPECT_EQ(offsets, std::vector<uint64_t>(3, kSlot * kBlockBytes));
}

TEST_F(Disk, ReadersOfUnalignedBuffersDoNotMeet) {
  fs::create_directories(folder_);
  auto store = DiskStore::open(layout()).value();
  constexpr uint32_t kReaders = 3;
  std::vector<std::byte> bytes(kBlockBytes);
  for (SlotIndex slot = 0; slot < kReaders; ++slot) {
    std::fill(bytes.begin(), bytes.end(), static_cast<std::byte>(slot + 1));
    ASSERT_TRUE(store->write(slot, bytes).is_ok());
  }
  std::atomic<uint32_t> foreign = 0;
  std::vector<std::thread> readers;
  for (SlotIndex slot = 0; slot < kReaders; ++slot) {
    readers.emplace_back([&, slot] {
      std::vector<std::byte> mine(kBlockBytes + 1);
      for (uint32_t i = 0; i < 500; ++i) {
        const std::span<std::byte> to(mine.data() + 1, kBlockBytes);
        if (!store->read(slot, to).is_ok()) ++foreign;
        foreign += std::any_of(to.begin(), to.end(), [&](std::byte byte) {
          return byte != static_cast<std::byte>(slot + 1);
        });
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(foreign.load(), 0u);
}

TEST_F(Disk, ForeignFilesInTheFolderDoNoHarm) {
  { fill(*open(options()), 3); }
  for (const char* name : {"/notes.txt", "/blocks.old", "/index/notes.txt", "/index/99.sst.tmp"}) {
    std::ofstream(folder_ + name) << "not a number";
  }
  fs::create_directories(folder_ + "/lost+found");
  auto pool = open(options());
  for (uint32_t user = 0; user < 3; ++user) EXPECT_EQ(bring_back(*pool, user), 90u);
}

TEST_F(Disk, AfterARestartTheOldestGoesFirst) {
  { fill(*open(options()), 20); }
  auto pool = open(options());
  for (uint32_t user = 20; user < 25; ++user) {
    serve(*pool, request(*pool, user));
    ASSERT_TRUE(pool->flush(kPatience).is_ok());
  }
  EXPECT_LT(bring_back(*pool, 0), 90u);
  EXPECT_EQ(bring_back(*pool, 19), 90u);
}

TEST_F(Disk, ATruncatedBlocksFileIsAMiss) {
  { fill(*open(options()), 10); }
  fs::resize_file(folder_ + "/blocks", 5 * kBlockBytes);
  auto pool = open(options());
  uint32_t found = 0;
  for (uint32_t user = 0; user < 10; ++user) found += bring_back(*pool, user);
  EXPECT_GT(found, 0u);
  EXPECT_LT(found, 900u);
}

TEST_F(Disk, AFolderOfAnotherLayoutIsRefusedByName) {
  { fill(*open(options()), 1); }
  PoolOptions other = options();
  other.block_bytes = 2 * kBlockBytes;
  const Status status = Pool::open(std::move(other)).status();
  EXPECT_EQ(status.code(), Code::kKvStoreInvalid);
  EXPECT_NE(status.message().find("8192 bytes"), std::string::npos) << status.message();
}

TEST_F(Disk, ASmallerCapacityGivesUpWhatLiesBehindIt) {
  { fill(*open(options()), 10); }
  PoolOptions smaller = options();
  smaller.disk_blocks = 10;
  auto pool = open(std::move(smaller));
  uint32_t found = 0;
  for (uint32_t user = 0; user < 10; ++user) found += bring_back(*pool, user);
  EXPECT_GT(found, 0u);
  EXPECT_LE(found, 10 * kBlockTokens);
  EXPECT_TRUE(pool->check_integrity().faults.empty());
}

TEST_F(Disk, ASecondProcessIsRefused) {
  auto pool = open(options());
  const Status status = Pool::open(options()).status();
  EXPECT_EQ(status.code(), Code::kKvStoreInvalid);
  EXPECT_NE(status.message().find("another process"), std::string::npos) << status.message();
}

/// The code with which another process, of an account without rights or of ours, cannot open the
/// folder.
int code_in_another_process(PoolOptions options, bool has_rights) {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (!has_rights && ::seteuid(kNobody) != 0) ::_exit(1);
    ::_exit(static_cast<int>(Pool::open(std::move(options)).status().code()));
  }
  int ended = 0;
  EXPECT_EQ(::waitpid(child, &ended, 0), child);
  return WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
}

TEST_F(Disk, AnotherProcessAndAnotherAccountAreRefused) {
  const int invalid = static_cast<int>(Code::kKvStoreInvalid);
  PoolOptions made = options();
  made.read_threads = 0;  // a process that forks has no threads
  {
    auto pool = open(std::move(made));
    EXPECT_EQ(code_in_another_process(options(), true), invalid);
  }
  if (::geteuid() == 0) {
    EXPECT_EQ(code_in_another_process(options(), false), invalid);
  }
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  if (::geteuid() != 0) {
    EXPECT_EQ(Pool::open(options()).status().code(), Code::kKvStoreInvalid);
  }
}

TEST_F(Disk, AFolderThatCannotBeWrittenIsRefused) {
  PoolOptions nowhere = options();
  nowhere.disk_folder = "/proc/nowhere";
  EXPECT_EQ(Pool::open(std::move(nowhere)).status().code(), Code::kKvStoreInvalid);
  fs::create_directories(folder_);
  std::ofstream(folder_ + "/index") << "a file where a folder belongs";
  EXPECT_EQ(Pool::open(options()).status().code(), Code::kKvStoreInvalid);
}

TEST_F(Disk, ACapacityThatTheDiskLacksIsRefused) {
  PoolOptions huge = options();
  huge.disk_blocks = uint64_t{1} << 31;
  EXPECT_EQ(Pool::open(std::move(huge)).status().code(), Code::kKvPoolInvalid);
}

TEST_F(Disk, AStaleVersionIsNotServedAndMakesRoomInTime) {
  { fill(*open(options()), 10); }
  auto pool = open(options());
  const Version other = pool->add_version(test_identity("newer", kBlockBytes)).value();
  TestRequest asked = request(*pool, 0);
  asked.version = other;
  asked.salt = 6;
  const TestAnswer answer = serve(*pool, asked);
  EXPECT_EQ(answer.matched, 0u);
  EXPECT_EQ(answer.value, expected_answer(asked));
  pool->retire(request(*pool, 0).version);
  EXPECT_TRUE(pool->flush(kPatience).is_ok());
  ASSERT_TRUE(comes_true([&] { return pool->metrics().chains <= 1; }));
  EXPECT_TRUE(pool->flush(kPatience).is_ok());
  EXPECT_EQ(pool->metrics().tier("disk").used_blocks, 3u);
}

}  // namespace disk_test
}  // namespace tessera::kv
