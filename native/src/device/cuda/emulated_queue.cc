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
