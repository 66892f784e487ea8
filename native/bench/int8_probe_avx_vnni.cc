#include <immintrin.h>

#include "probes.h"

namespace tessera::bench {

float int8_probe_avx_vnni(uint64_t rounds) {
  __m256i sums[kFmaChains];
  for (__m256i& sum : sums) sum = _mm256_setzero_si256();
  const __m256i a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(-5);
  for (uint64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (__m256i& sum : sums) sum = _mm256_dpbusd_avx_epi32(sum, a, b);
  }
  for (const __m256i& sum : sums) sums[0] = _mm256_add_epi32(sums[0], sum);
  return static_cast<float>(_mm256_extract_epi32(sums[0], 0));
}

}  // namespace tessera::bench
