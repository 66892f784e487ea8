#include <cmath>

#include "card/attention_case.h"
#include "card/product_case.h"
#include "card/random_values.h"
#include "card/stages.h"
#include "cuda/kernels/forward_kernels.h"

namespace tessera::bench::card {
namespace {

using device::cuda::LaunchShape;

constexpr uint32_t kNormSamples = 4;
constexpr float kEpsilon = 1e-6f;

Status measure_copy(BenchCard& card, const Options& options, Report& report) {
  const uint64_t bytes = uint64_t{options.copy_mebibytes} << 20;
  auto from = RandomValues(3).fill(card, bytes / sizeof(uint16_t));
  if (!from.is_ok()) return from.status();
  auto to = poisoned(card, bytes);
  if (!to.is_ok()) return to.status();
  const Result<double> seconds = median_seconds(card, options.rounds, [&] {
    return card.queue().copy_within(to.value().as<void>(), from.value().as<void>(), bytes);
  });
  if (!seconds.is_ok()) return seconds.status();
  report.add("peak/copy", 2 * static_cast<double>(bytes) / seconds.value(), "bytes/s");
  return Status::ok();
}

Status measure_products(BenchCard& card, const Options& options, const Shape& shape,
                        Report& report) {
  const uint32_t side = options.peak_side;
  const ProductSizes square{side, side, side};
  const Result<double> peak = product_seconds(card, options.rounds, square);
  if (!peak.is_ok()) return peak.status();
  report.add("peak/product " + std::to_string(side), square.work().operations / peak.value(),
             "operations/s");
  for (const auto& [name, k, columns] : products_of(shape)) {
    for (const uint32_t rows : options.rows) {
      const ProductSizes sizes{rows, k, columns};
      const Result<double> seconds = product_seconds(card, options.rounds, sizes);
      if (!seconds.is_ok()) return seconds.status();
      report.add_seconds("kernels/" + shape.name + "/product " + name + "/" + std::to_string(rows) +
                             "x" + std::to_string(columns) + "x" + std::to_string(k),
                         seconds.value(), sizes.work());
    }
  }
  return Status::ok();
}

Status measure_attention(BenchCard& card, const Options& options, const Shape& shape,
                         Report& report) {
  for (const uint32_t context : options.contexts) {
    for (const uint32_t beams : {0u, options.width}) {
      const AttentionSizes sizes{context, beams};
      const Result<double> seconds = attention_seconds(card, options.rounds, shape, sizes);
      if (!seconds.is_ok()) return seconds.status();
      const std::string rows = beams > 0 ? std::to_string(beams) + " beams" : "prompt";
      report.add_seconds(
          "kernels/" + shape.name + "/attention " + rows + "/context " + std::to_string(context),
          seconds.value(), attention_work(shape, sizes));
    }
  }
  return Status::ok();
}

/// hidden += added, then normed in BF16.
class NormCase {
 public:
  NormCase(BenchCard& card, uint32_t rows, uint32_t size)
      : card_(card), rows_(rows), size_(size), hidden_(uint64_t{rows} * size, 1.5f) {}

  Result<double> seconds(const Rounds& rounds) {
    auto added = added_.fill(card_, hidden_.size());
    if (!added.is_ok()) return added.status();
    auto weight = weight_.fill(card_, size_);
    if (!weight.is_ok()) return weight.status();
    auto hidden = copied<float>(card_, hidden_);
    if (!hidden.is_ok()) return hidden.status();
    auto normed = poisoned(card_, hidden_.size() * sizeof(uint16_t));
    if (!normed.is_ok()) return normed.status();
    const LaunchShape shape{{rows_, 1, 1}, {ops::cuda::kRowThreads, 1, 1}};
    const auto run = [&] {
      return launch(card_.queue(), model::cuda::kAddRmsNorm, shape, added.value().as<uint16_t>(),
                    weight.value().as<uint16_t>(), size_, kEpsilon, hidden.value().as<float>(),
                    normed.value().as<uint16_t>(), nullptr);
    };
    TESSERA_RETURN_IF_ERROR(run());
    TESSERA_RETURN_IF_ERROR(check(normed.value().as<void>()));
    return median_chain_seconds(card_, rounds, run);
  }

  Work work() const { return {0, static_cast<double>(hidden_.size()) * (4 + 4 + 2 + 2)}; }

 private:
  Status check(const void* normed) {
    const auto values = fetched<uint16_t>(card_, normed, hidden_.size());
    if (!values.is_ok()) return values.status();
    for (uint32_t sample = 0; sample < kNormSamples; ++sample) {
      const uint64_t first = uint64_t{rows_ - 1} * sample / (kNormSamples - 1) * size_;
      double squares = 0;
      for (uint32_t i = 0; i < size_; ++i) squares += std::pow(1.5 + added_.at(first + i), 2);
      const double factor = 1 / std::sqrt(squares / size_ + kEpsilon);
      for (uint32_t i = 0; i < size_; ++i) {
        const double expected = weight_.at(i) * (1.5 + added_.at(first + i)) * factor;
        const double given = widened(values.value()[first + i]);
        if (!(std::abs(given - expected) <= std::abs(expected) / 128 + 1e-6)) return wrong("norm");
      }
    }
    return Status::ok();
  }

  BenchCard& card_;
  uint32_t rows_, size_;
  std::vector<float> hidden_;
  RandomValues added_{14}, weight_{15};
};

Status measure_norms(BenchCard& card, const Options& options, const Shape& shape, Report& report) {
  for (const uint32_t rows : options.rows) {
    NormCase one(card, rows, shape.hidden);
    const Result<double> seconds = one.seconds(options.rounds);
    if (!seconds.is_ok()) return seconds.status();
    report.add_seconds("kernels/" + shape.name + "/norm/" + std::to_string(rows) + " rows",
                       seconds.value(), one.work());
  }
  return Status::ok();
}

/// Log-sum-exp of the whole vocabulary, against double precision.
Status check_sums(BenchCard& card, const Memory& logits, const Memory& sums, uint32_t rows,
                  uint32_t vocab) {
  const auto given = fetched<float>(card, sums.as<void>(), rows);
  if (!given.is_ok()) return given.status();
  for (const uint32_t row : {0u, rows - 1}) {
    const auto values = fetched<float>(card, logits.as<float>() + uint64_t{row} * vocab, vocab);
    if (!values.is_ok()) return values.status();
    double highest = -1e300, sum = 0;
    for (const float value : values.value()) highest = std::max(highest, double{value});
    for (const float value : values.value()) sum += std::exp(value - highest);
    const double expected = highest + std::log(sum);
    if (!(std::abs(given.value()[row] - expected) <= 1e-4 * (1 + std::abs(expected)))) {
      return wrong("log-sum-exp");
    }
  }
  return Status::ok();
}

/// Logits of all beams over the whole vocabulary in F32, and their log-sum-exps.
Status measure_head(BenchCard& card, const Options& options, const Shape& shape, Report& report) {
  const uint64_t count = uint64_t{options.width} * shape.vocab;
  auto x = RandomValues(16).fill(card, uint64_t{options.width} * shape.hidden);
  if (!x.is_ok()) return x.status();
  auto w = RandomValues(17, 0.05f).fill(card, uint64_t{shape.vocab} * shape.hidden);
  if (!w.is_ok()) return w.status();
  auto logits = poisoned(card, count * sizeof(float));
  if (!logits.is_ok()) return logits.status();
  auto sums = poisoned(card, options.width * sizeof(float));
  if (!sums.is_ok()) return sums.status();
  TesseraCardProduct product{};
  product.x = x.value().as<uint16_t>();
  product.rows = options.width;
  product.k = shape.hidden;
  product.w = w.value().as<uint16_t>();
  product.columns = shape.vocab;
  product.y_f32 = logits.value().as<float>();
  const LaunchShape rows{{options.width, 1, 1}, {ops::cuda::kRowThreads, 1, 1}};
  const auto run = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(card.queue().multiply(product));
    return launch(card.queue(), model::cuda::kLogSumExp, rows, logits.value().as<float>(),
                  shape.vocab, sums.value().as<float>());
  };
  TESSERA_RETURN_IF_ERROR(run());
  TESSERA_RETURN_IF_ERROR(
      check_sums(card, logits.value(), sums.value(), options.width, shape.vocab));
  const Result<double> seconds = median_chain_seconds(card, options.rounds, run);
  if (!seconds.is_ok()) return seconds.status();
  Work work = ProductSizes{options.width, shape.hidden, shape.vocab}.work();
  work.bytes += static_cast<double>(count) * sizeof(uint16_t);  // F32 in place of BF16
  report.add_seconds("kernels/" + shape.name + "/head/" + std::to_string(options.width) + "x" +
                         std::to_string(shape.vocab),
                     seconds.value(), work);
  return Status::ok();
}

}  // namespace

Status kernels_stage(BenchCard& card, const Options& options, Report& report) {
  const Result<Shape> shape = shape_of(options.shape);
  if (!shape.is_ok()) return shape.status();
  TESSERA_RETURN_IF_ERROR(measure_copy(card, options, report));
  TESSERA_RETURN_IF_ERROR(measure_products(card, options, shape.value(), report));
  TESSERA_RETURN_IF_ERROR(measure_attention(card, options, shape.value(), report));
  TESSERA_RETURN_IF_ERROR(measure_norms(card, options, shape.value(), report));
  return measure_head(card, options, shape.value(), report);
}

}  // namespace tessera::bench::card
