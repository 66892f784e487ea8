#include "kernel_sets.h"

#include "device/cpu/amx_kernels.h"
#include "device/cpu/dots_kernels.h"
#include "device/cpu/int8_kernels.h"
#include "device/cpu/kernels.h"
#include "platform/cpu_features.h"

namespace tessera::bench {
namespace {

using device::KernelTable;
using device::PanelKernels;
namespace cpu = device::cpu;

KernelTable with_int8(KernelTable table, const PanelKernels& panels) {
  table.panel_i8 = panels;
  return table;
}

}  // namespace

std::vector<KernelSet> kernel_sets_here() {
  const platform::CpuFeatures features = platform::detect_cpu_features();
  std::vector<KernelSet> sets;
  if (!features.avx2_fma) return sets;
  const KernelTable avx2 = with_int8(cpu::avx2_kernels(), cpu::int8_avx2());
  // BF16 is widened and multiplied as F32.
  sets.push_back({"avx2", avx2, kF32Avx2, kF32Avx2, kInt8Avx2});
  if (features.avx_vnni) {
    sets.push_back({"avx-vnni", with_int8(avx2, cpu::int8_avx_vnni()), {}, {}, kInt8AvxVnni});
  }
  if (!features.avx512) return sets;
  KernelTable avx512 = with_int8(cpu::avx512_kernels(), cpu::int8_avx2());
  std::optional<Probe> int8;
  if (features.avx512_vnni) {
    avx512.panel_i8 = cpu::int8_avx512_vnni();
    int8 = kInt8Avx512;
  }
  sets.push_back({"avx512", avx512, kF32Avx512, kF32Avx512, int8});
  if (features.avx512_bf16) {
    KernelTable dots = avx512;
    dots.panel_bf16 = cpu::dots_avx512();
    dots.numeric_class = device::NumericClass::kDots;
    sets.push_back({"avx512_bf16", dots, {}, kBf16Avx512, {}});
  }
  if (features.amx) {
    KernelTable amx = with_int8(avx512, cpu::amx_int8());
    amx.panel_bf16 = cpu::amx_bf16();
    sets.push_back({"amx", amx, {}, kBf16Amx, kInt8Amx});
  }
  return sets;
}

}  // namespace tessera::bench
