// The scan for AVX-512: sixteen candidates at a time, the chosen ones compressed. Compiled with its
// own flags.
#include <immintrin.h>

#include <type_traits>

#include "beam/scan.h"

namespace tessera::beam {
namespace {

constexpr uint32_t kWidth = 16;

template <typename Code>
inline __m512i load_codes(const Code* codes, __mmask16 lanes) {
  if constexpr (sizeof(Code) == 1) {
    return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(lanes, codes));
  } else if constexpr (sizeof(Code) == 2) {
    return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, codes));
  } else {
    return _mm512_maskz_loadu_epi32(lanes, codes);
  }
}

template <typename Code>
inline __m512 load_logits(const ScanRun& run, uint32_t i, __mmask16 lanes) {
  if constexpr (std::is_void_v<Code>) {
    return _mm512_maskz_loadu_ps(lanes, run.logits + i);
  } else {
    const __m512i codes = load_codes(static_cast<const Code*>(run.codes) + i, lanes);
    return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), lanes, codes, run.logits, 4);
  }
}

/// Stores eight keys from eight high and eight low halves.
inline void store_keys(CandidateKey* keys, __m256i high, __m256i low) {
  const __m512i upper = _mm512_slli_epi64(_mm512_cvtepu32_epi64(high), 32);
  _mm512_storeu_si512(keys, _mm512_or_si512(upper, _mm512_cvtepu32_epi64(low)));
}

template <typename Code>
uint32_t scan_run(const ScanRun& run, float threshold, CandidateKey* keys) {
  const __m512 beam_score = _mm512_set1_ps(run.beam_score);
  const __m512 norm = _mm512_set1_ps(run.norm);
  const __m512 nothing = _mm512_set1_ps(-__builtin_inff());
  const __m512 bar = _mm512_set1_ps(threshold);
  const __m512i flip = _mm512_set1_epi32(0x7FFFFFFF);
  const __m512i iota = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  uint32_t count = 0;
  for (uint32_t i = run.begin; i < run.end; i += kWidth) {
    const uint32_t left = run.end - i;
    const auto lanes = static_cast<__mmask16>(left >= kWidth ? 0xFFFFu : (1u << left) - 1u);
    // The second of min's operands where one is not a number.
    const __m512 log_p =
        _mm512_min_ps(_mm512_setzero_ps(), _mm512_sub_ps(load_logits<Code>(run, i, lanes), norm));
    const __m512 sum = _mm512_add_ps(beam_score, log_p);
    const __m512 score = _mm512_add_ps(_mm512_max_ps(sum, nothing), _mm512_setzero_ps());
    const __mmask16 chosen = _mm512_mask_cmp_ps_mask(lanes, score, bar, _CMP_GE_OQ);
    if (chosen == 0) continue;
    // A higher score as a smaller integer: sign set keeps its bits, sign clear flips all but the
    // sign.
    const __m512i bits = _mm512_castps_si512(score);
    const __m512i sign = _mm512_srai_epi32(bits, 31);
    const __m512i high = _mm512_maskz_compress_epi32(
        chosen, _mm512_xor_si512(bits, _mm512_andnot_si512(sign, flip)));
    const __m512i node =
        _mm512_add_epi32(_mm512_set1_epi32(static_cast<int32_t>(run.first_child + i)), iota);
    const __m512i low = _mm512_maskz_compress_epi32(chosen, node);
    store_keys(keys + count, _mm512_castsi512_si256(high), _mm512_castsi512_si256(low));
    const auto kept = static_cast<uint32_t>(__builtin_popcount(chosen));
    if (kept > 8) {
      store_keys(keys + count + 8, _mm512_extracti64x4_epi64(high, 1),
                 _mm512_extracti64x4_epi64(low, 1));
    }
    count += kept;
  }
  return count;
}

}  // namespace

#include "beam/scan.inc"

const ScanKernels kAvx512Scan = {"avx512", scan, log_sum_exp, gather};

}  // namespace tessera::beam
