#include "kv/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tessera::kv {
namespace {

Status cannot(const std::string& what, const std::string& path, int error) {
  return {Code::kKvStoreInvalid, path + ": " + what + ": " + std::strerror(error)};
}

class SystemFile final : public File {
 public:
  SystemFile(int descriptor, bool is_direct) : descriptor_(descriptor), is_direct_(is_direct) {}
  ~SystemFile() override { ::close(descriptor_); }

  int64_t read_some(uint64_t offset, std::span<std::byte> to) override {
    const ssize_t done = ::pread(descriptor_, to.data(), to.size(), static_cast<off_t>(offset));
    return done < 0 ? -errno : done;
  }
  int64_t write_some(uint64_t offset, std::span<const std::byte> from) override {
    const ssize_t done =
        ::pwrite(descriptor_, from.data(), from.size(), static_cast<off_t>(offset));
    return done < 0 ? -errno : done;
  }
  int sync() override { return ::fdatasync(descriptor_) == 0 ? 0 : -errno; }
  int punch(uint64_t offset, uint64_t size) override {
    constexpr int kMode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    const int done =
        ::fallocate(descriptor_, kMode, static_cast<off_t>(offset), static_cast<off_t>(size));
    return done == 0 ? 0 : -errno;
  }
  uint64_t space_left() override {
    struct statvfs info;
    if (::fstatvfs(descriptor_, &info) != 0) return 0;
    return static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
  }
  bool is_direct() const override { return is_direct_; }

 private:
  const int descriptor_;
  const bool is_direct_;
};

}  // namespace

Result<std::unique_ptr<File>> open_file(const std::string& path, uint64_t size) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC;
  constexpr mode_t kMode = 0600;
  bool is_direct = true;
  int descriptor = ::open(path.c_str(), kFlags | O_DIRECT, kMode);
  if (descriptor < 0 && errno == EINVAL) {  // a file system without direct access
    is_direct = false;
    descriptor = ::open(path.c_str(), kFlags, kMode);
  }
  if (descriptor < 0) return cannot("cannot be opened for writing", path, errno);
  auto file = std::make_unique<SystemFile>(descriptor, is_direct);
  struct stat info;
  if (::fstat(descriptor, &info) != 0) return cannot("has no size", path, errno);
  struct statvfs disk;
  if (::fstatvfs(descriptor, &disk) == 0 && disk.f_blocks * disk.f_frsize < size) {
    return Status(Code::kKvPoolInvalid, path + ": expected a file system of at least " +
                                            std::to_string(size) + " bytes, got " +
                                            std::to_string(disk.f_blocks * disk.f_frsize));
  }
  if (static_cast<uint64_t>(info.st_size) < size &&
      ::ftruncate(descriptor, static_cast<off_t>(size)) != 0) {
    return cannot("cannot grow to " + std::to_string(size) + " bytes", path, errno);
  }
  return std::unique_ptr<File>(std::move(file));
}

}  // namespace tessera::kv
