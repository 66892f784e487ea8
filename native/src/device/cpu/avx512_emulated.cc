// The AVX-512 kernels over SIMDe, so that their text is tested on machines that lack the
// instructions. SIMDe has most of what they use; the rest is written out here, lane by lane, after
// Intel's descriptions. Compiled for AVX2 under another name. Test only.
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#include <cstdint>
#include <cstring>

namespace {

template <typename To, typename From>
To lanes_of(const From& value) {
  static_assert(sizeof(To) == sizeof(From));
  To lanes;
  std::memcpy(&lanes, &value, sizeof lanes);
  return lanes;
}

struct Floats {
  float lane[16];
};
struct Words {
  uint32_t lane[16];
};
struct Halves {
  uint16_t lane[16];
};

inline __m512 loaded(__mmask16 mask, const float* from) {
  Floats lanes{};
  for (unsigned i = 0; i < 16; ++i) {
    if ((mask >> i & 1) != 0) lanes.lane[i] = from[i];
  }
  return lanes_of<__m512>(lanes);
}

inline void stored(float* to, __mmask16 mask, __m512 value) {
  const Floats lanes = lanes_of<Floats>(value);
  for (unsigned i = 0; i < 16; ++i) {
    if ((mask >> i & 1) != 0) to[i] = lanes.lane[i];
  }
}

inline __m256i loaded_halves(__mmask16 mask, const void* from) {
  Halves lanes{};
  for (unsigned i = 0; i < 16; ++i) {
    if ((mask >> i & 1) != 0) {
      std::memcpy(&lanes.lane[i], static_cast<const uint16_t*>(from) + i, sizeof(uint16_t));
    }
  }
  return lanes_of<__m256i>(lanes);
}

inline __m512i widened(__m256i value) {
  const Halves halves = lanes_of<Halves>(value);
  Words lanes{};
  for (unsigned i = 0; i < 16; ++i) lanes.lane[i] = halves.lane[i];
  return lanes_of<__m512i>(lanes);
}

inline __m256i narrowed(__m512i value) {
  const Words words = lanes_of<Words>(value);
  Halves lanes{};
  for (unsigned i = 0; i < 16; ++i) lanes.lane[i] = static_cast<uint16_t>(words.lane[i]);
  return lanes_of<__m256i>(lanes);
}

/// Quarters of a, a, b and b, chosen by two bits each.
inline __m512 shuffled(__m512 a, __m512 b, unsigned chosen) {
  const Floats from[2] = {lanes_of<Floats>(a), lanes_of<Floats>(b)};
  Floats lanes{};
  for (unsigned i = 0; i < 16; ++i) {
    lanes.lane[i] = from[i / 8].lane[(chosen >> i / 4 * 2 & 3) * 4 + i % 4];
  }
  return lanes_of<__m512>(lanes);
}

inline __m256 half_of(__m512 value, unsigned half) {
  struct Eight {
    float lane[8];
  } lanes;
  const Floats from = lanes_of<Floats>(value);
  std::memcpy(lanes.lane, from.lane + half * 8, sizeof lanes);
  return lanes_of<__m256>(lanes);
}

}  // namespace

#define _mm512_maskz_loadu_ps loaded
#define _mm512_mask_storeu_ps stored
#define _mm256_maskz_loadu_epi16 loaded_halves
#define _mm512_cvtepu16_epi32 widened
#define _mm512_cvtepi32_epi16 narrowed
#define _mm512_shuffle_f32x4 shuffled
#define _mm512_extractf32x8_ps half_of

#include "device/cpu/avx512.cc"
