#include <immintrin.h>

#include "probes.h"

namespace tessera::bench {

float fma_probe_avx2(uint64_t rounds) {
  __m256 sums[kFmaChains];
  for (__m256& sum : sums) sum = _mm256_set1_ps(1.0f);
  const __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(0.001f);
  for (uint64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, a, b);
  }
  for (const __m256& sum : sums) sums[0] = _mm256_add_ps(sums[0], sum);
  return _mm256_cvtss_f32(sums[0]);
}

}  // namespace tessera::bench
