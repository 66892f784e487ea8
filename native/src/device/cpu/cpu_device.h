// The CPU as a device: process memory, the given kernels, a pool of threads of its own.
#pragma once

#include "device/device.h"

namespace tessera::device::cpu {

class CpuDevice final : public Device {
 public:
  /// REQUIRES: 1 <= thread_count <= ThreadPool::kMaxThreads; the machine has the instructions of
  /// `kernels`.
  CpuDevice(const KernelTable& kernels, const platform::ThreadPoolOptions& threads);

  const char* name() const override { return kernels_.name; }
  uint64_t available_bytes() const override;
  Result<Buffer> allocate(uint64_t bytes) override;
  Status zero(Buffer& buffer) override;
  void copy(void* to, const void* from, uint64_t bytes) override;
  const KernelTable& kernels() const override { return kernels_; }
  platform::ThreadPool& threads() override { return threads_; }

 private:
  void release(void* data, uint64_t bytes) override;

  const KernelTable kernels_;
  platform::ThreadPool threads_;
};

}  // namespace tessera::device::cpu
