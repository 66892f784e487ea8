#include <immintrin.h>

#include "probes.h"

namespace tessera::bench {

float fma_probe_avx512(uint64_t rounds) {
  __m512 sums[kFmaChains];
  for (__m512& sum : sums) sum = _mm512_set1_ps(1.0f);
  const __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(0.001f);
  for (uint64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, a, b);
  }
  for (const __m512& sum : sums) sums[0] = _mm512_add_ps(sums[0], sum);
  return _mm512_cvtss_f32(sums[0]);
}

}  // namespace tessera::bench
