// Which CPUs the process may run on, and keeping a thread on one of them.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::platform {

/// Numbers of the CPUs in the calling thread's affinity mask, ascending; never empty.
std::vector<uint32_t> usable_cpus();

/// Keeps the calling thread on one CPU. A system that refuses leaves it where it was.
void pin_this_thread(uint32_t cpu);

}  // namespace tessera::platform
