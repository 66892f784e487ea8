// The real disk tier with files that do what tests tell them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "kv/disk_store.h"
#include "kv/memory.h"

namespace tessera::kv {

struct FileFaults {
  int read_errno = 0;  // of the next `reads` reads
  std::atomic<uint32_t> reads = 0;
  int write_errno = 0;  // of the next `writes` writes
  std::atomic<uint32_t> writes = 0;
  int sync_errno = 0;
  bool is_short = false;        // every call does 4096 bytes at most
  bool is_interrupted = false;  // every other call is
  uint64_t space_left = uint64_t{1} << 40;
  bool fails_commit = false;
  std::atomic<uint64_t> calls = 0;
};

class FaultyFile final : public File {
 public:
  FaultyFile(std::unique_ptr<File> file, FileFaults& faults)
      : file_(std::move(file)), faults_(faults) {}

  int64_t read_some(uint64_t offset, std::span<std::byte> to) override {
    if (const int64_t error = next(faults_.reads, faults_.read_errno)) return error;
    return file_->read_some(offset, to.first(most(to.size())));
  }
  int64_t write_some(uint64_t offset, std::span<const std::byte> from) override {
    if (const int64_t error = next(faults_.writes, faults_.write_errno)) return error;
    return file_->write_some(offset, from.first(most(from.size())));
  }
  int sync() override { return faults_.sync_errno != 0 ? -faults_.sync_errno : file_->sync(); }
  int punch(uint64_t offset, uint64_t size) override { return file_->punch(offset, size); }
  uint64_t space_left() override { return faults_.space_left; }
  bool is_direct() const override { return file_->is_direct(); }

 private:
  int64_t next(std::atomic<uint32_t>& left, int error) {
    if (faults_.is_interrupted && faults_.calls++ % 2 == 0) return -EINTR;
    if (left == 0) return 0;
    --left;
    return -error;
  }
  uint64_t most(uint64_t size) const {
    return faults_.is_short ? std::min<uint64_t>(size, 4096) : size;
  }

  const std::unique_ptr<File> file_;
  FileFaults& faults_;
};

class FaultyIndex final : public HeadIndex {
 public:
  FaultyIndex(std::unique_ptr<HeadIndex> index, FileFaults& faults)
      : index_(std::move(index)), faults_(faults) {}

  Result<std::string> get(std::string_view key) override { return index_->get(key); }
  Status scan(
      const std::function<void(std::string_view key, std::string_view value)>& each) override {
    return index_->scan(each);
  }
  Status commit(std::span<const std::string> erased, std::span<const Entry> put) override {
    if (faults_.fails_commit) return {Code::kIoFailed, "commit"};
    return index_->commit(erased, put);
  }
  Status scrub(std::span<const std::string> keys) override { return index_->scrub(keys); }

 private:
  const std::unique_ptr<HeadIndex> index_;
  FileFaults& faults_;
};

/// Opens the files of `layout` as DiskStore::open does, behind the faults, which outlive the store.
inline std::unique_ptr<BlockStore> open_faulty(const DiskLayout& layout, FileFaults& faults) {
  auto index = open_rocksdb_index(layout.folder + "/index");
  auto blocks =
      open_file(layout.folder + "/blocks", slot_stride(layout.block_bytes) * layout.slot_count);
  return std::make_unique<DiskStore>(
      layout, std::make_unique<FaultyFile>(std::move(blocks).value(), faults),
      std::make_unique<FaultyIndex>(std::move(index).value(), faults), nullptr);
}

}  // namespace tessera::kv
