// Threads of a CUDA card on one thread of this machine, for tests of kernels where no card is: a
// block's threads are fibers that change at barriers and warp functions, in an order drawn from a
// seed, so that a missing barrier gives different results for different seeds. Shared memory begins
// as NaN. It says nothing about speed, memory order within a warp, or what the card's compiler
// does.
//
// Not emulated: divergent warp functions (all 32 lanes take part in each), asynchronous copies.
// Thread-safety: one launch at a time in a process.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

namespace tessera::simt {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

struct Launch {
  Index grid{1, 1, 1};
  Index block{32, 1, 1};  // threads: a multiple of 32
  size_t dynamic_shared_bytes = 0;
  uint64_t seed = 1;
};

/// Runs `kernel` once per thread of every block, block after block. Throws std::logic_error where
/// threads of a block wait for different things, which a card may answer by hanging.
void run(const Launch& launch, const std::function<void()>& kernel);

// Of the thread that runs now.
const Index& thread_index();
const Index& block_index();
const Index& block_size();
const Index& grid_size();
void sync_block();
/// The block's memory for a place in the code, poisoned when the block begins.
void* shared(const char* place, size_t bytes);
void* dynamic_shared();
/// Gives `bits` and waits for the warp; returns what lane `from` gave.
uint64_t exchange(uint64_t bits, uint32_t from, const char* what);
uint32_t lane();
uint32_t ballot(bool vote);
/// kernel.h, multiply_16x8x16: the products are summed in the order of k, which a card need not do.
void multiply_16x8x16(const uint32_t (&a)[4], const uint32_t (&b)[2], float (&d)[4]);
void multiply_16x8x32(const uint32_t (&a)[4], const uint32_t (&b)[2], int32_t (&d)[4]);

template <typename T>
T exchange_value(T value, uint32_t from, const char* what) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = exchange(bits, from, what);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace tessera::simt

// The names of the language.
#define TESSERA_KERNEL extern "C" __attribute__((visibility("default"))) void
#define TESSERA_DEVICE inline
#define TESSERA_PLACE_TEXT(line) #line
#define TESSERA_PLACE(line) TESSERA_PLACE_TEXT(line)
#define TESSERA_SHARED(type, name, count)                        \
  type* const name = static_cast<type*>(::tessera::simt::shared( \
      __FILE__ ":" TESSERA_PLACE(__LINE__) " " #name, sizeof(type) * (count)))
#define TESSERA_DYNAMIC_SHARED(name) \
  auto* const name = static_cast<unsigned char*>(::tessera::simt::dynamic_shared())
#define threadIdx (::tessera::simt::thread_index())
#define blockIdx (::tessera::simt::block_index())
#define blockDim (::tessera::simt::block_size())
#define gridDim (::tessera::simt::grid_size())
#define __syncthreads() ::tessera::simt::sync_block()

template <typename T>
T __shfl_xor_sync(uint32_t, T value, int mask) {
  return ::tessera::simt::exchange_value(
      value, ::tessera::simt::lane() ^ static_cast<uint32_t>(mask), "__shfl_xor_sync");
}
template <typename T>
T __shfl_up_sync(uint32_t, T value, unsigned delta) {
  const uint32_t lane = ::tessera::simt::lane();
  return ::tessera::simt::exchange_value(value, lane < delta ? lane : lane - delta,
                                         "__shfl_up_sync");
}
template <typename T>
T __shfl_sync(uint32_t, T value, int from) {
  return ::tessera::simt::exchange_value(value, static_cast<uint32_t>(from), "__shfl_sync");
}
inline uint32_t __ballot_sync(uint32_t, bool vote) { return ::tessera::simt::ballot(vote); }
