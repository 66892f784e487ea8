#include "card/product_case.h"

#include <algorithm>
#include <cmath>

namespace tessera::bench::card {
namespace {

constexpr uint32_t kCopiesMax = 64;
constexpr uint32_t kProductSamples = 64;

struct Operands {
  RandomValues x{11}, w{12, 0.05f};
  Memory card_x, card_w, card_y;
};

/// Sums in F32 and a result in BF16 are this near the sum in double precision.
bool is_near(double given, double expected, double absolute_sum) {
  return std::abs(given - expected) <= std::abs(expected) / 128 + absolute_sum * 1e-4;
}

Status check(BenchCard& card, const Operands& operands, const ProductSizes& sizes) {
  const auto y =
      fetched<uint16_t>(card, operands.card_y.as<void>(), uint64_t{sizes.rows} * sizes.columns);
  if (!y.is_ok()) return y.status();
  for (const uint16_t value : y.value()) {
    if (!std::isfinite(widened(value))) return wrong("product");
  }
  std::mt19937_64 random(5);
  for (uint32_t sample = 0; sample < kProductSamples; ++sample) {
    const uint64_t row = sample == 0 ? sizes.rows - 1 : random() % sizes.rows;
    const uint64_t column = sample == 0 ? sizes.columns - 1 : random() % sizes.columns;
    double sum = 0, absolute = 0;
    for (uint64_t i = 0; i < sizes.k; ++i) {
      const double term =
          double{operands.x.at(row * sizes.k + i)} * operands.w.at(column * sizes.k + i);
      sum += term;
      absolute += std::abs(term);
    }
    const float given = widened(y.value()[row * sizes.columns + column]);
    if (!is_near(given, sum, absolute)) return wrong("product");
  }
  return Status::ok();
}

}  // namespace

Work ProductSizes::work() const {
  const double m = rows, n = columns, depth = k;
  return {2 * m * n * depth, sizeof(uint16_t) * (m * depth + n * depth + m * n)};
}

std::vector<LayerProduct> products_of(const Shape& shape) {
  return {{"qkv", shape.hidden, shape.q_size() + 2 * shape.kv_size()},
          {"o", shape.q_size(), shape.hidden},
          {"gate_up", shape.hidden, 2 * shape.inner},
          {"down", shape.inner, shape.hidden}};
}

Result<double> product_seconds(BenchCard& card, const Rounds& rounds, const ProductSizes& sizes) {
  const uint64_t weights = uint64_t{sizes.k} * sizes.columns;
  const auto copies = static_cast<uint32_t>(std::min<uint64_t>(
      kCopiesMax, std::max<uint64_t>(1, card.cache_bytes() / (weights * sizeof(uint16_t)))));
  Operands operands;
  auto x = operands.x.fill(card, uint64_t{sizes.rows} * sizes.k);
  if (!x.is_ok()) return x.status();
  auto w = operands.w.fill(card, weights * copies);
  if (!w.is_ok()) return w.status();
  auto y = poisoned(card, uint64_t{sizes.rows} * sizes.columns * sizeof(uint16_t));
  if (!y.is_ok()) return y.status();
  operands.card_x = std::move(x).value();
  operands.card_w = std::move(w).value();
  operands.card_y = std::move(y).value();
  TesseraCardProduct product{};
  product.x = operands.card_x.as<uint16_t>();
  product.rows = sizes.rows;
  product.k = sizes.k;
  product.w = operands.card_w.as<uint16_t>();
  product.columns = sizes.columns;
  product.y = operands.card_y.as<uint16_t>();
  TESSERA_RETURN_IF_ERROR(card.queue().multiply(product));
  TESSERA_RETURN_IF_ERROR(check(card, operands, sizes));
  const auto all = [&]() -> Status {
    for (uint32_t copy = 0; copy < copies; ++copy) {
      product.w = operands.card_w.as<uint16_t>() + copy * weights;
      TESSERA_RETURN_IF_ERROR(card.queue().multiply(product));
    }
    return Status::ok();
  };
  const Result<double> seconds = median_chain_seconds(card, rounds, all);
  if (!seconds.is_ok()) return seconds;
  return seconds.value() / copies;
}

}  // namespace tessera::bench::card
