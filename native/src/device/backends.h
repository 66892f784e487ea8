// Opens devices. The one place that knows which backends exist.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "device/device.h"

namespace tessera::device {

/// kAvx512Bf16: the kernels of kAvx512, and BF16 products with vdpbf16ps. kAmx: those of kAvx512,
/// and BF16 and INT8 products on the tile unit.
enum class InstructionSet : uint8_t { kPortable, kAvx2, kAvx512, kAvx512Bf16, kAmx };

constexpr std::string_view instruction_set_name(InstructionSet set) {
  switch (set) {
    case InstructionSet::kPortable: return "portable";
    case InstructionSet::kAvx2: return "avx2";
    case InstructionSet::kAvx512: return "avx512";
    case InstructionSet::kAvx512Bf16: return "avx512_bf16";
    case InstructionSet::kAmx: return "amx";
  }
  return "portable";
}

/// The sets that this machine runs, narrowest first; always at least kPortable.
std::vector<InstructionSet> available_instruction_sets();
/// The fastest of them for most models: the widest, but for kAvx512Bf16 where it is slower than
/// kAvx512. A machine always answers the same, for the set decides the numeric class.
InstructionSet default_instruction_set();
/// Instruction sets of one numeric class that are available.
std::vector<InstructionSet> available_instruction_sets(NumericClass numbers);

/// The classes that this machine's sets have, each once.
std::vector<NumericClass> available_numeric_classes();

/// Sets of one class give the same bits.
constexpr NumericClass numeric_class(InstructionSet set) {
  if (set == InstructionSet::kAmx) return NumericClass::kTiles;
  return set == InstructionSet::kAvx512Bf16 ? NumericClass::kDots : NumericClass::kFma;
}

struct CpuOptions {
  uint32_t thread_count = 1;                      // 1..ThreadPool::kMaxThreads
  std::optional<InstructionSet> instruction_set;  // default_instruction_set() when absent
  std::function<void()> before_part = nullptr;    // see platform::ThreadPoolOptions
};

/// Errors: REQUEST_INVALID for a thread count out of range, ENGINE_UNAVAILABLE for an instruction
/// set that the machine lacks.
Result<std::unique_ptr<Device>> open_cpu_device(const CpuOptions& options);

}  // namespace tessera::device
