// The system's files with failures that tests ask for.
#pragma once

#include <rocksdb/file_system.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace tessera::store {

/// Changes of the disk are counted; those numbered fail_from and further, fail_count of them, fail.
struct FileFaults {
  std::atomic<uint64_t> operations = 0;
  std::atomic<uint64_t> fail_from = ~uint64_t{0};
  std::atomic<uint64_t> fail_count = 0;
  std::atomic<bool> is_full = true;  // ENOSPC, otherwise EIO
  std::atomic<uint64_t> failures = 0;

  bool fails() {
    const uint64_t number = operations++;
    const bool does = number >= fail_from && number - fail_from < fail_count;
    failures += does ? 1 : 0;
    return does;
  }
  rocksdb::IOStatus failure() const {
    return is_full ? rocksdb::IOStatus::NoSpace("as the test says")
                   : rocksdb::IOStatus::IOError("as the test says");
  }
  void heal() { fail_count = 0; }
};

class FaultyFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using IOStatus = rocksdb::IOStatus;
  FaultyFile(std::unique_ptr<rocksdb::FSWritableFile>&& file, FileFaults& faults)
      : FSWritableFileOwnerWrapper(std::move(file)), faults_(faults) {}

  using FSWritableFileOwnerWrapper::Append;
  IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                  rocksdb::IODebugContext* dbg) override {
    if (!faults_.fails()) return FSWritableFileOwnerWrapper::Append(data, options, dbg);
    const rocksdb::Slice half(data.data(), data.size() / 2);
    FSWritableFileOwnerWrapper::Append(half, options, dbg).PermitUncheckedError();
    return faults_.failure();
  }
  IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* dbg) override {
    return faults_.fails() ? faults_.failure() : FSWritableFileOwnerWrapper::Sync(options, dbg);
  }
  IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* dbg) override {
    return faults_.fails() ? faults_.failure() : FSWritableFileOwnerWrapper::Fsync(options, dbg);
  }
  IOStatus Close(const rocksdb::IOOptions& options, rocksdb::IODebugContext* dbg) override {
    return faults_.fails() ? faults_.failure() : FSWritableFileOwnerWrapper::Close(options, dbg);
  }

 private:
  FileFaults& faults_;
};

class FaultyFiles final : public rocksdb::FileSystemWrapper {
 public:
  using IOStatus = rocksdb::IOStatus;
  explicit FaultyFiles(FileFaults& faults)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), faults_(faults) {}
  const char* Name() const override { return "TesseraFaultyFiles"; }

  IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           rocksdb::IODebugContext* dbg) override {
    if (faults_.fails()) return faults_.failure();
    std::unique_ptr<rocksdb::FSWritableFile> made;
    IOStatus status = FileSystemWrapper::NewWritableFile(path, options, &made, dbg);
    if (status.ok()) *file = std::make_unique<FaultyFile>(std::move(made), faults_);
    return status;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to,
                      const rocksdb::IOOptions& options, rocksdb::IODebugContext* dbg) override {
    return faults_.fails() ? faults_.failure()
                           : FileSystemWrapper::RenameFile(from, to, options, dbg);
  }
  IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                      rocksdb::IODebugContext* dbg) override {
    return faults_.fails() ? faults_.failure() : FileSystemWrapper::DeleteFile(path, options, dbg);
  }

 private:
  FileFaults& faults_;
};

}  // namespace tessera::store
