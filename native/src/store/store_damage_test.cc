// Damaged databases: any file, any place. A start finds exactly what was acknowledged, or refuses
// by name; a reader finds what was acknowledged, or is refused by name.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <random>

#include "base/test_count.h"
#include "platform/test_damage.h"
#include "store/faulty_files.h"
#include "store/guarded_db.h"
#include "store/ordered_store_options.h"
#include "store/repair_store.h"

namespace tessera::store {
namespace store_damage_test {

namespace fs = std::filesystem;

const uint64_t cases = test_count("CASES", 25);

using Model = std::map<std::string, std::string>;

class StoreDamage : public testing::Test {
 protected:
  StoreDamage() {
    faults_.fail_count = ~uint64_t{0} / 2;
    const fs::path memory = "/dev/shm";
    const fs::path parent = fs::is_directory(memory) ? memory : fs::temp_directory_path();
    std::string name = (parent / "tessera-damage-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~StoreDamage() override { fs::remove_all(folder_); }

  DbSettings settings() const {
    DbSettings settings;
    settings.folder = folder_ / "store";
    settings.options = ordered_store_options();
    settings.options.write_buffer_size = 64 << 10;
    settings.options.level0_file_num_compaction_trigger = 3;
    settings.options.compression = rocksdb::kNoCompression;
    return settings;
  }

  /// A store as kill -9 leaves it, or as it is closed.
  Model make(std::mt19937_64& random) {
    Model model;
    history_ = {model};
    DbSettings with_faults = settings();
    with_faults.files = std::make_shared<FaultyFiles>(faults_);
    auto db = GuardedDb::open(with_faults).value();
    const uint64_t writes = 1 + random() % 200;
    for (uint64_t i = 0; i < writes; ++i) {
      rocksdb::WriteBatch batch;
      for (uint64_t k = 0; k < 1 + random() % 3; ++k) {
        const std::string key = "key-" + std::to_string(random() % 300);
        model[key] = std::string(random() % 1200, 'v') + std::to_string(random());
        batch.Put(key, model[key]);
      }
      EXPECT_TRUE(db->write(batch, true).is_ok());
      history_.push_back(model);
    }
    if (random() % 2 == 0) faults_.fail_from = faults_.operations.load();
    db.reset();
    faults_.fail_from = ~uint64_t{0};
    return model;
  }

  /// Everything that is there; false where a reader is refused.
  static bool read_all(GuardedDb& db, Model& found, Status& status) {
    status = db.read([&](rocksdb::DB& opened) {
      found.clear();
      const std::unique_ptr<rocksdb::Iterator> at(opened.NewIterator(rocksdb::ReadOptions()));
      for (at->SeekToFirst(); at->Valid(); at->Next()) {
        found[at->key().ToString()] = at->value().ToString();
      }
      return at->status();
    });
    found.erase(std::string(kCommitKey));
    return status.is_ok();
  }

  void expect_refused(const Status& status) {
    EXPECT_TRUE(status.code() == Code::kStoreCorrupt || status.code() == Code::kStoreInvalid)
        << code_name(status.code()) << " " << status.message();
    EXPECT_GT(status.message().size(), 10u);
    ++refused_;
  }

  /// Of what is refused the repair leaves what was there after some write, and new numbers.
  void expect_repaired() {
    const uint64_t newest = history_.size() - 1;
    const auto looked = repair_store(settings().folder, RepairMode::kLook);
    const auto repaired = repair_store(settings().folder, RepairMode::kApply);
    ASSERT_EQ(looked.is_ok(), repaired.is_ok());
    if (!repaired.is_ok()) return;  // nothing can be had of it
    ++repaired_;
    EXPECT_EQ(looked.value().readable, repaired.value().readable);
    EXPECT_EQ(looked.value().keys_left, repaired.value().keys_left);
    EXPECT_EQ(looked.value().aside, "");
    auto db = GuardedDb::open(settings());
    ASSERT_TRUE(db.is_ok()) << db.status().message();
    Model found;
    Status status;
    ASSERT_TRUE(read_all(*db.value(), found, status)) << status.message();
    EXPECT_EQ(found.size(), repaired.value().keys_left);
    if (!repaired.value().is_gathered) {
      EXPECT_TRUE(found == history_.at(repaired.value().readable));
      EXPECT_GT(db.value()->commit_number(), newest);
    }
    EXPECT_TRUE(fs::exists(repaired.value().aside));
    fs::remove_all(repaired.value().aside);
  }

  void run(uint64_t seed) {
    std::mt19937_64 random(seed);
    fs::remove_all(folder_ / "store");
    const Model model = make(random);
    const std::string damage = platform::damage_a_file(folder_ / "store", random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + damage);
    for (int start = 0; start < 2 && !HasFailure(); ++start) {
      auto db = GuardedDb::open(settings());
      Model found;
      Status status;
      if (!db.is_ok()) {
        expect_refused(db.status());
        if (start == 1) expect_repaired();
      } else if (read_all(*db.value(), found, status)) {
        EXPECT_TRUE(found == model) << found.size() << " keys, expected " << model.size();
        ++exact_;
      } else {
        expect_refused(status);
        db.value().reset();
        if (start == 1) expect_repaired();
      }
    }
  }

  fs::path folder_;
  FileFaults faults_;
  std::vector<Model> history_;  // after each write
  uint64_t refused_ = 0;
  uint64_t repaired_ = 0;
  uint64_t exact_ = 0;
};

TEST_F(StoreDamage, IsToldOrHarmless) {
  for (uint64_t seed = 1; seed <= cases && !HasFailure(); ++seed) run(seed);
  std::printf(
      "%llu damaged stores, two starts each: %llu exact, %llu refused; of %llu a "
      "repair left something\n",
      static_cast<unsigned long long>(cases), static_cast<unsigned long long>(exact_),
      static_cast<unsigned long long>(refused_), static_cast<unsigned long long>(repaired_));
}

class StoreDamageByName : public StoreDamage {
 protected:
  /// Twelve writes, all of which are in the write-ahead log.
  void SetUp() override {
    auto db = GuardedDb::open(settings()).value();
    for (int i = 0; i < 12; ++i) {
      rocksdb::WriteBatch batch;
      batch.Put("user-" + std::to_string(i), std::string(200, 'x'));
      ASSERT_TRUE(db->write(batch, true).is_ok());
    }
  }
  fs::path file(const std::string& suffix) const {
    for (const fs::path& path : platform::files_of(folder_ / "store")) {
      if (path.string().ends_with(suffix)) return path;
    }
    return {};
  }
  std::string refusal() const {
    const auto db = GuardedDb::open(settings());
    if (db.is_ok()) return "opened";
    EXPECT_EQ(db.status().code(), Code::kStoreCorrupt);
    return db.status().message();
  }
};

TEST_F(StoreDamageByName, AFlippedByteInTheMiddleOfItsLogIsToldWithFileAndPlace) {
  const fs::path log = file(".log");
  std::string content = platform::content_of(log);
  content[content.size() / 2] ^= 1;
  platform::write_content(log, content);
  const std::string message = refusal();
  EXPECT_NE(message.find(log.string() + ": byte "), std::string::npos) << message;
  EXPECT_NE(message.find("later writes follow it"), std::string::npos) << message;
  EXPECT_NE(message.find("the first 6 can be read"), std::string::npos) << message;
  EXPECT_NE(message.find("npm run repair"), std::string::npos) << message;
}

TEST_F(StoreDamageByName, AMissingLogIsTold) {
  fs::remove(file(".log"));
  EXPECT_NE(refusal().find("expected 12 writes"), std::string::npos) << refusal();
}

TEST_F(StoreDamageByName, AMissingTableIsTold) {
  { const auto opened = GuardedDb::open(settings()); }  // puts the log into a table
  fs::remove(file(".sst"));
  EXPECT_NE(refusal().find("No such file"), std::string::npos) << refusal();
}

TEST_F(StoreDamageByName, ALogThatEndsInsideARecordNobodyWasToldOfIsTakenWithoutIt) {
  const fs::path log = file(".log");
  std::ofstream(log, std::ios::binary | std::ios::app)
      << std::string("\x12\x34\x56\x78\x40\0\x01half", 11);
  const auto db = GuardedDb::open(settings());
  ASSERT_TRUE(db.is_ok()) << db.status().message();
  EXPECT_EQ(db.value()->commit_number(), 12u);
}

}  // namespace store_damage_test
}  // namespace tessera::store
