#include "store/freezing_files.h"

#include <string_view>
#include <utility>

namespace tessera::store {
namespace {

using rocksdb::DataVerificationInfo;
using rocksdb::FileOptions;
using rocksdb::FSDirectory;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;
using SharedFreeze = std::shared_ptr<Freeze>;

constexpr std::string_view kLogSuffix = ".log";

/// Does what changes the disk, unless that is frozen, and freezes it where that fails.
template <typename Change>
IOStatus attempt(Freeze& freeze, const std::string& path, const Change& change) {
  if (freeze.is_on()) return IOStatus::OK();
  IOStatus status = change();
  // Not failures of the disk: RocksDB asks, and goes on.
  if (status.ok() || status.IsNotFound() || status.IsPathNotFound() || status.IsNotSupported()) {
    return status;
  }
  freeze.turn_on(path, status);
  return IOStatus::OK();
}

class FreezingFile final : public FSWritableFile {
 public:
  /// Without `target` where the file could not be made.
  FreezingFile(std::unique_ptr<FSWritableFile> target, std::string path, SharedFreeze freeze)
      : target_(std::move(target)), path_(std::move(path)), freeze_(std::move(freeze)) {
    is_log_ = std::string_view(path_).ends_with(kLogSuffix);
    if (target_) size_ = target_->GetFileSize(IOOptions(), nullptr);
  }

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    note_write();
    size_ += data.size();
    return change([&] { return target_->Append(data, options, dbg); });
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo&,
                  IODebugContext* dbg) override {
    return Append(data, options, dbg);
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override {
    note_write();
    size_ = offset + data.size();
    return change([&] { return target_->PositionedAppend(data, offset, options, dbg); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const DataVerificationInfo&, IODebugContext* dbg) override {
    return PositionedAppend(data, offset, options, dbg);
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override {
    size_ = size;
    return change([&] { return target_->Truncate(size, options, dbg); });
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return change([&] { return target_->Close(options, dbg); });
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    return change([&] { return target_->Flush(options, dbg); });
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return change([&] { return target_->Sync(options, dbg); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return change([&] { return target_->Fsync(options, dbg); });
  }
  IOStatus RangeSync(uint64_t offset, uint64_t bytes, const IOOptions& options,
                     IODebugContext* dbg) override {
    return change([&] { return target_->RangeSync(offset, bytes, options, dbg); });
  }
  // Hints: nothing is lost where they are not followed.
  void PrepareWrite(size_t offset, size_t bytes, const IOOptions& options,
                    IODebugContext* dbg) override {
    if (target_ && !freeze_->is_on()) target_->PrepareWrite(offset, bytes, options, dbg);
  }
  IOStatus Allocate(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  IOStatus InvalidateCache(size_t, size_t) override { return IOStatus::OK(); }

  bool IsSyncThreadSafe() const override { return true; }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return size_; }

 private:
  template <typename Change>
  IOStatus change(const Change& done) {
    if (!target_) return IOStatus::OK();
    const bool was_frozen = freeze_->is_on();
    IOStatus status = attempt(*freeze_, path_, done);
    if (!was_frozen && freeze_->is_on()) take_back();
    return status;
  }
  void note_write() {
    if (write_number_ == freeze_->write_number) return;
    write_number_ = freeze_->write_number;
    size_before_ = size_;
  }
  /// Takes the bytes of a failed write out of the log: the next start must not find them.
  void take_back() {
    if (!is_log_ || write_number_ == 0 || write_number_ != freeze_->write_number) return;
    target_->Truncate(size_before_, IOOptions(), nullptr).PermitUncheckedError();
  }

  const std::unique_ptr<FSWritableFile> target_;
  const std::string path_;
  const SharedFreeze freeze_;
  bool is_log_ = false;
  uint64_t size_ = 0;
  uint64_t write_number_ = 0;
  uint64_t size_before_ = 0;
};

class FreezingDirectory final : public rocksdb::FSDirectoryWrapper {
 public:
  FreezingDirectory(std::unique_ptr<FSDirectory>&& target, std::string path, SharedFreeze freeze)
      : FSDirectoryWrapper(std::move(target)), path_(std::move(path)), freeze_(std::move(freeze)) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return attempt(*freeze_, path_, [&] { return FSDirectoryWrapper::Fsync(options, dbg); });
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                               const rocksdb::DirFsyncOptions& which) override {
    return attempt(*freeze_, path_,
                   [&] { return FSDirectoryWrapper::FsyncWithDirOptions(options, dbg, which); });
  }

 private:
  const std::string path_;
  const SharedFreeze freeze_;
};

class FreezingFiles final : public rocksdb::FileSystemWrapper {
 public:
  FreezingFiles(std::shared_ptr<rocksdb::FileSystem> files, SharedFreeze freeze)
      : FileSystemWrapper(std::move(files)), freeze_(std::move(freeze)) {}
  const char* Name() const override { return "TesseraFreezingFiles"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    return made(path, file, [&](auto* made_file) {
      return FileSystemWrapper::NewWritableFile(path, options, made_file, dbg);
    });
  }
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    return made(path, file, [&](auto* made_file) {
      return FileSystemWrapper::ReopenWritableFile(path, options, made_file, dbg);
    });
  }
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* file,
                             IODebugContext* dbg) override {
    return made(path, file, [&](auto* made_file) {
      return FileSystemWrapper::ReuseWritableFile(path, old_path, options, made_file, dbg);
    });
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* directory, IODebugContext* dbg) override {
    std::unique_ptr<FSDirectory> target;
    IOStatus status = FileSystemWrapper::NewDirectory(path, options, &target, dbg);
    if (status.ok()) {
      *directory = std::make_unique<FreezingDirectory>(std::move(target), path, freeze_);
    }
    return status;
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override {
    return attempt(*freeze_, path,
                   [&] { return FileSystemWrapper::DeleteFile(path, options, dbg); });
  }
  IOStatus Truncate(const std::string& path, size_t size, const IOOptions& options,
                    IODebugContext* dbg) override {
    return attempt(*freeze_, path,
                   [&] { return FileSystemWrapper::Truncate(path, size, options, dbg); });
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    return attempt(*freeze_, to,
                   [&] { return FileSystemWrapper::RenameFile(from, to, options, dbg); });
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* dbg) override {
    return attempt(*freeze_, to,
                   [&] { return FileSystemWrapper::LinkFile(from, to, options, dbg); });
  }

 private:
  template <typename Make>
  IOStatus made(const std::string& path, std::unique_ptr<FSWritableFile>* file, const Make& make) {
    std::unique_ptr<FSWritableFile> target;
    const IOStatus status = attempt(*freeze_, path, [&] { return make(&target); });
    if (status.ok()) *file = std::make_unique<FreezingFile>(std::move(target), path, freeze_);
    return status;
  }

  const SharedFreeze freeze_;
};

}  // namespace

std::string Freeze::reason() const {
  const MutexLock lock(mutex_);
  return reason_;
}

void Freeze::turn_on(const std::string& path, const IOStatus& status) {
  const MutexLock lock(mutex_);
  if (is_on_) return;
  reason_ = path + ": " + status.ToString();
  is_full_ = status.IsNoSpace();
  is_on_ = true;
}

std::shared_ptr<rocksdb::FileSystem> freezing_files(std::shared_ptr<rocksdb::FileSystem> files,
                                                    std::shared_ptr<Freeze> freeze) {
  return std::make_shared<FreezingFiles>(std::move(files), std::move(freeze));
}

}  // namespace tessera::store
