// The memory that the machine can still give.
#pragma once

#include <cstdint>

namespace tessera::platform {

/// Bytes that can be allocated without swapping: MemAvailable of /proc/meminfo, lowered to what the
/// process's memory cgroup (v2) has left. The largest uint64_t when the system does not say.
uint64_t available_memory_bytes();

}  // namespace tessera::platform
