// The scan for AVX2: eight candidates at a time. Compiled with its own flags.
#include <immintrin.h>

#include <type_traits>

#include "beam/scan.h"

namespace tessera::beam {
namespace {

constexpr uint32_t kWidth = 8;

template <typename Code>
inline __m256i load_codes(const Code* codes) {
  if constexpr (sizeof(Code) == 1) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes)));
  } else if constexpr (sizeof(Code) == 2) {
    return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)));
  } else {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes));
  }
}

/// Logits of children [i, i + left) of the run; the other lanes are not looked at.
template <typename Code>
inline __m256 load_logits(const ScanRun& run, uint32_t i, uint32_t left) {
  if constexpr (std::is_void_v<Code>) {
    if (left >= kWidth) return _mm256_loadu_ps(run.logits + i);
    alignas(32) float logits[kWidth] = {};
    for (uint32_t lane = 0; lane < left; ++lane) logits[lane] = run.logits[i + lane];
    return _mm256_load_ps(logits);
  } else {
    const Code* codes = static_cast<const Code*>(run.codes) + i;
    if (left >= kWidth) return _mm256_i32gather_ps(run.logits, load_codes(codes), 4);
    alignas(32) float logits[kWidth] = {};
    for (uint32_t lane = 0; lane < left; ++lane) logits[lane] = run.logits[codes[lane]];
    return _mm256_load_ps(logits);
  }
}

template <typename Code>
uint32_t scan_run(const ScanRun& run, float threshold, CandidateKey* keys) {
  const __m256 beam_score = _mm256_set1_ps(run.beam_score);
  const __m256 norm = _mm256_set1_ps(run.norm);
  const __m256 nothing = _mm256_set1_ps(-__builtin_inff());
  const __m256 bar = _mm256_set1_ps(threshold);
  const __m256i flip = _mm256_set1_epi32(0x7FFFFFFF);
  uint32_t count = 0;
  for (uint32_t i = run.begin; i < run.end; i += kWidth) {
    const uint32_t left = run.end - i;
    // The second of min's operands where one is not a number.
    const __m256 log_p =
        _mm256_min_ps(_mm256_setzero_ps(), _mm256_sub_ps(load_logits<Code>(run, i, left), norm));
    const __m256 sum = _mm256_add_ps(beam_score, log_p);
    const __m256 score = _mm256_add_ps(_mm256_max_ps(sum, nothing), _mm256_setzero_ps());
    auto chosen = static_cast<uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(score, bar, _CMP_GE_OQ)));
    if (left < kWidth) chosen &= (1u << left) - 1u;
    if (chosen == 0) continue;
    // A higher score as a smaller integer: sign set keeps its bits, sign clear flips all but the
    // sign.
    const __m256i bits = _mm256_castps_si256(score);
    const __m256i sign = _mm256_srai_epi32(bits, 31);
    alignas(32) uint32_t high[kWidth];
    _mm256_store_si256(reinterpret_cast<__m256i*>(high),
                       _mm256_xor_si256(bits, _mm256_andnot_si256(sign, flip)));
    for (; chosen != 0; chosen &= chosen - 1) {
      const auto lane = static_cast<uint32_t>(__builtin_ctz(chosen));
      keys[count++] = uint64_t{high[lane]} << 32 | (run.first_child + i + lane);
    }
  }
  return count;
}

}  // namespace

#include "beam/scan.inc"

const ScanKernels kAvx2Scan = {"avx2", scan, log_sum_exp, gather};

}  // namespace tessera::beam
