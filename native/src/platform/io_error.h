// The status of a failed system call on a file.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "base/status.h"

namespace tessera::platform {

/// STORE_FULL or IO_FAILED with the path, what could not be done and the reason that `error` stands
/// for.
inline Status io_error(const std::string& path, const char* what, int error = errno) {
  const bool is_full = error == ENOSPC || error == EDQUOT;
  return {is_full ? Code::kStoreFull : Code::kIoFailed,
          path + ": cannot " + what + ": " + std::strerror(error)};
}

}  // namespace tessera::platform
