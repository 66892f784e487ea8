#include "platform/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tessera::platform {

Result<std::unique_ptr<FolderLock>> FolderLock::take(const std::string& path, Code refused) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return Status(refused, path + ": cannot be opened for writing: " + std::strerror(errno));
  }
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor);
    return Status(refused,
                  path + ": expected a folder of its own, got one that another process uses");
  }
  return std::unique_ptr<FolderLock>(new FolderLock(descriptor));
}

FolderLock::~FolderLock() { ::close(descriptor_); }

}  // namespace tessera::platform
