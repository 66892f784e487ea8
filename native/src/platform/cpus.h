// The scheduling of the process's threads.
#pragma once

#include <cstdint>

namespace tessera::platform {

/// True on the process's first thread.
bool is_first_thread();

/// Keeps the threads that the process has by now, but not the calling one, from taking the CPU of a
/// thread that wakes them (SCHED_BATCH, sched(7)); their share of the CPUs stays. V8's threads,
/// which collect and compile for Node's, otherwise push it aside for a whole time slice in the
/// midst of a request. Returns how many threads that is; those that the system refuses are left
/// out.
uint32_t keep_other_threads_from_preempting();

}  // namespace tessera::platform
