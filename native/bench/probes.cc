#include "probes.h"

#include "platform/cpu_features.h"

namespace tessera::bench {

using device::InstructionSet;
using device::PanelType;

std::vector<Probe> probes_here() {
  constexpr uint64_t kTileOperations = kTileChains * 16 * 16 * 2;
  const platform::CpuFeatures features = platform::detect_cpu_features();
  std::vector<Probe> probes;
  if (features.avx2_fma) {
    probes.push_back({"multiply-add avx2", PanelType::kF32, InstructionSet::kAvx2,
                      kFmaOperationsAvx2, fma_probe_avx2});
    probes.push_back({"multiply-add int8 avx2", PanelType::kI8, InstructionSet::kAvx2,
                      kInt8Chains * 16 * 2, int8_probe_avx2});
  }
  if (features.avx_vnni) {
    probes.push_back({"multiply-add int8 avx-vnni", PanelType::kI8, InstructionSet::kAvx2,
                      kFmaChains * 32 * 2, int8_probe_avx_vnni});
  }
  if (features.avx512) {
    probes.push_back({"multiply-add avx512", PanelType::kF32, InstructionSet::kAvx512,
                      kFmaOperationsAvx512, fma_probe_avx512});
  }
  if (features.avx512_vnni) {
    probes.push_back({"multiply-add int8 avx512-vnni", PanelType::kI8, InstructionSet::kAvx512,
                      kFmaChains * 64 * 2, int8_probe_avx512_vnni});
  }
  if (features.amx) {
    probes.push_back({"multiply-add bf16 amx", PanelType::kBf16, InstructionSet::kAmx,
                      kTileOperations * 32, bf16_probe_amx});
    probes.push_back({"multiply-add int8 amx", PanelType::kI8, InstructionSet::kAmx,
                      kTileOperations * 64, int8_probe_amx});
  }
  return probes;
}

const Probe* find_probe(const std::vector<Probe>& probes, PanelType numbers, InstructionSet set) {
  const Probe* found = nullptr;
  for (const Probe& probe : probes) {
    // Without tiles BF16 is widened and multiplied as F32.
    const bool fits = probe.numbers == numbers ||
                      (numbers == PanelType::kBf16 && probe.numbers == PanelType::kF32);
    if (fits && probe.set <= set) found = &probe;
  }
  return found;
}

}  // namespace tessera::bench
