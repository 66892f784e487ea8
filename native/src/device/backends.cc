#include "device/backends.h"

#include <algorithm>
#include <string>
#include <utility>

#include "device/cpu/amx_kernels.h"
#include "device/cpu/cpu_device.h"
#include "device/cpu/dots_kernels.h"
#include "device/cpu/int8_kernels.h"
#include "device/cpu/kernels.h"
#include "platform/cpu_features.h"

namespace tessera::device {
namespace {

KernelTable with_int8(KernelTable table, const PanelKernels& panels) {
  table.panel_i8 = panels;
  return table;
}

#if defined(__x86_64__)
KernelTable avx512_kernels(const platform::CpuFeatures& features) {
  return with_int8(cpu::avx512_kernels(),
                   features.avx512_vnni ? cpu::int8_avx512_vnni() : cpu::int8_avx2());
}

KernelTable avx512_bf16_kernels(const platform::CpuFeatures& features) {
  KernelTable table = avx512_kernels(features);
  table.name = "cpu/avx512_bf16";
  table.panel_bf16 = cpu::dots_avx512();
  table.numeric_class = numeric_class(InstructionSet::kAvx512Bf16);
  return table;
}

KernelTable amx_kernels() {
  KernelTable table = with_int8(cpu::avx512_kernels(), cpu::amx_int8());
  table.name = "cpu/amx";
  table.panel_bf16 = cpu::amx_bf16();
  table.numeric_class = numeric_class(InstructionSet::kAmx);
  return table;
}
#endif

/// REQUIRES: the machine has `set`. INT8 products take the widest instructions beside the set,
/// which changes no bit.
KernelTable cpu_kernels(InstructionSet set) {
#if defined(__x86_64__)
  const platform::CpuFeatures features = platform::detect_cpu_features();
  if (set == InstructionSet::kAmx) return amx_kernels();
  if (set == InstructionSet::kAvx512Bf16) return avx512_bf16_kernels(features);
  if (set == InstructionSet::kAvx512) return avx512_kernels(features);
  if (set == InstructionSet::kAvx2) {
    return with_int8(cpu::avx2_kernels(),
                     features.avx_vnni ? cpu::int8_avx_vnni() : cpu::int8_avx2());
  }
#endif
  (void)set;
  return with_int8(cpu::portable_kernels(), cpu::int8_portable());
}

}  // namespace

std::vector<InstructionSet> available_instruction_sets() {
  const platform::CpuFeatures features = platform::detect_cpu_features();
  std::vector<InstructionSet> sets{InstructionSet::kPortable};
  if (features.avx2_fma) sets.push_back(InstructionSet::kAvx2);
  if (features.avx512 && features.avx2_fma) sets.push_back(InstructionSet::kAvx512);
  if (features.avx512_bf16 && features.avx2_fma) sets.push_back(InstructionSet::kAvx512Bf16);
  if (features.amx) sets.push_back(InstructionSet::kAmx);
  return sets;
}

InstructionSet default_instruction_set() {
  const InstructionSet widest = available_instruction_sets().back();
  const bool is_slow =
      widest == InstructionSet::kAvx512Bf16 && !platform::detect_cpu_features().fast_bf16_dots;
  return is_slow ? InstructionSet::kAvx512 : widest;
}

std::vector<InstructionSet> available_instruction_sets(NumericClass numbers) {
  std::vector<InstructionSet> sets = available_instruction_sets();
  std::erase_if(sets, [&](InstructionSet set) { return numeric_class(set) != numbers; });
  return sets;
}

std::vector<NumericClass> available_numeric_classes() {
  std::vector<NumericClass> classes;
  for (const InstructionSet set : available_instruction_sets()) {
    if (std::ranges::count(classes, numeric_class(set)) == 0) classes.push_back(numeric_class(set));
  }
  return classes;
}

Result<std::unique_ptr<Device>> open_cpu_device(const CpuOptions& options) {
  if (options.thread_count < 1 || options.thread_count > platform::ThreadPool::kMaxThreads) {
    return Status(Code::kRequestInvalid, "threadCount: expected 1.." +
                                             std::to_string(platform::ThreadPool::kMaxThreads) +
                                             ", got " + std::to_string(options.thread_count));
  }
  const std::vector<InstructionSet> sets = available_instruction_sets();
  const InstructionSet set = options.instruction_set.value_or(default_instruction_set());
  for (const InstructionSet present : sets) {
    if (present != set) continue;
    const platform::ThreadPoolOptions threads{
        .thread_count = options.thread_count,
        .before_part = options.before_part,
    };
    return std::unique_ptr<Device>(std::make_unique<cpu::CpuDevice>(cpu_kernels(set), threads));
  }
  return Status(Code::kEngineUnavailable,
                "instructionSet: this machine lacks " + std::string(instruction_set_name(set)));
}

Buffer::Buffer(MemorySpace& space, void* data, uint64_t size)
    : space_(&space), data_(data), size_(size) {}

Buffer::Buffer(Buffer&& other) noexcept
    : space_(std::exchange(other.space_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(space_, other.space_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Buffer::~Buffer() {
  if (space_ != nullptr) space_->release(data_, size_);
}

}  // namespace tessera::device
