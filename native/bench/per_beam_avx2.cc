#include "per_beam_avx2.h"

#include <immintrin.h>

namespace tessera::bench {
namespace {

constexpr uint32_t kKeys = 4;    // positions scored at a time
constexpr uint32_t kChunk = 32;  // dimensions weighed at a time
constexpr uint32_t kWords = kChunk / 8;

float sum(__m256 x) {
  const __m128 by4 = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 by2 = _mm_add_ps(by4, _mm_movehl_ps(by4, by4));
  return _mm_cvtss_f32(_mm_add_ss(by2, _mm_movehdup_ps(by2)));
}

void score(const float* q, const float* keys, uint32_t positions, float* scores) {
  for (uint32_t p = 0; p < positions; p += kKeys) {
    __m256 sums[2][kKeys];
    for (auto& row : sums) {
      for (__m256& lane : row) lane = _mm256_setzero_ps();
    }
    for (uint32_t d = 0; d < kPerBeamDim; d += 8) {
      const __m256 first = _mm256_loadu_ps(q + d), second = _mm256_loadu_ps(q + kPerBeamDim + d);
      for (uint32_t j = 0; j < kKeys; ++j) {
        const __m256 key = _mm256_loadu_ps(keys + (p + j) * kPerBeamDim + d);
        sums[0][j] = _mm256_fmadd_ps(first, key, sums[0][j]);
        sums[1][j] = _mm256_fmadd_ps(second, key, sums[1][j]);
      }
    }
    for (uint32_t i = 0; i < 2; ++i) {
      for (uint32_t j = 0; j < kKeys; ++j) scores[i * positions + p + j] = sum(sums[i][j]);
    }
  }
}

void weigh(const float* weights, const float* values, uint32_t positions, float* out) {
  for (uint32_t d = 0; d < kPerBeamDim; d += kChunk) {
    __m256 sums[2][kWords];
    for (auto& row : sums) {
      for (__m256& lane : row) lane = _mm256_setzero_ps();
    }
    for (uint32_t p = 0; p < positions; ++p) {
      const __m256 first = _mm256_set1_ps(weights[p]);
      const __m256 second = _mm256_set1_ps(weights[positions + p]);
      for (uint32_t j = 0; j < kWords; ++j) {
        const __m256 value = _mm256_loadu_ps(values + p * kPerBeamDim + d + 8 * j);
        sums[0][j] = _mm256_fmadd_ps(first, value, sums[0][j]);
        sums[1][j] = _mm256_fmadd_ps(second, value, sums[1][j]);
      }
    }
    for (uint32_t i = 0; i < 2; ++i) {
      for (uint32_t j = 0; j < kWords; ++j) {
        _mm256_storeu_ps(out + i * kPerBeamDim + d + 8 * j, sums[i][j]);
      }
    }
  }
}

}  // namespace

void attend_per_beam_avx2(const device::KernelTable& kernels, const float* q, const float* keys,
                          const float* values, uint32_t positions, float* scores, float* out) {
  constexpr float kFactor = 0.08838834764f;  // 1 / sqrt(128)
  score(q, keys, positions, scores);
  float totals[2];
  for (uint32_t i = 0; i < 2; ++i) {
    float* row = scores + i * positions;
    totals[i] = kernels.exp_sum(row, positions, kFactor, kernels.maximum(row, positions) * kFactor);
  }
  weigh(scores, values, positions, out);
  for (uint32_t i = 0; i < 2; ++i) kernels.scale(out + i * kPerBeamDim, kPerBeamDim, 1 / totals[i]);
}

}  // namespace tessera::bench
