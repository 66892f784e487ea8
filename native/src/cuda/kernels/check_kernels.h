// Checks on a card that the rows of a pass are finite.
//
//   tessera_check_rows       grid (rows), block kRowThreads
#pragma once

#include <cstdint>

#include "cuda/kernels/row_kernels.h"

namespace tessera::ops::cuda {

struct RowCheck {
  const uint16_t* rows = nullptr;  // [rows][size], BF16
  uint32_t size = 0;
  const uint32_t* owners = nullptr;  // [rows]
  uint32_t* struck = nullptr;  // [owners]: 1 where a row of the owner is not finite; else kept
};

}  // namespace tessera::ops::cuda
