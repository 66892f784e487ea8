#include "device/cuda/emulated_queue.h"

#include <cstdlib>
#include <cstring>

namespace tessera::device::cuda {

Result<void*> EmulatedQueue::allocate(uint64_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory == nullptr) return Status(Code::kEngineOverloaded, "no memory");
  std::memset(memory, 0xFF, bytes);  // NaN: nothing may be read that was not written
  return memory;
}

void EmulatedQueue::release(void* memory) { std::free(memory); }

Status EmulatedQueue::copy_in(void* to, const void* from, uint64_t bytes) {
  std::memcpy(to, from, bytes);
  return Status::ok();
}

Status EmulatedQueue::copy_out(void* to, const void* from, uint64_t bytes) {
  std::memcpy(to, from, bytes);
  return Status::ok();
}

Status EmulatedQueue::copy_within(void* to, const void* from, uint64_t bytes) {
  std::memcpy(to, from, bytes);
  return Status::ok();
}

Status EmulatedQueue::zero(void* at, uint64_t bytes) {
  std::memset(at, 0, bytes);
  return Status::ok();
}

Status EmulatedQueue::finish() { return Status::ok(); }

Result<void*> EmulatedQueue::allocate_pinned(uint64_t bytes) {
  constexpr uint64_t kPage = 4096;
  void* memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (memory == nullptr) return Status(Code::kEngineOverloaded, "no memory");
  return memory;
}

void EmulatedQueue::release_pinned(void* memory) { std::free(memory); }

Status EmulatedQueue::launch(const char* kernel, const LaunchShape& shape,
                             std::span<void* const> arguments) {
  const auto known = kernels_.find(kernel);
  if (known == kernels_.end()) return {Code::kEngineUnavailable, kernel};
  const simt::Launch launch{{shape.grid[0], shape.grid[1], shape.grid[2]},
                            {shape.block[0], shape.block[1], shape.block[2]},
                            shape.dynamic_shared_bytes,
                            seed_ + launches_};
  ++launches_;
  simt::run(launch, [&] { known->second(arguments); });
  return Status::ok();
}

}  // namespace tessera::device::cuda
