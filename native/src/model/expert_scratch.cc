#include "model/expert_scratch.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ops/expert_product.h"

namespace tessera::model {

Result<ExpertScratch> ExpertScratch::allocate(device::Device& device, const ExpertLimits& limits,
                                              ComputeType type, uint32_t rows, uint32_t adapters) {
  ExpertScratch scratch;
  if (limits.experts == 0) return scratch;
  scratch.type_ = layer_panels(type);
  scratch.factors_type_ = head_panels(type);
  scratch.rows_ = ops::ExpertRows(rows, limits.experts, limits.chosen);
  const auto places = [&](device::PanelType panels) {
    return ops::ExpertRows::operand_rows(rows, limits.experts, limits.chosen,
                                         device.kernels().panel(panels).row_block);
  };
  const auto reserve = [&](uint64_t bytes, device::Buffer& to) -> Status {
    Result<device::Buffer> buffer = device.allocate(bytes);
    if (!buffer.is_ok()) return buffer.status();
    to = std::move(buffer).value();
    return Status::ok();
  };
  const uint64_t operand_rows = places(scratch.type_);
  TESSERA_RETURN_IF_ERROR(reserve(
      ops::operand_bytes(device, scratch.type_, operand_rows, limits.widest), scratch.operand_));
  scratch.scales_.resize(operand_rows * device::operand_scales(scratch.type_, limits.widest));
  if (adapters == 0) return scratch;
  const uint64_t pairs = uint64_t{rows} * limits.chosen;
  const uint64_t terms = std::min<uint64_t>(pairs, uint64_t{limits.experts} * adapters);
  const uint64_t block = device.kernels().panel(scratch.factors_type_).row_block;
  scratch.terms_.reserve(kProductsAtOnce * terms);
  TESSERA_RETURN_IF_ERROR(
      reserve(kProductsAtOnce * ops::low_rank_bytes(device, scratch.factors_type_, 0,
                                                    pairs + 2 * block * terms, ops::kRankMax),
              scratch.inner_));
  if (scratch.factors_type_ == scratch.type_) return scratch;
  TESSERA_RETURN_IF_ERROR(reserve(ops::operand_bytes(device, scratch.factors_type_,
                                                     places(scratch.factors_type_), limits.widest),
                                  scratch.factors_operand_));
  return scratch;
}

void ExpertScratch::choose(device::Device& device, const ops::Router& router, const float* x,
                           uint64_t rows, uint64_t k) {
  ops::route(device, router, x, rows, k, rows_.choices(rows));
  // Factors' operands lie as the products' do.
  rows_.sort(rows, std::max(device.kernels().panel(type_).row_block,
                            device.kernels().panel(factors_type_).row_block));
}

ops::Operand ExpertScratch::operand(device::Device& device, const ExpertInput& input,
                                    std::span<const float> scales) {
  const ops::Operand operand{type_,          operand_.data(), scales_.data(),
                             rows_.places(), input.k,         scales[0]};
  const bool is_of_expert = scales.size() > 1;
  ops::write_expert_rows(device, rows_, input.floats, input.is_sorted,
                         is_of_expert ? scales : std::span<const float>(), operand);
  return operand;
}

void ExpertScratch::add_terms(device::Device& device, const ops::ExpertGroup& group,
                              const AdapterRows& adapter, const ops::LowRank& factors) {
  if (!factors.is_set()) return;
  const std::span<const uint32_t> rows = rows_.rows().subspan(group.first, group.count);
  const auto begin = std::lower_bound(rows.begin(), rows.end(), adapter.first);
  const auto end = std::lower_bound(begin, rows.end(), adapter.first + adapter.count);
  if (begin == end) return;
  const uint64_t first = group.place + static_cast<uint64_t>(begin - rows.begin());
  const auto count = static_cast<uint64_t>(end - begin);
  terms_.push_back({&factors, first, count, inner_.as<char>() + inner_used_});
  inner_used_ += ops::low_rank_bytes(device, factors_type_, first, count, factors.a.columns);
  TESSERA_CHECK(inner_used_ <= inner_.size());
}

ExpertScratch::Terms ExpertScratch::project(device::Device& device,
                                            std::span<const AdapterRows> adapters, uint32_t layer,
                                            std::span<const uint32_t> first,
                                            const ExpertInput& input, const ops::Operand& operand) {
  Terms terms;
  if (adapters.empty()) return terms;
  terms_.clear();
  inner_used_ = 0;
  for (size_t product = 0; product < first.size(); ++product) {
    const size_t begin = terms_.size();
    for (const ops::ExpertGroup& group : rows_.groups()) {
      for (const AdapterRows& adapter : adapters) {
        add_terms(device, group, adapter,
                  adapter.adapter->layers[layer][first[product] + group.expert]);
      }
    }
    terms[product] = std::span(terms_).subspan(begin);
  }
  if (terms_.empty()) return terms;
  if (factors_type_ == type_) {
    ops::project(device, operand, terms_);
  } else {
    const ops::Operand own{factors_type_, factors_operand_.data(), nullptr, rows_.places(),
                           input.k};
    ops::write_expert_rows(device, rows_, input.floats, input.is_sorted, {}, own);
    ops::project(device, own, terms_);
  }
  return terms;
}

}  // namespace tessera::model
