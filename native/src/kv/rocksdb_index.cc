#include <rocksdb/table.h>

#include <utility>
#include <vector>

#include "kv/head_index.h"
#include "store/guarded_db.h"

namespace tessera::kv {
namespace {

// Heads are a few kilobytes each: small buffers, and no compression of what is mostly random.
constexpr uint64_t kWriteBufferBytes = uint64_t{8} << 20;
constexpr uint64_t kWalBytesMax = uint64_t{16} << 20;
constexpr int kOpenFilesMax = 128;

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

class RocksDbIndex final : public HeadIndex {
 public:
  explicit RocksDbIndex(std::unique_ptr<store::GuardedDb> db) : db_(std::move(db)) {}

  Result<std::string> get(std::string_view key) override {
    std::string value;
    const Status status = db_->read([&](rocksdb::DB& db) {
      const rocksdb::Status found = db.Get(rocksdb::ReadOptions(), slice(key), &value);
      return found.IsNotFound() ? rocksdb::Status::OK() : found;
    });
    if (!status.is_ok()) return status;
    return value;
  }

  Status scan(
      const std::function<void(std::string_view key, std::string_view value)>& each) override {
    rocksdb::ReadOptions options;
    options.verify_checksums = true;
    options.fill_cache = false;
    return db_->read([&](rocksdb::DB& db) {
      const std::unique_ptr<rocksdb::Iterator> at(db.NewIterator(options));
      for (at->SeekToFirst(); at->Valid(); at->Next()) {
        if (at->key() == slice(store::kCommitKey)) continue;
        each({at->key().data(), at->key().size()}, {at->value().data(), at->value().size()});
      }
      return at->status();
    });
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
    if (!status.ok()) return {Code::kIoFailed, "index of the disk tier: " + status.ToString()};
    const Status written = db_->write(batch, true);
    const Code code = written.code();
    // Nothing of it counts then: the pool tries again later.
    const bool is_refused = code == Code::kStoreFull || code == Code::kStoreUnavailable;
    return is_refused ? Status(Code::kEngineOverloaded, written.message()) : written;
  }

  Status scrub(std::span<const std::string> keys) override {
    std::vector<store::KeyRange> ranges;
    for (const std::string& key : keys) ranges.push_back({key, key});
    return db_->scrub(ranges);
  }

 private:
  const std::unique_ptr<store::GuardedDb> db_;
};

}  // namespace

Result<std::unique_ptr<HeadIndex>> open_rocksdb_index(const std::string& folder) {
  store::DbSettings settings;
  settings.folder = folder;
  settings.name = "index of the disk tier";
  settings.is_verified = false;  // a cache: what is lost is computed again
  settings.corrupt = Code::kKvStoreCorrupt;
  settings.invalid = Code::kKvStoreInvalid;
  rocksdb::Options& options = settings.options;
  options.compression = rocksdb::kNoCompression;
  options.write_buffer_size = kWriteBufferBytes;
  options.max_total_wal_size = kWalBytesMax;
  options.max_open_files = kOpenFilesMax;
  rocksdb::BlockBasedTableOptions table;
  table.format_version = 5;
  table.no_block_cache = true;  // read once, at opening
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  Result<std::unique_ptr<store::GuardedDb>> db = store::GuardedDb::open(std::move(settings));
  if (!db.is_ok()) return db.status();
  return std::unique_ptr<HeadIndex>(new RocksDbIndex(std::move(db).value()));
}

}  // namespace tessera::kv
