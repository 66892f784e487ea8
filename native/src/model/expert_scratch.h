// Buffers of a pass for blocks that choose experts: rows by expert, the left side of their
// products, and the terms of adapters. Sized once for the largest pass. Private to model.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "model/adapter.h"
#include "model/compute_type.h"
#include "model/layer_block.h"
#include "ops/expert_rows.h"
#include "ops/low_rank.h"
#include "ops/operand.h"

namespace tessera::model {

/// Rows that enter products of experts: of the pass, or, where they are sorted, of the chosen
/// pairs.
struct ExpertInput {
  const float* floats = nullptr;  // [..][k]
  uint64_t k = 0;
  bool is_sorted = false;
};

class ExpertScratch {
 public:
  static constexpr size_t kProductsAtOnce = 2;  // that share an operand: gate and up
  using Terms = std::array<std::span<const ops::LowRankTerm>, kProductsAtOnce>;

  /// For passes of up to `rows` rows in up to `adapters` stretches that run with an adapter.
  /// Errors: ENGINE_OVERLOADED.
  static Result<ExpertScratch> allocate(device::Device& device, const ExpertLimits& limits,
                                        ComputeType type, uint32_t rows, uint32_t adapters);

  /// Sorts the rows of x, [rows][k], by the experts that they choose.
  void choose(device::Device& device, const ops::Router& router, const float* x, uint64_t rows,
              uint64_t k);
  const ops::ExpertRows& rows() const { return rows_; }

  /// The chosen rows as the left side of a product; `scales`: the fixed one of all, or that of each
  /// expert, 0 for scales of their own. Holds until the next call.
  ops::Operand operand(device::Device& device, const ExpertInput& input,
                       std::span<const float> scales);
  /// The terms of products with matrices `first[i]` + expert of the layer, projected; `operand` is
  /// that of `input`. They hold until the next call.
  Terms project(device::Device& device, std::span<const AdapterRows> adapters, uint32_t layer,
                std::span<const uint32_t> first, const ExpertInput& input,
                const ops::Operand& operand);

 private:
  void add_terms(device::Device& device, const ops::ExpertGroup& group, const AdapterRows& adapter,
                 const ops::LowRank& factors);

  device::PanelType type_ = device::PanelType::kF32;  // of operands
  device::PanelType factors_type_ = device::PanelType::kF32;
  ops::ExpertRows rows_;
  device::Buffer operand_, factors_operand_;  // the second where products are quantised
  std::vector<float> scales_;
  device::Buffer inner_;  // x A^T of all terms
  uint64_t inner_used_ = 0;
  std::vector<ops::LowRankTerm> terms_;
};

}  // namespace tessera::model
