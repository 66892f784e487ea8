#include "device/cpu/cpu_device.h"

#include <sys/mman.h>

#include <cstring>
#include <string>

#include "platform/memory.h"

namespace tessera::device::cpu {
namespace {

constexpr uint64_t kPage = 4096;

uint64_t mapped_size(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

CpuDevice::CpuDevice(const KernelTable& kernels, const platform::ThreadPoolOptions& threads)
    : kernels_(kernels), threads_(threads) {}

uint64_t CpuDevice::available_bytes() const { return platform::available_memory_bytes(); }

Result<Buffer> CpuDevice::allocate(uint64_t bytes) {
  if (bytes == 0) return Buffer(*this, nullptr, 0);
  const uint64_t available = available_bytes();
  const auto overloaded = [&] {
    return Status(Code::kEngineOverloaded, "memory: expected " + std::to_string(bytes) +
                                               " bytes to be available, the machine has " +
                                               std::to_string(available) + " left");
  };
  if (bytes > available) return overloaded();
  // Mapped rather than malloc'ed: page-aligned, zeroed lazily, and given back to the system at
  // once.
  void* data = ::mmap(nullptr, mapped_size(bytes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return overloaded();
  ::madvise(data, mapped_size(bytes), MADV_HUGEPAGE);
  return Buffer(*this, data, bytes);
}

Status CpuDevice::zero(Buffer& buffer) {
  if (buffer.size() > 0) std::memset(buffer.data(), 0, buffer.size());
  return Status::ok();
}

void CpuDevice::copy(void* to, const void* from, uint64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

void CpuDevice::release(void* data, uint64_t bytes) {
  if (data != nullptr) ::munmap(data, mapped_size(bytes));
}

}  // namespace tessera::device::cpu
