// How an operation spreads its rows over the device's threads. Private to ops.
#pragma once

#include <cstdint>

#include "device/device.h"

namespace tessera::ops {

/// Below this much work (elements touched) a fork costs more than it saves.
inline constexpr uint64_t kForkThreshold = 1u << 15;

/// Calls fn(begin, end) over [0, rows), on several threads when rows * elements_per_row is worth
/// it.
template <typename Fn>
void for_rows(device::Device& device, uint64_t rows, uint64_t elements_per_row, Fn&& fn) {
  if (rows * elements_per_row < kForkThreshold) {
    if (rows > 0) fn(0, rows);
  } else {
    device.threads().parallel_for(rows, fn);
  }
}

}  // namespace tessera::ops
