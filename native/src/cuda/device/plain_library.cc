#include "cuda/device/plain_library.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cuda/device/kernel.h"

namespace tessera::device::cuda::plain {
namespace {

using tessera::cuda::narrow;
using tessera::cuda::widen;

constexpr uint32_t kBlockPositions = 32;
constexpr float kLogOfNothing = -50'000;  // as FlashInfer has it

/// One row's head in one split of its group.
struct Place {
  const TesseraCardAttention& all;
  const TesseraCardRows& group;
  uint32_t split, row, head;

  uint32_t begin() const { return split * TESSERA_CARD_SPLIT; }
  uint32_t end() const {
    return std::min(begin() + TESSERA_CARD_SPLIT, group.visible + row * group.visible_step);
  }
  uint32_t kv_head() const { return head / (all.heads / all.kv_heads); }
  const uint16_t* key(uint32_t position) const {
    const size_t of_head = size_t{kBlockPositions} * all.head_dim;
    const auto* const block =
        reinterpret_cast<const uint16_t*>(2 * group.blocks[position / kBlockPositions]);
    return block + (size_t{2} * all.layer * all.kv_heads + kv_head()) * of_head +
           size_t{position % kBlockPositions} * all.head_dim;
  }
  const uint16_t* value(uint32_t position) const {
    return key(position) + size_t{all.kv_heads} * kBlockPositions * all.head_dim;
  }
};

double dot(const uint16_t* a, const uint16_t* b, uint32_t count) {
  double sum = 0;
  for (uint32_t i = 0; i < count; ++i) sum += double{widen(a[i])} * widen(b[i]);
  return sum;
}

void attend(const Place& at) {
  const uint32_t size = at.all.head_dim;
  const size_t index = (size_t{at.split} * at.group.rows + at.row) * at.all.heads + at.head;
  float* const to = at.group.part_values + index * size;
  std::fill_n(to, size, 0.0f);
  at.group.part_logs[index] = kLogOfNothing;
  if (at.end() <= at.begin()) return;
  const uint16_t* const query = at.group.q + (size_t{at.row} * at.all.heads + at.head) * size;
  std::vector<double> scores, mixed(size);
  for (uint32_t p = at.begin(); p < at.end(); ++p)
    scores.push_back(dot(query, at.key(p), size) / std::sqrt(double{1} * size));
  const double highest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (uint32_t p = at.begin(); p < at.end(); ++p) {
    const double weight = std::exp(scores[p - at.begin()] - highest);
    const uint16_t* const value = at.value(p);
    for (uint32_t i = 0; i < size; ++i) mixed[i] += weight * widen(value[i]);
    sum += weight;
  }
  for (uint32_t i = 0; i < size; ++i) to[i] = static_cast<float>(mixed[i] / sum);
  at.group.part_logs[index] = static_cast<float>((highest + std::log(sum)) / std::log(2.0));
}

}  // namespace

void multiply(const TesseraCardProduct& product) {
  for (size_t i = 0; i < product.rows; ++i) {
    const auto* const x = static_cast<const uint16_t*>(product.x) + i * product.k;
    for (size_t j = 0; j < product.columns; ++j) {
      const auto* const w = static_cast<const uint16_t*>(product.w) + j * product.k;
      auto sum = static_cast<float>(dot(x, w, product.k));
      if (product.bias != nullptr) sum += widen(product.bias[j]);
      const size_t to = i * product.columns + j;
      if (product.y != nullptr) product.y[to] = narrow(sum);
      if (product.y_f32 != nullptr) product.y_f32[to] = sum;
    }
  }
}

void attend(const TesseraCardAttention& attention) {
  const TesseraCardRows* group = attention.groups;
  for (uint32_t split = 0; split < attention.splits; split += group->splits, ++group) {
    if (group->q == nullptr) return;
    for (uint32_t own = 0; own < group->splits; ++own) {
      for (uint32_t row = 0; row < group->rows; ++row) {
        for (uint32_t head = 0; head < attention.heads; ++head)
          attend(Place{attention, *group, own, row, head});
      }
    }
  }
}

}  // namespace tessera::device::cuda::plain
