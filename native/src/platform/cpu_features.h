// Which vector instructions the processor and the operating system offer. Detected once by whoever
// opens a device; tests choose a set by argument, never through the environment.
#pragma once

namespace tessera::platform {

struct CpuFeatures {
  bool avx2_fma = false;     // AVX2 and FMA
  bool avx512 = false;       // F, BW, DQ, VL
  bool avx512_bf16 = false;  // vdpbf16ps
  bool amx_bf16 = false;     // tiles with BF16 products, as the processor reports them
};

/// Asks the processor. All false on other architectures.
CpuFeatures detect_cpu_features();

}  // namespace tessera::platform
