// Test only: where the tests of kernels run. Emulated threads by default; with
// TESSERA_TEST_DEVICE=cuda, in a build with TESSERA_CUDA, the card of this machine. Memory of
// Shared<T> is read and written by both sides.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <tuple>
#include <vector>

#include "cuda/device/card_queue.h"
#include "cuda/device/simt.h"

namespace tessera::device::cuda {

bool on_card();
/// A queue of this machine's card, with the library's kernels. Throws std::runtime_error with what
/// is missing.
std::unique_ptr<CardQueue> open_card_queue();
void* allocate_shared(size_t bytes);
void release_shared(void* memory);
/// Runs a kernel of the card to its end. Throws std::runtime_error with what the driver says.
void launch_on_card(const char* name, const simt::Launch& shape, void* const* arguments,
                    size_t argument_count);

template <typename T>
struct SharedAllocator {
  using value_type = T;
  SharedAllocator() = default;
  template <typename U>
  SharedAllocator(const SharedAllocator<U>&) {}  // NOLINT: as allocators are
  T* allocate(size_t count) { return static_cast<T*>(allocate_shared(count * sizeof(T))); }
  void deallocate(T* memory, size_t) { release_shared(memory); }
  bool operator==(const SharedAllocator&) const { return true; }
};

template <typename T>
using Shared = std::vector<T, SharedAllocator<T>>;

/// Runs a kernel where the tests run; pointers among the arguments are into Shared memory.
template <typename... Parameters, typename... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), const simt::Launch& shape,
            Arguments... arguments) {
  if (!on_card()) {
    simt::run(shape, [&] { kernel(static_cast<Parameters>(arguments)...); });
    return;
  }
  std::tuple<Parameters...> values(static_cast<Parameters>(arguments)...);
  std::apply(
      [&](auto&... value) {
        const std::array<void*, sizeof...(Parameters)> pointers = {
            const_cast<void*>(static_cast<const void*>(&value))...};
        launch_on_card(name, shape, pointers.data(), pointers.size());
      },
      values);
}

#define TESSERA_LAUNCH(kernel, shape, ...) \
  ::tessera::device::cuda::launch(#kernel, kernel, shape, __VA_ARGS__)

}  // namespace tessera::device::cuda
