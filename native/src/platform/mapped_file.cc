#include "platform/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "platform/first_bytes.h"
#include "platform/io_error.h"

namespace tessera::platform {
Result<MappedFile> MappedFile::open(const std::string& path, Code missing) {
  // Non-blocking: opening a FIFO must not wait for a writer. The check below refuses it.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) return Status(missing, path + ": no such file");
    return io_error(path, "open", error);
  }
  struct stat info {};
  MappedFile file;
  Status status;
  if (::fstat(descriptor, &info) != 0) {
    status = io_error(path, "stat");
  } else if (!S_ISREG(info.st_mode)) {
    status = Status(Code::kIoFailed, path + ": expected a regular file");
  } else if (info.st_size > 0) {
    const size_t size = static_cast<size_t>(info.st_size);
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (data == MAP_FAILED) {
      status = io_error(path, "map");
    } else {
      file.data_ = static_cast<const std::byte*>(data);
      file.size_ = size;
    }
  }
  ::close(descriptor);
  if (!status.is_ok()) return status;
  if (const std::string_view other = foreign_content(file.bytes()); !other.empty()) {
    return Status(missing, path + ": expected the file, got " + std::string(other));
  }
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

std::string_view MappedFile::text() const {
  std::string_view text(reinterpret_cast<const char*>(data_), size_);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return text;
}

void MappedFile::release(std::span<const std::byte> part) const {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace tessera::platform
