// Test only: a queue whose kernels run on emulated threads (simt.h), each to its end before the
// next begins; its memory is this machine's.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "device/cuda/queue.h"
#include "device/cuda/simt.h"

namespace tessera::device::cuda {

class EmulatedQueue : public Queue {
 public:
  explicit EmulatedQueue(uint64_t seed = 1) : seed_(seed) {}

  /// Makes a kernel known: its C++ function, of the parameters that its name stands for.
  template <typename... Parameters>
  void add(const Kernel<Parameters...>& kernel, void (*function)(Parameters...)) {
    kernels_[kernel.name] = [function](std::span<void* const> arguments) {
      call(function, arguments, std::index_sequence_for<Parameters...>());
    };
  }
  uint64_t launches() const { return launches_; }

  Result<void*> allocate(uint64_t bytes) override;
  void release(void* memory) override;
  Status copy_in(void* to, const void* from, uint64_t bytes) override;
  Status copy_out(void* to, const void* from, uint64_t bytes) override;
  Status copy_within(void* to, const void* from, uint64_t bytes) override;
  Status zero(void* at, uint64_t bytes) override;
  Status finish() override;
  Result<void*> allocate_pinned(uint64_t bytes) override;
  void release_pinned(void* memory) override;
  Status launch(const char* kernel, const LaunchShape& shape,
                std::span<void* const> arguments) override;

 private:
  template <typename... Parameters, size_t... I>
  static void call(void (*function)(Parameters...), std::span<void* const> arguments,
                   std::index_sequence<I...>) {
    function(*static_cast<Parameters*>(arguments[I])...);
  }

  uint64_t seed_;
  uint64_t launches_ = 0;
  std::unordered_map<std::string, std::function<void(std::span<void* const>)>> kernels_;
};

}  // namespace tessera::device::cuda
