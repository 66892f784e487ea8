#include "ops/route.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "ops/for_rows.h"

namespace tessera::ops {
namespace {

constexpr uint64_t kRowsAtOnce = 4;  // that meet the router's rows while they are near

/// The likeliest first. A row with what is not a number chooses somehow: it is taken back after the
/// pass.
void choose(const float* logits, const Router& router, uint32_t* experts) {
  uint32_t count = 0;
  for (uint32_t expert = 0; expert < router.experts; ++expert) {
    uint32_t place = count;
    while (place > 0 && logits[expert] > logits[experts[place - 1]]) --place;
    if (place == router.chosen) continue;
    count = std::min(count + 1, router.chosen);
    std::copy_backward(experts + place, experts + count - 1, experts + count);
    experts[place] = expert;
  }
}

void route_row(const device::KernelTable& kernels, const Router& router, float* logits,
               uint32_t* experts, float* weights) {
  choose(logits, router, experts);
  const float largest = kernels.maximum(logits, router.experts);
  float sum = kernels.exp_sum(logits, router.experts, 1, largest);
  if (router.normalises) {
    sum = 0;
    for (uint32_t i = 0; i < router.chosen; ++i) sum += logits[experts[i]];
  }
  for (uint32_t i = 0; i < router.chosen; ++i) weights[i] = logits[experts[i]] / sum;
}

}  // namespace

void route(device::Device& device, const Router& router, const float* x, uint64_t rows, uint64_t k,
           const Choices& choices) {
  TESSERA_CHECK(router.experts <= kExpertsMax && router.chosen <= kChosenMax);
  TESSERA_CHECK(router.chosen <= router.experts);
  const device::KernelTable& kernels = device.kernels();
  for_rows(device, rows, k * router.experts / 8, [&](uint64_t begin, uint64_t end) {
    std::array<float, kRowsAtOnce * kExpertsMax> logits;
    std::array<const float*, kRowsAtOnce> at_once;
    std::array<const void*, kExpertsMax> columns;
    for (uint32_t expert = 0; expert < router.experts; ++expert)
      columns[expert] = router.rows + expert * k;
    for (uint64_t row = begin; row < end; row += kRowsAtOnce) {
      const uint64_t count = std::min(kRowsAtOnce, end - row);
      for (uint64_t i = 0; i < count; ++i) at_once[i] = x + (row + i) * k;
      kernels.dot_rows_f32(at_once.data(), count, columns.data(), router.experts, k, logits.data(),
                           router.experts);
      for (uint64_t i = 0; i < count; ++i) {
        const uint64_t first = (row + i) * router.chosen;
        route_row(kernels, router, logits.data() + i * router.experts,
                  choices.experts.data() + first, choices.weights.data() + first);
      }
    }
  });
}

}  // namespace tessera::ops
