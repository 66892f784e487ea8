// Which CPUs the process may run on, and keeping a thread on one of them.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::platform {

/// Numbers of the CPUs in the calling thread's affinity mask, ascending; never empty.
std::vector<uint32_t> usable_cpus();

/// Keeps the calling thread on one CPU. A system that refuses leaves it where it was.
void pin_this_thread(uint32_t cpu);

/// True on the process's first thread.
bool is_first_thread();

/// Keeps the threads that the process has by now, but not the calling one, from taking the CPU of a
/// thread that wakes them (SCHED_BATCH, sched(7)); their share of the CPUs stays. V8's threads,
/// which collect and compile for Node's, otherwise push it aside for a whole time slice in the
/// midst of a request. Returns how many threads that is; those that the system refuses are left
/// out.
uint32_t keep_other_threads_from_preempting();

}  // namespace tessera::platform
