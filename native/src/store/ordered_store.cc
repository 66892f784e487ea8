#include "store/ordered_store.h"

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include "store/guarded_db.h"
#include "store/ordered_store_options.h"

namespace tessera::store {
namespace {

constexpr uint64_t kWriteBufferBytes = uint64_t{32} << 20;
constexpr uint64_t kWalBytesMax = uint64_t{64} << 20;
constexpr uint64_t kBlockCacheBytes = uint64_t{64} << 20;
constexpr int kOpenFilesMax = 256;
constexpr double kFilterBitsPerKey = 10;  // most keys asked for are events that were never seen

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

Result<std::vector<std::optional<std::string>>> OrderedStore::get(
    std::span<const std::string> keys) const {
  const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  std::vector<std::optional<std::string>> values;
  const Status read = db_->read([&](rocksdb::DB& db) {
    std::vector<std::string> found;
    const std::vector<rocksdb::Status> statuses =
        db.MultiGet(rocksdb::ReadOptions(), slices, &found);
    values.assign(keys.size(), std::nullopt);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (statuses[i].ok()) {
        values[i] = std::move(found[i]);
      } else if (!statuses[i].IsNotFound()) {
        return statuses[i];
      }
    }
    return rocksdb::Status::OK();
  });
  if (!read.is_ok()) return read;
  return values;
}

Result<std::vector<Entry>> OrderedStore::scan(const Range& range) const {
  std::vector<Entry> entries;
  if (range.from >= range.to) return entries;
  rocksdb::ReadOptions options;
  const rocksdb::Slice lower(range.from);
  const rocksdb::Slice upper(range.to);
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  const Status read = db_->read([&](rocksdb::DB& db) {
    entries.clear();
    const std::unique_ptr<rocksdb::Iterator> at(db.NewIterator(options));
    range.descending ? at->SeekToLast() : at->SeekToFirst();
    while (at->Valid() && entries.size() < range.limit) {
      const bool is_own = at->key() == rocksdb::Slice(kCommitKey.data(), kCommitKey.size());
      if (!is_own) entries.emplace_back(at->key().ToString(), at->value().ToString());
      range.descending ? at->Prev() : at->Next();
    }
    return at->status();
  });
  if (!read.is_ok()) return read;
  return entries;
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

Status OrderedStore::recover() { return db_->recover(); }

StoreState OrderedStore::state() const { return db_->state(); }

}  // namespace tessera::store
