// Whether the tables and write-ahead logs of a database hold every numbered write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "store/guarded_db.h"

namespace tessera::store {

/// What a database that nobody has open holds, as a start would find it.
struct CommitCount {
  /// Writes 1..readable are there; 0 where writes are not numbered: older than numbers, or new.
  uint64_t readable = 0;
  uint64_t acknowledged = 0;  // by the file of marks: at least
  bool is_new = false;        // nothing is there
  /// Empty: all that was acknowledged is there. Otherwise what is damaged, and where.
  std::string damage;
};

/// Reads the manifest, the index of each table and all write-ahead logs, and changes nothing.
/// Errors: IO_FAILED, `invalid`. Damage is no error here.
Result<CommitCount> count_commits(const DbSettings& settings);

/// Whether opening failed for what the files hold, not for what the system refuses.
bool is_damage(const rocksdb::Status& status);

/// The number that a batch carries; 0 for none.
uint64_t commit_of(const rocksdb::WriteBatch& batch);
std::string encode_commit(uint64_t number);
/// 0 where it is none.
uint64_t decode_commit(std::string_view value);

/// Swallows what RocksDB tells.
std::shared_ptr<rocksdb::Logger> no_log();

}  // namespace tessera::store
