// Gated delta nets over the views of kv_view.h: the short causal convolution and the recurrence.
// No row of beams has a state of its own: it reads its prompt's, as one product for all rows, and
// adds its ancestors' tokens, which their slots keep.
//
// All numbers are F32. Sums are those of the kernel table, so every instruction set gives the same
// bits; a row's depend on the row and its predecessors alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attention/delta_state.h"
#include "attention/kv_view.h"
#include "base/status.h"
#include "device/device.h"

namespace tessera::attention {

/// One layer's weights, beside its projections.
struct DeltaWeights {
  const float* taps = nullptr;  // [taps][channels], the oldest input first
  const float* norm = nullptr;  // [value_dim], of the output
  const float *log_rate = nullptr, *step_bias = nullptr;  // [value_heads]
  float epsilon = 0;
};

/// Rows of a pass, floats.
struct DeltaRows {
  const float* inputs = nullptr;     // [rows][channels]: what the convolution reads
  float* mixed = nullptr;            // [rows][channels]: its outputs, heads normalised
  const float* gates = nullptr;      // [rows][values], of the output
  const float* decays = nullptr;     // [rows][value_heads]: a, before its activation
  const float* strengths = nullptr;  // [rows][value_heads]: b, likewise
  float* factors = nullptr;          // [rows][2][value_heads]: a, b
  float* out = nullptr;              // [rows][values]
};

/// Memory of delta_rule(): a part per thread, sized once.
class DeltaScratch {
 public:
  /// Errors: ENGINE_OVERLOADED.
  static Result<DeltaScratch> allocate(device::Device& device, const DeltaShape& shape);
  float* of_thread(uint32_t thread) { return memory_.as<float>() + first_ + thread * floats_; }
  /// Zeros, then ones, as many as there are channels.
  const float* constants() const { return memory_.as<float>(); }
  /// Puts the groups of a pass request by request; those of one keep their order.
  void sort(std::span<const RowGroup> groups);
  size_t requests() const { return ends_.size(); }
  std::span<const RowGroup* const> request(size_t number) const {
    const size_t first = number == 0 ? 0 : ends_[number - 1];
    return std::span(groups_).subspan(first, ends_[number] - first);
  }

 private:
  device::Buffer memory_;
  uint64_t first_ = 0, floats_ = 0;
  std::vector<const RowGroup*> groups_;
  std::vector<size_t> ends_;  // of requests, in groups_
};

/// Fills rows.out, the gated and normalised output of every row, and advances states: `layer`
/// counts layers of this kind. REQUIRES: prompt rows go on from the length of their prompt;
/// captures are behind their group's first position and in order; ancestors that are rows of the
/// pass stand before their descendants.
void delta_rule(device::Device& device, const DeltaShape& shape, uint32_t layer,
                std::span<const RowGroup> groups, const DeltaWeights& weights,
                const DeltaRows& rows, DeltaScratch& scratch);

}  // namespace tessera::attention
