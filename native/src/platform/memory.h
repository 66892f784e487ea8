// The memory that the machine can still give.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::platform {

/// Bytes that can be allocated without swapping: MemAvailable of /proc/meminfo, lowered to what the
/// process's memory cgroup and those around it have left (versions 1 and 2), where pages of files
/// that nobody has touched lately count as left: the system takes them back. The largest uint64_t
/// when the system does not say. `root`: folder that /proc and /sys are in, with a / at its end.
uint64_t available_memory_bytes(const std::string& root = "/");

}  // namespace tessera::platform
