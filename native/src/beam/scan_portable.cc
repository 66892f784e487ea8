// The scan in plain C++: what the vector files must equal bit for bit.
#include <type_traits>

#include "beam/scan.h"

namespace tessera::beam {
namespace {

template <typename Code>
uint32_t scan_run(const ScanRun& run, float threshold, CandidateKey* keys) {
  constexpr float kNothing = -__builtin_inff();
  uint32_t count = 0;
  for (uint32_t i = run.begin; i < run.end; ++i) {
    uint32_t code = i;
    if constexpr (!std::is_void_v<Code>) code = static_cast<const Code*>(run.codes)[i];
    const float log_p = run.logits[code] - run.norm;
    const float sum = run.beam_score + (log_p > 0 ? 0 : log_p);
    const float score = (sum > kNothing ? sum : kNothing) + 0.0f;
    if (!(score >= threshold)) continue;
    uint32_t bits;
    __builtin_memcpy(&bits, &score, sizeof(bits));
    const uint32_t ascending = bits ^ ((bits >> 31) != 0 ? 0xFFFFFFFFu : 0x80000000u);
    keys[count++] = uint64_t{~ascending} << 32 | (run.first_child + i);
  }
  return count;
}

}  // namespace

#include "beam/scan.inc"

const ScanKernels kPortableScan = {"portable", scan, log_sum_exp, gather};

}  // namespace tessera::beam
