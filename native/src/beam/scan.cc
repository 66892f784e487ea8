#include "beam/scan.h"

#include "platform/cpu_features.h"

namespace tessera::beam {

const ScanKernels& best_scan_kernels() {
#if defined(__x86_64__)
  const platform::CpuFeatures features = platform::detect_cpu_features();
  if (features.avx512) return kAvx512Scan;
  if (features.avx2_fma) return kAvx2Scan;
#endif
  return kPortableScan;
}

}  // namespace tessera::beam
