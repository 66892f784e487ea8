#include "store/ordered_store.h"

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <limits>

#include "store/guarded_db.h"
#include "store/ordered_store_options.h"

namespace tessera::store {
namespace {

constexpr uint64_t kWriteBufferBytes = uint64_t{32} << 20;
constexpr uint64_t kWalBytesMax = uint64_t{64} << 20;
constexpr uint64_t kBlockCacheBytes = uint64_t{64} << 20;
constexpr int kOpenFilesMax = 256;
constexpr double kFilterBitsPerKey = 10;  // most keys asked for are events that were never seen

struct Bounds {
  rocksdb::ReadTier tier;
  size_t entries_max;  // of a query; beyond them it is Incomplete
};

rocksdb::Status read_keys(rocksdb::DB& db, rocksdb::ReadTier tier,
                          std::span<const std::string> keys, Found& found) {
  rocksdb::ReadOptions options;
  options.read_tier = tier;
  const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  std::vector<std::string> values;
  const std::vector<rocksdb::Status> statuses = db.MultiGet(options, slices, &values);
  found.values.assign(keys.size(), std::nullopt);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].ok()) {
      found.values[i] = std::move(values[i]);
    } else if (!statuses[i].IsNotFound()) {
      return statuses[i];
    }
  }
  return rocksdb::Status::OK();
}

rocksdb::Status read_range(rocksdb::DB& db, const Bounds& bounds, const Range& range,
                           std::vector<Entry>& entries) {
  if (range.from >= range.to) return rocksdb::Status::OK();
  rocksdb::ReadOptions options;
  options.read_tier = bounds.tier;
  const rocksdb::Slice lower(range.from);
  const rocksdb::Slice upper(range.to);
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> at(db.NewIterator(options));
  range.descending ? at->SeekToLast() : at->SeekToFirst();
  while (at->Valid() && entries.size() < range.limit) {
    if (entries.size() == bounds.entries_max) return rocksdb::Status::Incomplete();
    const bool is_own = at->key() == rocksdb::Slice(kCommitKey.data(), kCommitKey.size());
    if (!is_own) entries.emplace_back(at->key().ToString(), at->value().ToString());
    range.descending ? at->Prev() : at->Next();
  }
  return at->status();
}

rocksdb::Status read_all(rocksdb::DB& db, Bounds bounds, const Query& query, Found& found) {
  if (query.keys.size() > bounds.entries_max) return rocksdb::Status::Incomplete();
  bounds.entries_max -= query.keys.size();
  if (!query.keys.empty()) {
    const rocksdb::Status status = read_keys(db, bounds.tier, query.keys, found);
    if (!status.ok()) return status;
  }
  for (const Range& range : query.ranges) {
    const rocksdb::Status status = read_range(db, bounds, range, found.entries.emplace_back());
    if (!status.ok()) return status;
    bounds.entries_max -= found.entries.back().size();
  }
  return rocksdb::Status::OK();
}

}  // namespace

rocksdb::Options ordered_store_options() {
  rocksdb::Options options;
  options.write_buffer_size = kWriteBufferBytes;
  options.max_total_wal_size = kWalBytesMax;
  options.max_open_files = kOpenFilesMax;
  options.compression = rocksdb::kLZ4Compression;
  rocksdb::BlockBasedTableOptions table;
  table.format_version = 5;
  table.block_cache = rocksdb::NewLRUCache(kBlockCacheBytes);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kFilterBitsPerKey));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

OrderedStore::OrderedStore(std::unique_ptr<GuardedDb> db) : db_(std::move(db)) {}
OrderedStore::~OrderedStore() = default;

Result<std::unique_ptr<OrderedStore>> OrderedStore::open(const StoreOptions& options) {
  DbSettings settings;
  settings.folder = options.folder;
  settings.reserve_bytes = options.reserve_bytes;
  settings.files = options.files;
  settings.options = ordered_store_options();
  Result<std::unique_ptr<GuardedDb>> db = GuardedDb::open(std::move(settings));
  if (!db.is_ok()) return db.status();
  return std::unique_ptr<OrderedStore>(new OrderedStore(std::move(db).value()));
}

Result<Found> OrderedStore::read(const Query& query) const {
  Found found;
  const Status read = db_->read([&](rocksdb::DB& db) {
    found = {};
    return read_all(db, {rocksdb::kReadAllTier, std::numeric_limits<size_t>::max()}, query, found);
  });
  if (!read.is_ok()) return read;
  return found;
}

std::optional<Found> OrderedStore::read_in_memory(const Query& query) const {
  Found found;
  const bool is_read = db_->read_at_once([&](rocksdb::DB& db) {
    return read_all(db, {rocksdb::kBlockCacheTier, kInMemoryMax}, query, found);
  });
  if (!is_read) return std::nullopt;
  return found;
}

Status OrderedStore::write(const Batch& batch) {
  rocksdb::WriteBatch changes;
  rocksdb::Status status;
  for (const std::string& key : batch.erased) {
    if (status.ok()) status = changes.Delete(key);
  }
  for (const auto& [key, value] : batch.put) {
    if (status.ok()) status = changes.Put(key, value);
  }
  if (!status.ok()) return {Code::kIoFailed, "store: " + status.ToString()};
  return db_->write(changes, batch.durable);
}

Status OrderedStore::scrub(std::span<const Range> ranges) {
  std::vector<KeyRange> keys;
  for (const Range& range : ranges) keys.push_back({range.from, range.to});
  return db_->scrub(keys);
}

Status OrderedStore::recover() { return db_->recover(); }

StoreState OrderedStore::state() const { return db_->state(); }

}  // namespace tessera::store
