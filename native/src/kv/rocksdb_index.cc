#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <utility>

#include "kv/head_index.h"

namespace tessera::kv {
namespace {

// Heads are a few kilobytes each: small buffers, and no compression of what is mostly random.
constexpr uint64_t kWriteBufferBytes = uint64_t{8} << 20;
constexpr uint64_t kWalBytesMax = uint64_t{16} << 20;
constexpr int kOpenFilesMax = 128;

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

Status translate(const rocksdb::Status& status, Code otherwise) {
  if (status.ok()) return Status::ok();
  const Code code = status.IsCorruption() ? Code::kKvStoreCorrupt : otherwise;
  return {code, "index of the disk tier: " + status.ToString()};
}

class RocksDbIndex final : public HeadIndex {
 public:
  explicit RocksDbIndex(std::unique_ptr<rocksdb::DB> db) : db_(std::move(db)) {}

  Result<std::string> get(std::string_view key) override {
    std::string value;
    const rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), slice(key), &value);
    if (status.IsNotFound()) return std::string();
    if (!status.ok()) return translate(status, Code::kKvStoreCorrupt);
    return value;
  }

  Status scan(
      const std::function<void(std::string_view key, std::string_view value)>& each) override {
    rocksdb::ReadOptions options;
    options.verify_checksums = true;
    options.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options));
    for (at->SeekToFirst(); at->Valid(); at->Next()) {
      each({at->key().data(), at->key().size()}, {at->value().data(), at->value().size()});
    }
    return translate(at->status(), Code::kKvStoreCorrupt);
  }

  Status commit(std::span<const std::string> erased, std::span<const Entry> put) override {
    rocksdb::WriteBatch batch;
    rocksdb::Status status;
    for (const std::string& key : erased) {
      if (status.ok()) status = batch.Delete(key);
    }
    for (const Entry& entry : put) {
      if (status.ok()) status = batch.Put(entry.key, entry.value);
    }
    rocksdb::WriteOptions options;
    options.sync = true;
    if (status.ok()) status = db_->Write(options, &batch);
    if (status.ok()) return Status::ok();
    return {Code::kIoFailed, "index of the disk tier: " + status.ToString()};
  }

  Status compact() override {
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    return translate(db_->CompactRange(options, nullptr, nullptr), Code::kIoFailed);
  }

 private:
  const std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace

Result<std::unique_ptr<HeadIndex>> open_rocksdb_index(const std::string& folder) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.paranoid_checks = true;
  options.compression = rocksdb::kNoCompression;
  options.write_buffer_size = kWriteBufferBytes;
  options.max_total_wal_size = kWalBytesMax;
  options.max_open_files = kOpenFilesMax;
  options.info_log_level = rocksdb::InfoLogLevel::ERROR_LEVEL;
  options.keep_log_file_num = 1;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  rocksdb::BlockBasedTableOptions table;
  table.format_version = 5;
  table.no_block_cache = true;  // read once, at opening
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(options, folder, &db);
  if (!status.ok()) return translate(status, Code::kKvStoreInvalid);
  return std::unique_ptr<HeadIndex>(new RocksDbIndex(std::unique_ptr<rocksdb::DB>(db)));
}

}  // namespace tessera::kv
