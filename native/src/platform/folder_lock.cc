#include "platform/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tessera::platform {

Status lock_refusal(const std::string& path, int error, Code code) {
  if (error == EWOULDBLOCK) {
    return {code, path + ": expected a folder of its own, got one that another process uses"};
  }
  return {code, path + ": expected a file system that gives locks, got one that does not (" +
                    std::strerror(error) + "): use a local volume"};
}

Result<std::unique_ptr<FolderLock>> FolderLock::take(const std::string& path, Code refused) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return Status(refused, path + ": cannot be opened for writing: " + std::strerror(errno));
  }
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    ::close(descriptor);
    return lock_refusal(path, error, refused);
  }
  return std::unique_ptr<FolderLock>(new FolderLock(descriptor));
}

FolderLock::~FolderLock() { ::close(descriptor_); }

}  // namespace tessera::platform
