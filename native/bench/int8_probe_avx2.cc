#include <immintrin.h>

#include "probes.h"

namespace tessera::bench {

float int8_probe_avx2(uint64_t rounds) {
  __m256i sums[kInt8Chains], factors[kInt8Chains];
  for (uint64_t i = 0; i < kInt8Chains; ++i) {
    sums[i] = _mm256_setzero_si256();
    factors[i] = _mm256_set1_epi16(static_cast<int16_t>(i + 3));
  }
  __m256i other = _mm256_set1_epi16(7);
  for (uint64_t round = 0; round < rounds; ++round) {
    asm volatile("" : "+x"(other));  // the products are to be made anew
#pragma GCC unroll 6
    for (uint64_t i = 0; i < kInt8Chains; ++i) {
      sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(factors[i], other));
    }
  }
  for (const __m256i& sum : sums) sums[0] = _mm256_add_epi32(sums[0], sum);
  return static_cast<float>(_mm256_extract_epi32(sums[0], 0));
}

}  // namespace tessera::bench
