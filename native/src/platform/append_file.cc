#include "platform/append_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "platform/folder_lock.h"
#include "platform/io_error.h"

namespace tessera::platform {
Result<AppendFile> AppendFile::open(const std::string& path, uint64_t bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) return io_error(path, "open");
  AppendFile file(descriptor, path);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    return lock_refusal(path, errno, Code::kIoFailed);
  }
  if (::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) return io_error(path, "cut");
  return file;
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status AppendFile::append(std::span<const std::byte> content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor_, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return io_error(path_, "write");
    }
    content = content.subspan(static_cast<size_t>(written));
  }
  return Status::ok();
}

Status AppendFile::cut(uint64_t bytes) {
  const bool is_cut = ::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0;
  return is_cut ? Status::ok() : io_error(path_, "cut");
}

Status AppendFile::sync() {
  return ::fdatasync(descriptor_) == 0 ? Status::ok() : io_error(path_, "sync");
}

}  // namespace tessera::platform
