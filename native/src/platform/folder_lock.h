// One process at a time in a folder.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"

namespace tessera::platform {

/// Why a lock was not given: `error` is the errno; another process has it, or the folder cannot be
/// locked.
Status lock_refusal(const std::string& path, int error, Code code);

/// A lock on the file `path` against other processes, held until destroyed.
class FolderLock {
 public:
  /// Errors: `refused` when another process holds it, the file cannot be made, or the file system
  /// has no locks.
  static Result<std::unique_ptr<FolderLock>> take(const std::string& path, Code refused);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  const int descriptor_;
};

}  // namespace tessera::platform
