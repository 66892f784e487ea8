// The free bytes of a file system below which a store stops writing, so that what must still be
// written (a log that is cut, a table that is flushed, a registry that is replaced) finds space.
// Thread-safety: immutable.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace tessera::platform {

class DiskReserve {
 public:
  DiskReserve() = default;  // nothing is reserved
  DiskReserve(std::string folder, uint64_t bytes) : folder_(std::move(folder)), bytes_(bytes) {}

  /// STORE_FULL where less than the reserve and `bytes` more is free. A system call.
  Status check(uint64_t bytes) const;

 private:
  std::string folder_;
  uint64_t bytes_ = 0;
};

/// Bytes that the file system of `path` has left; all of them where it does not say.
uint64_t free_bytes(const std::string& path);

}  // namespace tessera::platform
