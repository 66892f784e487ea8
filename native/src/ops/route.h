// Which experts each row goes through, and how much each counts (a router of a mixture of experts,
// Shazeer et al. 2017, arXiv:1701.06538; top-k of a softmax as Qwen3-MoE and OLMoE compute it).
//
// In F32 whatever the type of the products: the dot products and the softmax are the kernels'
// canonical reductions, so that a row chooses the same experts on every instruction set, whatever
// the other rows are.
#pragma once

#include <cstdint>
#include <span>

#include "device/device.h"

namespace tessera::ops {

inline constexpr uint32_t kExpertsMax = 1024;
inline constexpr uint32_t kChosenMax = 64;

struct Router {
  const float* rows = nullptr;  // [experts][k]
  uint32_t experts = 0;
  uint32_t chosen = 0;  // of them, by a row
  /// The weights of the chosen are divided by their sum.
  bool normalises = false;
};

/// The chosen of every row, the likeliest first; equal ones in the order of their numbers.
struct Choices {
  std::span<uint32_t> experts;  // [rows][chosen]
  std::span<float> weights;     // [rows][chosen]
};

/// x is [rows][k]. REQUIRES: chosen <= experts <= kExpertsMax; chosen <= kChosenMax.
void route(device::Device& device, const Router& router, const float* x, uint64_t rows, uint64_t k,
           const Choices& choices);

}  // namespace tessera::ops
