#include "cuda/device/kernel.h"

#include "cuda/kernels/check_kernels.h"

namespace tessera::ops::cuda {

TESSERA_KERNEL tessera_check_rows(RowCheck check) {
  constexpr uint32_t kExponent = 0x7F80u;  // all ones: infinity or not a number
  const uint16_t* row = check.rows + static_cast<size_t>(blockIdx.x) * check.size;
  for (uint32_t i = threadIdx.x; i < check.size; i += kRowThreads) {
    if ((row[i] & kExponent) == kExponent) check.struck[check.owners[blockIdx.x]] = 1;
  }
}

}  // namespace tessera::ops::cuda
