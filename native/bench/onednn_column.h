// The same products by oneDNN, where it is installed when the benchmark is built (Debian:
// libdnnl-dev). Never linked into the product.
#pragma once

#include <cstdint>

namespace tessera::bench {

/// FLOP/s of [rows, k] x [k, n] with weights packed beforehand, at its best within `budget`
/// seconds; its threads are OMP_NUM_THREADS. 0 where the library is not installed or lacks the
/// type.
double onednn_flops(bool is_bf16, uint64_t rows, uint64_t n, uint64_t k, double budget);

}  // namespace tessera::bench
