// The kernel tables of the CPU, one per instruction set. A table may be used only where its
// instructions exist.
#pragma once

#include "device/kernel_table.h"

namespace tessera::device::cpu {

const KernelTable& portable_kernels();
#if defined(__x86_64__)
const KernelTable& avx2_kernels();
const KernelTable& avx512_kernels();
#endif

}  // namespace tessera::device::cpu
