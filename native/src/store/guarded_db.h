// A RocksDB database that a full, failing or damaged disk cannot bring down.
//
// Every write stores its number under a key of its own; the file `marks` beside the database has
// the newest durable number. Opening counts the numbers in the tables and write-ahead logs. A gap,
// a log that ends before its mark, or a missing file is damage, and the database is not opened. A
// torn last record that was never acknowledged is dropped.
//
// A write that the disk refuses freezes the database (freezing_files.h); it is then closed and
// opened as a crash would have left it: for reading alone, until a write finds the disk well again.
//
// Thread-safety: every method from any thread. Writes come one after another.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/file_system.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/status.h"
#include "platform/disk_reserve.h"
#include "platform/folder_lock.h"
#include "platform/log_marks.h"
#include "store/freezing_files.h"
#include "store/store_state.h"

namespace tessera::store {

struct DbSettings {
  std::string folder;
  std::string name = "store";  // what messages begin with
  uint64_t reserve_bytes = 0;
  /// False for a cache: opening does not look for lost writes.
  bool is_verified = true;
  Code corrupt = Code::kStoreCorrupt;
  Code invalid = Code::kStoreInvalid;
  rocksdb::Options options = {};
  /// At opening for writing, while the disk is not well.
  std::chrono::milliseconds between_attempts{250};
  /// Null: those of the system.
  std::shared_ptr<rocksdb::FileSystem> files = nullptr;
};

/// Before all other keys; not seen by readers, who begin after it.
inline constexpr std::string_view kCommitKey{"\0tessera commit", 15};

struct KeyRange {
  std::string from;
  std::string to;
};

class GuardedDb {
 public:
  /// Opens or makes the folder. Errors: `invalid` when it cannot be made or another process has it,
  /// `corrupt` when it is damaged; STORE_FULL and STORE_UNAVAILABLE when the disk refuses it.
  static Result<std::unique_ptr<GuardedDb>> open(DbSettings settings);
  ~GuardedDb();
  GuardedDb(const GuardedDb&) = delete;
  GuardedDb& operator=(const GuardedDb&) = delete;

  using Operation = std::function<rocksdb::Status(rocksdb::DB&)>;
  /// A reading operation, done once more where the disk failed under it. Errors: `corrupt`,
  /// IO_FAILED, STORE_UNAVAILABLE.
  Status read(const Operation& operation);
  /// False: nothing was read, since the database is being opened anew or is not to be had, or the
  /// operation did not succeed; read() tells more.
  bool read_at_once(const Operation& operation) const;
  /// All or nothing. `is_durable`: on the device on return. Errors: STORE_FULL, STORE_UNAVAILABLE:
  /// nothing of it counts, it may be tried again; IO_FAILED: it may be found after a restart.
  Status write(rocksdb::WriteBatch& batch, bool is_durable);
  /// Rewrites the tables so that no byte of what was erased in the ranges (both ends in them), or
  /// anywhere where none are given, is left in a file: neither in a table or log, nor as the bound
  /// of a table in the manifest. Slow; reads and writes go on, but for the moment in which the
  /// database is opened anew at the end. Errors: as write().
  Status scrub(std::span<const KeyRange> ranges);
  /// Opens the database again where it is not and the disk is well. Errors: as write().
  Status recover();

  /// A system call at most.
  StoreState state() const;
  uint64_t commit_number() const;

 private:
  struct Opened {
    std::shared_ptr<Freeze> freeze;
    std::unique_ptr<rocksdb::Env> env;
    std::unique_ptr<rocksdb::DB> db;  // closed first
    bool is_writable = false;
  };

  explicit GuardedDb(DbSettings settings);
  Status open_first();
  Result<Opened> open_writable() const;
  Result<Opened> open_for_reading() const;
  Status reopen() REQUIRES(writer_);
  Status make_writable() REQUIRES(writer_);
  Status on_files(const Operation& operation);
  Status settle(uint64_t number) REQUIRES(writer_);
  /// Only the holder of writer_ replaces it, so that thread need not hold opened_lock_ as well.
  Opened& opened_to_write() REQUIRES(writer_) NO_THREAD_SAFETY_ANALYSIS { return opened_; }
  Status translate(const rocksdb::Status& status, Code otherwise) const;
  Status refusal(const Freeze& freeze) const;
  void show(Health health, const Status& why);
  std::string marks_path() const { return settings_.folder + "/marks"; }

  const DbSettings settings_;
  const platform::DiskReserve reserve_;

  std::unique_ptr<platform::FolderLock> lock_;

  Mutex writer_;
  /// At opening for writing.
  std::chrono::steady_clock::time_point next_attempt_ GUARDED_BY(writer_) = {};
  platform::LogMarks marks_ GUARDED_BY(writer_);

  mutable SharedMutex opened_lock_;  // shared by who reads, held alone by who replaces
  Opened opened_ GUARDED_BY(opened_lock_);
  std::atomic<uint64_t> commit_ = 0;  // changed under writer_

  mutable Mutex state_lock_;
  StoreState state_ GUARDED_BY(state_lock_);
};

}  // namespace tessera::store
