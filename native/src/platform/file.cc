#include "platform/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "platform/io_error.h"

namespace tessera::platform {
namespace {

Status write_all(int descriptor, const std::string& path, std::span<const std::byte> content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return io_error(path, "write");
    }
    content = content.subspan(static_cast<size_t>(written));
  }
  return Status::ok();
}

/// Unique among the threads of this process and among processes, so that two writers never share a
/// file.
std::string temporary_name(const std::string& path) {
  static std::atomic<uint64_t> counter{0};
  return path + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(counter.fetch_add(1));
}

Status sync_folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return io_error(folder, "open");
  const bool synced = ::fsync(descriptor) == 0;
  const Status status = synced ? Status::ok() : io_error(folder, "sync");
  ::close(descriptor);
  return status;
}

}  // namespace

Status write_file_atomically(const std::string& path,
                             const std::function<Status(const Sink&)>& produce) {
  const std::string temporary = temporary_name(path);
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0) return io_error(temporary, "create");
  Status status = produce([&](std::span<const std::byte> content) {
    return write_all(descriptor, temporary, content);
  });
  if (status.is_ok() && ::fsync(descriptor) != 0) status = io_error(temporary, "sync");
  if (::close(descriptor) != 0 && status.is_ok()) status = io_error(temporary, "close");
  if (status.is_ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = io_error(path, "rename into place");
  }
  if (!status.is_ok()) {
    ::unlink(temporary.c_str());
    return status;
  }
  return sync_folder_of(path);
}

Status write_file_atomically(const std::string& path, std::span<const std::byte> content) {
  return write_file_atomically(path, [&](const Sink& sink) { return sink(content); });
}

Status move_file(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return io_error(to, "rename into place");
  return sync_folder_of(to);
}

bool exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

}  // namespace tessera::platform
