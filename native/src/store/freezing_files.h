// A file system for RocksDB that never tells it of a write that failed.
//
// RocksDB asserts that a file is not used after a failed write, and Debian builds it with
// assertions on, which end the process. So the first failure freezes the file system: it reports
// that operation and all later changes as done, but none reaches the disk, whose content is then
// that of a crash at that moment. The owner of the database checks is_frozen() before it trusts a
// write, closes the database and opens it again.
//
// Thread-safety: as RocksDB asks of a file system.
#pragma once

#include <rocksdb/file_system.h>

#include <atomic>
#include <memory>
#include <string>

#include "base/mutex.h"

namespace tessera::store {

/// Shared by the file system and its files, which may outlive it.
class Freeze {
 public:
  bool is_on() const { return is_on_.load(); }
  bool is_full() const { return is_full_.load(); }
  /// The first failure; empty before.
  std::string reason() const;
  void turn_on(const std::string& path, const rocksdb::IOStatus& status);

  /// Of the write that is under way, 0 for none: its bytes are taken back off the log where it
  /// fails.
  std::atomic<uint64_t> write_number = 0;

 private:
  std::atomic<bool> is_on_ = false;
  std::atomic<bool> is_full_ = false;
  mutable Mutex mutex_;
  std::string reason_ GUARDED_BY(mutex_);
};

/// `files` behind a freeze.
std::shared_ptr<rocksdb::FileSystem> freezing_files(std::shared_ptr<rocksdb::FileSystem> files,
                                                    std::shared_ptr<Freeze> freeze);

}  // namespace tessera::store
