#include <immintrin.h>

#include "probes.h"

namespace tessera::bench {

float int8_probe_avx512_vnni(uint64_t rounds) {
  __m512i sums[kFmaChains];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  const __m512i a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(-5);
  for (uint64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (__m512i& sum : sums) sum = _mm512_dpbusd_epi32(sum, a, b);
  }
  for (const __m512i& sum : sums) sums[0] = _mm512_add_epi32(sums[0], sum);
  return static_cast<float>(_mm_cvtsi128_si32(_mm512_castsi512_si128(sums[0])));
}

}  // namespace tessera::bench
