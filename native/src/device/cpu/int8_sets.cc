#include "device/cpu/int8_sets.h"

#include "device/cpu/amx_kernels.h"
#include "device/cpu/amx_modelled.h"
#include "platform/cpu_features.h"

namespace tessera::device::cpu {

#if defined(TESSERA_EMULATION)
PanelKernels int8_avx_vnni_emulated();
PanelKernels int8_avx512_vnni_emulated();
#endif

std::vector<Int8Set> int8_sets() {
  std::vector<Int8Set> sets{{"Portable", int8_portable()}, {"AmxModelled", amx_int8_modelled()}};
#if defined(__x86_64__)
  const platform::CpuFeatures features = platform::detect_cpu_features();
  if (features.avx2_fma) sets.push_back({"Avx2", int8_avx2()});
  if (features.avx_vnni) sets.push_back({"AvxVnni", int8_avx_vnni()});
  if (features.avx512_vnni) sets.push_back({"Avx512Vnni", int8_avx512_vnni()});
  if (features.amx) sets.push_back({"Amx", amx_int8()});
#endif
#if defined(TESSERA_EMULATION)
  if (features.avx2_fma) {
    sets.push_back({"AvxVnniEmulated", int8_avx_vnni_emulated()});
    sets.push_back({"Avx512VnniEmulated", int8_avx512_vnni_emulated()});
  }
#endif
  return sets;
}

}  // namespace tessera::device::cpu
