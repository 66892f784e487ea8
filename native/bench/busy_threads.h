// Which part of a fork each thread works: kernels that note when their products begin and end.
// Counts the time between two products of a thread as work; the wait at the fork's end is not.
#pragma once

#include <cstdint>

#include "device/kernel_table.h"

namespace tessera::bench {

/// Seconds of all threads together.
struct ThreadTime {
  double whole = 0;  // wall time of forks, times threads
  double idle = 0;   // of it, before a thread's first product and after its last

  double idle_share() const { return whole > 0 ? idle / whole : 0; }
  ThreadTime& operator+=(const ThreadTime& more) {
    whole += more.whole;
    idle += more.idle;
    return *this;
  }
};

/// `kernels` with products of `type` that note their times. One at a time in a process.
device::KernelTable noting_kernels(device::KernelTable kernels, device::PanelType type);

/// The two halves of thread_time(). REQUIRES: no product runs.
void forget_products();
ThreadTime time_of_products(uint32_t threads, double begin, double end);
double seconds_now();

/// Runs one fork of noting products over `threads` threads.
ThreadTime thread_time(uint32_t threads, const auto& fork) {
  forget_products();
  const double begin = seconds_now();
  fork();
  return time_of_products(threads, begin, seconds_now());
}

}  // namespace tessera::bench
