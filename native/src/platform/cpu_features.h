// The vector instructions that processor and operating system offer. Detected once, when a device
// is opened; tests choose a set by argument, never through the environment.
#pragma once

namespace tessera::platform {

struct CpuFeatures {
  bool avx2_fma = false;     // AVX2 and FMA
  bool avx_vnni = false;     // vpdpbusd of 256 bits
  bool avx512 = false;       // F, BW, DQ, VL
  bool avx512_bf16 = false;  // vdpbf16ps
  /// vdpbf16ps at the rate of multiply-adds, so that it does twice their work: of AMD's processors
  /// that have it. Intel's start one in the time of four multiply-adds.
  bool fast_bf16_dots = false;
  bool avx512_vnni = false;  // vpdpbusd of 512 bits
  /// Tiles with BF16 and INT8 products, of a processor with avx512, where the operating system
  /// saves the tiles and has granted them to this process.
  bool amx = false;
};

/// Asks the processor, and the operating system for tiles, which it grants to the whole process and
/// to threads started later. All false on other architectures.
CpuFeatures detect_cpu_features();

}  // namespace tessera::platform
