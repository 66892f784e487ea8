// Disks that fail at any operation, and one that is filled and freed under load: the process goes
// on, nothing acknowledged is lost, nothing refused is found, and writes go on by themselves.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "base/test_count.h"
#include "store/faulty_files.h"
#include "store/guarded_db.h"

namespace tessera::store {
namespace store_fault_test {

namespace fs = std::filesystem;

constexpr int kCasesAtOnce = 5;
const uint64_t cases = test_count("CASES", 20);
const uint64_t cycles = test_count("CYCLES", 2);

class Folder {
 public:
  Folder() {
    const fs::path memory = "/dev/shm";
    const fs::path parent = fs::is_directory(memory) ? memory : fs::temp_directory_path();
    std::string name = (parent / "tessera-fault-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Small buffers: tables are written and merged all the time.
DbSettings settings_of(const std::string& folder, FileFaults* faults) {
  DbSettings settings;
  settings.folder = folder;
  settings.options.write_buffer_size = 16 << 10;
  settings.options.level0_file_num_compaction_trigger = 2;
  settings.options.compression = rocksdb::kNoCompression;
  settings.between_attempts = std::chrono::milliseconds(1);
  if (faults != nullptr) settings.files = std::make_shared<FaultyFiles>(*faults);
  return settings;
}

using Model = std::map<std::string, std::string>;

std::optional<std::string> value_of(GuardedDb& db, const std::string& key, Status& status) {
  std::string value;
  bool is_there = false;
  status = db.read([&](rocksdb::DB& opened) {
    const rocksdb::Status got = opened.Get(rocksdb::ReadOptions(), key, &value);
    is_there = got.ok();
    return got.IsNotFound() ? rocksdb::Status::OK() : got;
  });
  return is_there ? std::optional(value) : std::nullopt;
}

void expect_content(GuardedDb& db, const Model& model) {
  Model found;
  const Status status = db.read([&](rocksdb::DB& opened) {
    found.clear();
    const std::unique_ptr<rocksdb::Iterator> at(opened.NewIterator(rocksdb::ReadOptions()));
    for (at->SeekToFirst(); at->Valid(); at->Next()) {
      found[at->key().ToString()] = at->value().ToString();
    }
    return at->status();
  });
  ASSERT_TRUE(status.is_ok()) << status.message();
  found.erase(std::string(kCommitKey));
  ASSERT_EQ(found.size(), model.size());
  ASSERT_TRUE(found == model);
}

class Writer {
 public:
  Writer(GuardedDb& db, Model& model, std::mt19937_64& random)
      : db_(db), model_(model), random_(random) {}

  void write_one() {
    rocksdb::WriteBatch batch;
    Model next = model_;
    for (uint64_t i = 0; i < 1 + random_() % 4; ++i) {
      const std::string key = "key-" + std::to_string(random_() % 200);
      if (random_() % 5 == 0) {
        batch.Delete(key);
        next.erase(key);
      } else {
        next[key] = std::string(random_() % 900, static_cast<char>('a' + random_() % 26)) +
                    std::to_string(random_());
        batch.Put(key, next[key]);
      }
    }
    const Status status = db_.write(batch, true);
    if (status.is_ok()) {
      model_ = std::move(next);
    } else if (status.code() == Code::kIoFailed) {
      settle(next);
    } else {
      EXPECT_TRUE(status.code() == Code::kStoreFull || status.code() == Code::kStoreUnavailable)
          << status.message();
      ++refused;
    }
  }

  uint64_t refused = 0;

 private:
  /// The outcome is not known: it is found, whole or not at all, so that one key shows it.
  void settle(Model& next) {
    Model touched = model_;
    touched.insert(next.begin(), next.end());
    for (const auto& [key, value] : touched) {
      const std::optional<std::string> wanted = entry(next, key);
      if (entry(model_, key) == wanted) continue;
      Status status;
      const std::optional<std::string> found = value_of(db_, key, status);
      ASSERT_TRUE(status.is_ok()) << status.message();
      if (found == wanted) model_ = std::move(next);
      return;
    }
  }

  static std::optional<std::string> entry(const Model& model, const std::string& key) {
    const auto at = model.find(key);
    return at == model.end() ? std::nullopt : std::optional(at->second);
  }

  GuardedDb& db_;
  Model& model_;
  std::mt19937_64& random_;
};

void recover_in_time(GuardedDb& db) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!db.recover().is_ok() && std::chrono::steady_clock::now() < limit) {
    std::this_thread::yield();
  }
  EXPECT_EQ(db.state().health, Health::kOk) << db.state().reason;
}

void fail_somewhere(uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const Folder folder;
  FileFaults faults;
  Model model;
  {
    auto opened = GuardedDb::open(settings_of(folder.path(), &faults));
    ASSERT_TRUE(opened.is_ok()) << opened.status().message();
    GuardedDb& db = *opened.value();
    Writer writer(db, model, random);
    for (int round = 0; round < 3 && !testing::Test::HasFailure(); ++round) {
      faults.is_full = random() % 2 == 0;
      faults.fail_from = faults.operations + random() % 250;
      faults.fail_count = random() % 3 == 0 ? 1 : 1 + random() % 400;
      for (uint64_t i = 0; i < 60 + random() % 120; ++i) {
        writer.write_one();
        if (i % 40 == 20) (void)db.scrub({});  // succeeds or not, it changes nothing that is read
      }
      expect_content(db, model);
      faults.heal();
      recover_in_time(db);
      expect_content(db, model);
    }
    if (random() % 2 == 0) {  // closed while the disk fails
      faults.fail_from = faults.operations.load();
      faults.fail_count = ~uint64_t{0} / 2;
    }
  }
  auto again = GuardedDb::open(settings_of(folder.path(), nullptr));
  ASSERT_TRUE(again.is_ok()) << again.status().message();
  expect_content(*again.value(), model);
}

/// A file system of a network, whose locks of records are missing.
class Lockless final : public rocksdb::FileSystemWrapper {
 public:
  Lockless() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "TesseraLockless"; }
  rocksdb::IOStatus LockFile(const std::string&, const rocksdb::IOOptions&, rocksdb::FileLock**,
                             rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::IOError("While lock file", std::strerror(ENOLCK));
  }
};

TEST(StoreFault, SaysWhatToDoWhereAFileSystemGivesNoLocks) {
  const Folder folder;
  DbSettings settings = settings_of(folder.path(), nullptr);
  settings.files = std::make_shared<Lockless>();
  const Result<std::unique_ptr<GuardedDb>> db = GuardedDb::open(settings);
  ASSERT_FALSE(db.is_ok());
  EXPECT_NE(db.status().message().find("LOCK: expected a file system that gives locks"),
            std::string::npos)
      << db.status().message();
  EXPECT_NE(db.status().message().find("use a local volume"), std::string::npos);
}

TEST(StoreFault, LosesNothingWhereverTheDiskFails) {
  // RocksDB waits a second before it tries again: cases have folders of their own and wait
  // together.
  std::atomic<uint64_t> seed = 1;
  std::vector<std::thread> threads;
  for (int i = 0; i < kCasesAtOnce; ++i) {
    threads.emplace_back([&seed] {
      for (uint64_t own = seed++; own <= cases && !HasFailure(); own = seed++) fail_somewhere(own);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(StoreFault, IsReadWhileTheDiskIsBelowItsReserveAndWritesAfterwards) {
  const Folder folder;
  DbSettings settings = settings_of(folder.path(), nullptr);
  {
    rocksdb::WriteBatch batch;
    batch.Put("a", "1");
    ASSERT_TRUE(GuardedDb::open(settings).value()->write(batch, true).is_ok());
  }
  settings.reserve_bytes = platform::free_bytes(folder.path()) * 2;
  auto opened = GuardedDb::open(settings);
  ASSERT_TRUE(opened.is_ok()) << opened.status().message();
  Status status;
  EXPECT_EQ(value_of(*opened.value(), "a", status), "1");
  rocksdb::WriteBatch batch;
  batch.Put("b", "2");
  EXPECT_EQ(opened.value()->write(batch, true).code(), Code::kStoreFull);
  EXPECT_EQ(opened.value()->state().health, Health::kReadOnly);
  EXPECT_NE(opened.value()->state().reason.find("disk.reserveBytes"), std::string::npos);
}

/// A small file system of its own.
class SmallDisk {
 public:
  SmallDisk() {
    is_there_ = ::mount("tessera", folder_.path().c_str(), "tmpfs", 0, "size=24m") == 0;
  }
  ~SmallDisk() {
    if (is_there_) ::umount(folder_.path().c_str());
  }
  bool is_there() const { return is_there_; }
  std::string path() const { return folder_.path(); }

  void fill() const {
    const int file = ::open((path() + "/filling").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const std::vector<char> zeros(64 << 10);
    while (::write(file, zeros.data(), zeros.size()) > 0) {
    }
    ::close(file);
  }
  void free() const { fs::remove(path() + "/filling"); }

 private:
  const Folder folder_;
  bool is_there_ = false;
};

/// Writes until `is_over`, each number until it is acknowledged: a number that was passed over
/// would leave the one that it takes out for ever, and the store itself would fill the disk. The
/// numbers that must be there.
std::set<uint64_t> write_on(GuardedDb& db, uint64_t first, const std::atomic<bool>& is_over,
                            std::atomic<uint64_t>& acknowledged) {
  std::set<uint64_t> done;
  for (uint64_t number = first; !is_over;) {
    rocksdb::WriteBatch batch;
    batch.Put("n" + std::to_string(number), std::string(900, 'x'));
    if (number > first + 2000) batch.Delete("n" + std::to_string(number - 2000));
    if (!db.write(batch, true).is_ok()) continue;
    done.insert(number);
    if (number > first + 2000) done.erase(number - 2000);
    ++number;
    ++acknowledged;
  }
  return done;
}

void wait_for_more(std::atomic<uint64_t>& acknowledged, uint64_t count) {
  const uint64_t wanted = acknowledged + count;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (acknowledged < wanted && std::chrono::steady_clock::now() < limit) {
    std::this_thread::yield();
  }
  EXPECT_GE(acknowledged, wanted) << "nothing is written any more";
}

TEST(StoreFault, GoesOnByItselfWhereADiskIsFilledAndFreedUnderLoad) {
  const SmallDisk disk;
  if (!disk.is_there()) GTEST_SKIP() << "mounting a file system is refused here";
  DbSettings settings = settings_of(disk.path() + "/store", nullptr);
  settings.options.write_buffer_size = 256 << 10;
  settings.options.max_total_wal_size = 1 << 20;
  settings.between_attempts = DbSettings().between_attempts;
  std::set<uint64_t> kept[2];
  {
    auto opened = GuardedDb::open(settings);
    ASSERT_TRUE(opened.is_ok()) << opened.status().message();
    GuardedDb& db = *opened.value();
    std::atomic<bool> is_over = false;
    std::atomic<uint64_t> acknowledged = 0;
    std::thread writers[2];
    for (uint64_t w = 0; w < 2; ++w) {
      writers[w] =
          std::thread([&, w] { kept[w] = write_on(db, w * 1'000'000'000, is_over, acknowledged); });
    }
    uint64_t slowest_ms = 0;
    for (uint64_t cycle = 0; cycle < cycles && !HasFailure(); ++cycle) {
      wait_for_more(acknowledged, 200);
      disk.fill();
      const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      // The store may recover and stop again while the disk is full: it takes files away.
      bool was_seen = false;
      while (!was_seen && std::chrono::steady_clock::now() < limit) {
        was_seen = db.state().health != Health::kOk;
      }
      EXPECT_TRUE(was_seen) << "a full disk does not show";
      disk.free();
      const auto freed = std::chrono::steady_clock::now();
      wait_for_more(acknowledged, 1);
      const auto waited = std::chrono::steady_clock::now() - freed;
      slowest_ms = std::max<uint64_t>(
          slowest_ms, std::chrono::duration_cast<std::chrono::milliseconds>(waited).count());
    }
    is_over = true;
    for (std::thread& writer : writers) writer.join();
    std::printf(
        "disk filled and freed %llu times: %llu writes, writing again after %llu ms at most\n",
        static_cast<unsigned long long>(cycles),
        static_cast<unsigned long long>(acknowledged.load()),
        static_cast<unsigned long long>(slowest_ms));
  }
  auto again = GuardedDb::open(settings);
  ASSERT_TRUE(again.is_ok()) << again.status().message();
  for (const auto& numbers : kept) {
    for (const uint64_t number : numbers) {
      Status status;
      ASSERT_TRUE(value_of(*again.value(), "n" + std::to_string(number), status)) << number;
    }
  }
}

}  // namespace store_fault_test
}  // namespace tessera::store
