#include "model/adapter_scratch.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tessera::model {

Result<AdapterScratch> AdapterScratch::allocate(device::Device& device, uint64_t widest_input,
                                                ComputeType type, uint32_t rows,
                                                uint32_t adapters) {
  AdapterScratch scratch;
  if (adapters == 0) return scratch;
  scratch.type_ = head_panels(type);
  scratch.adapters_max_ = std::min(adapters, rows);
  // A stretch of rows takes whole blocks: one more at either end than its rows fill.
  const uint64_t block = device.kernels().panel(scratch.type_).row_block;
  const uint64_t inner_rows = rows + 2 * block * scratch.adapters_max_;
  Result<device::Buffer> inner = device.allocate(
      kProductsAtOnce * ops::low_rank_bytes(device, scratch.type_, 0, inner_rows, ops::kRankMax));
  if (!inner.is_ok()) return inner.status();
  scratch.inner_ = std::move(inner).value();
  scratch.terms_.reserve(kProductsAtOnce * scratch.adapters_max_);
  if (layer_panels(type) == scratch.type_) return scratch;
  Result<device::Buffer> operand =
      device.allocate(ops::operand_bytes(device, scratch.type_, rows, widest_input));
  if (!operand.is_ok()) return operand.status();
  scratch.operand_ = std::move(operand).value();
  return scratch;
}

/// Quantised rows have lost what factors are for: they take them rounded as the head does.
ops::Operand AdapterScratch::operand_of(device::Device& device,
                                        std::span<const AdapterRows> adapters,
                                        const ops::Operand& x, const float* rows_of_x) {
  if (x.type == type_) return x;
  const ops::Operand own{type_, operand_.data(), nullptr, x.rows, x.k};
  const uint64_t first = adapters.front().first;
  const uint64_t end = uint64_t{adapters.back().first} + adapters.back().count;
  ops::write_operand(device, rows_of_x, x.k, first, end - first, own);
  return own;
}

AdapterScratch::Terms AdapterScratch::project(device::Device& device,
                                              std::span<const AdapterRows> adapters, uint32_t layer,
                                              std::span<const uint32_t> matrices,
                                              const ops::Operand& x, const float* rows_of_x) {
  Terms terms;
  if (adapters.empty()) return terms;
  TESSERA_CHECK(adapters.size() <= adapters_max_ && matrices.size() <= kProductsAtOnce);
  terms_.clear();
  char* inner = inner_.as<char>();
  for (size_t product = 0; product < matrices.size(); ++product) {
    const size_t begin = terms_.size();
    for (const AdapterRows& rows : adapters) {
      const ops::LowRank& factors = rows.adapter->layers[layer][matrices[product]];
      if (!factors.is_set()) continue;
      terms_.push_back({&factors, rows.first, rows.count, inner});
      inner += ops::low_rank_bytes(device, type_, rows.first, rows.count, factors.a.columns);
    }
    terms[product] = std::span(terms_).subspan(begin);
  }
  TESSERA_CHECK(static_cast<uint64_t>(inner - inner_.as<char>()) <= inner_.size());
  if (!terms_.empty()) ops::project(device, operand_of(device, adapters, x, rows_of_x), terms_);
  return terms;
}

}  // namespace tessera::model
