// An ordered map of byte strings in a folder, kept by RocksDB. Keys are ordered by their bytes.
// Thread-safety: every method from any thread; a batch is seen by others whole or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "store/store_state.h"

namespace rocksdb {
class FileSystem;
}

namespace tessera::store {

using Entry = std::pair<std::string, std::string>;  // key, value

/// Keys in [from, to), at most `limit` of them, ascending or (from the end of the range)
/// descending.
struct Range {
  std::string from;
  std::string to;
  uint32_t limit = 0;
  bool descending = false;
};

struct Query {
  std::vector<std::string> keys;
  std::vector<Range> ranges;
};

struct Found {
  std::vector<std::optional<std::string>> values;  // per key, none where it is not there
  std::vector<std::vector<Entry>> entries;         // per range
};

struct Batch {
  std::vector<std::string> erased;
  std::vector<Entry> put;  // after what is erased
  /// True: on the disk before the call returns; false: survives the process, not the machine.
  bool durable = false;
};

class GuardedDb;

struct StoreOptions {
  std::string folder;
  /// Free bytes of the file system below which nothing is written.
  uint64_t reserve_bytes = 0;
  /// Null: those of the system; tests give files that fail.
  std::shared_ptr<rocksdb::FileSystem> files = nullptr;
};

class OrderedStore {
 public:
  /// Entries and keys of a query that read_in_memory() gives at most: some 100 us.
  static constexpr size_t kInMemoryMax = 512;

  /// Opens or makes the folder. STORE_INVALID when it cannot be made or another process has it,
  /// STORE_CORRUPT when something that was acknowledged is not there. Where the disk takes no
  /// writes it is opened for reading; a new one is refused: STORE_FULL, STORE_UNAVAILABLE.
  static Result<std::unique_ptr<OrderedStore>> open(const StoreOptions& options);
  ~OrderedStore();
  OrderedStore(const OrderedStore&) = delete;
  OrderedStore& operator=(const OrderedStore&) = delete;

  /// STORE_CORRUPT when a checksum fails.
  Result<Found> read(const Query& query) const;
  /// Answers a short query from memory, without waiting for the disk or for a reopening. Empty: use
  /// read().
  std::optional<Found> read_in_memory(const Query& query) const;
  /// STORE_FULL or STORE_UNAVAILABLE when the disk refuses it: nothing of the batch counts then,
  /// and it may be tried again. IO_FAILED: it may be found after a restart.
  Status write(const Batch& batch);
  /// Rewrites the files so that no byte of what was erased in the ranges (their ends in them), or
  /// anywhere where none are given, is left in one. Takes seconds; reads and writes go on. Errors:
  /// as write().
  Status scrub(std::span<const Range> ranges);
  /// Goes on writing where that had ended and the disk is well. Errors: as write().
  Status recover();
  /// A system call at most.
  StoreState state() const;

 private:
  explicit OrderedStore(std::unique_ptr<GuardedDb> db);

  std::unique_ptr<GuardedDb> db_;
};

}  // namespace tessera::store
