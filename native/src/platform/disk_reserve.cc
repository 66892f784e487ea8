#include "platform/disk_reserve.h"

#include <sys/statvfs.h>

#include <limits>

namespace tessera::platform {

uint64_t free_bytes(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) return std::numeric_limits<uint64_t>::max();
  return static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
}

Status DiskReserve::check(uint64_t bytes) const {
  if (bytes_ == 0) return Status::ok();
  const uint64_t found = free_bytes(folder_);
  if (found >= bytes && found - bytes >= bytes_) return Status::ok();
  return {Code::kStoreFull, folder_ + ": expected " + std::to_string(bytes_) +
                                " bytes free beside what is written (disk.reserveBytes), got " +
                                std::to_string(found)};
}

}  // namespace tessera::platform
