#include "store/ordered_store.h"

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

namespace tessera::store {
namespace {

constexpr uint64_t kWriteBufferBytes = uint64_t{32} << 20;
constexpr uint64_t kWalBytesMax = uint64_t{64} << 20;
constexpr uint64_t kBlockCacheBytes = uint64_t{64} << 20;
constexpr int kOpenFilesMax = 256;
constexpr double kFilterBitsPerKey = 10;  // most keys asked for are events that were never seen

Status failure(const rocksdb::Status& status, Code otherwise) {
  const Code code = status.IsCorruption() ? Code::kStoreCorrupt : otherwise;
  return {code, "store: " + status.ToString()};
}

rocksdb::Options options() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.paranoid_checks = true;
  options.write_buffer_size = kWriteBufferBytes;
  options.max_total_wal_size = kWalBytesMax;
  options.max_open_files = kOpenFilesMax;
  options.compression = rocksdb::kLZ4Compression;
  options.info_log_level = rocksdb::InfoLogLevel::ERROR_LEVEL;
  options.keep_log_file_num = 1;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  rocksdb::BlockBasedTableOptions table;
  table.format_version = 5;
  table.block_cache = rocksdb::NewLRUCache(kBlockCacheBytes);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kFilterBitsPerKey));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

}  // namespace

OrderedStore::OrderedStore(std::unique_ptr<rocksdb::DB> db) : db_(std::move(db)) {}
OrderedStore::~OrderedStore() = default;

Result<std::unique_ptr<OrderedStore>> OrderedStore::open(const std::string& folder) {
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(options(), folder, &db);
  if (!status.ok()) return failure(status, Code::kStoreInvalid);
  return std::unique_ptr<OrderedStore>(new OrderedStore(std::unique_ptr<rocksdb::DB>(db)));
}

Result<std::vector<std::optional<std::string>>> OrderedStore::get(
    std::span<const std::string> keys) const {
  const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  std::vector<std::string> found;
  const std::vector<rocksdb::Status> statuses =
      db_->MultiGet(rocksdb::ReadOptions(), slices, &found);
  std::vector<std::optional<std::string>> values(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].ok()) {
      values[i] = std::move(found[i]);
    } else if (!statuses[i].IsNotFound()) {
      return failure(statuses[i], Code::kIoFailed);
    }
  }
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
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options));
  range.descending ? at->SeekToLast() : at->SeekToFirst();
  while (at->Valid() && entries.size() < range.limit) {
    entries.emplace_back(at->key().ToString(), at->value().ToString());
    range.descending ? at->Prev() : at->Next();
  }
  if (!at->status().ok()) return failure(at->status(), Code::kIoFailed);
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
  rocksdb::WriteOptions options;
  options.sync = batch.durable;
  if (status.ok()) status = db_->Write(options, &changes);
  return status.ok() ? Status::ok() : failure(status, Code::kIoFailed);
}

}  // namespace tessera::store
