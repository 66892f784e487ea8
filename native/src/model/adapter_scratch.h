// Buffers of a pass for its adapters: the terms of the product that comes next, and their x A^T.
// Sized once for the largest pass. Private to model.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "model/adapter.h"
#include "model/compute_type.h"
#include "ops/low_rank.h"
#include "ops/operand.h"

namespace tessera::model {

class AdapterScratch {
 public:
  static constexpr size_t kProductsAtOnce =
      4;  // that share an operand, as those of a gated delta net
  using Terms = std::array<std::span<const ops::LowRankTerm>, kProductsAtOnce>;

  /// For passes of up to `rows` rows in up to `adapters` stretches; none: no pass has adapters.
  /// Errors: ENGINE_OVERLOADED.
  /// `widest_input`: of the longest row that enters a product.
  static Result<AdapterScratch> allocate(device::Device& device, uint64_t widest_input,
                                         ComputeType type, uint32_t rows, uint32_t adapters);

  /// The terms of the products of one layer that take `x`, by their places in Layer::matrices(),
  /// projected; `rows_of_x` are its rows as floats. They hold until the next call.
  Terms project(device::Device& device, std::span<const AdapterRows> adapters, uint32_t layer,
                std::span<const uint32_t> matrices, const ops::Operand& x, const float* rows_of_x);

 private:
  ops::Operand operand_of(device::Device& device, std::span<const AdapterRows> adapters,
                          const ops::Operand& x, const float* rows_of_x);

  device::PanelType type_ = device::PanelType::kF32;  // of factors
  device::Buffer inner_;                              // x A^T of all terms
  device::Buffer operand_;  // of rows that the product itself takes quantised; else empty
  std::vector<ops::LowRankTerm> terms_;
  uint32_t adapters_max_ = 0;
};

}  // namespace tessera::model
