// Checks that the tables and write-ahead logs of a database hold every numbered write.
#pragma once

#include <rocksdb/wal_filter.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "store/guarded_db.h"

namespace tessera::store {

/// The commits of a closed database, as a start would find them.
struct CommitCount {
  /// Writes 1..readable are there; 0 where writes are not numbered: older than numbers, or new.
  uint64_t readable = 0;
  uint64_t acknowledged = 0;  // by the file of marks: at least
  bool is_new = false;        // nothing is there
  /// Writes between those in tables and those in logs are missing: a table is not in the manifest.
  bool lacks_tables = false;
  /// Empty: all that was acknowledged is there. Otherwise what is damaged, and where.
  std::string damage;
};

/// Reads the manifest, the index of each table and all write-ahead logs, and changes nothing.
/// Errors: IO_FAILED, `invalid`. Damage is no error here.
Result<CommitCount> count_commits(const DbSettings& settings);

/// True if opening failed because of the files' content, not because the system refused.
bool is_damage(const rocksdb::Status& status);

/// The number that a batch carries, 0 for none; nothing where it is no write of ours. A record of
/// another file of RocksDB is framed and checksummed alike: replayed as a write it ends the process
/// where RocksDB was built with its assertions.
std::optional<uint64_t> commit_of(const rocksdb::WriteBatch& batch);
std::string encode_commit(uint64_t number);
/// 0 where it is none.
uint64_t decode_commit(std::string_view value);

/// Lets a log be replayed that holds writes of ours and nothing else; another record is damage.
class OnlyWrites final : public rocksdb::WalFilter {
 public:
  const char* Name() const override { return "TesseraOnlyWrites"; }
  WalProcessingOption LogRecordFound(unsigned long long log, const std::string& file,
                                     const rocksdb::WriteBatch& batch, rocksdb::WriteBatch* changed,
                                     bool* is_changed) override;
};

/// Swallows what RocksDB tells.
std::shared_ptr<rocksdb::Logger> no_log();

}  // namespace tessera::store
