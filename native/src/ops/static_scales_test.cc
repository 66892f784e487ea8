// A feed-forward network with static scales, from the rows before its norm to its output: against
// the same in double precision, and bit for bit between instruction sets and companies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "ops/layer_norm.h"
#include "ops/matmul.h"
#include "ops/quantise.h"
#include "ops/test_source.h"

namespace tessera::ops {
namespace static_scales_test {

using device::InstructionSet;
using device::PanelType;
using tensor::DType;
using tensor::TensorView;

constexpr PanelType kType = PanelType::kStaticI8;
constexpr uint64_t kDepth = device::panel_tile_depth(kType);
constexpr float kEpsilon = 1e-5f;

struct Sizes {
  uint64_t rows, k, inner, outputs;
};
const Sizes kSizes[] = {{1, 64, 64, 1}, {3, 65, 70, 33}, {35, 130, 200, 70}, {100, 40, 100, 64}};

/// Static scales of rows of k values, and what kernels want of them.
struct Scales {
  Scales(uint64_t k, double most, Source& source) {
    const uint64_t filled = device::panel_tiles(kType, k) * kDepth;
    for (const float value : source.floats(filled)) {
      scales.push_back(static_cast<float>(most / 127 * (1 + 0.5 * std::abs(value))));
      offsets.push_back(0.3f * value * scales.back());
      factors.push_back(1.0f / scales.back());
      shifts.push_back(-offsets.back() * factors.back());
    }
  }
  std::vector<float> scales, offsets, factors, shifts;
};

struct Weights {
  Weights(device::Device& device, uint64_t n, uint64_t k, const Scales& inputs, Source& source)
      : values(source.floats(n * k)) {
    for (float& value : values) value /= std::sqrt(static_cast<float>(k));
    memory = std::move(device.allocate(packed_bytes(kType, k, n))).value();
    scales.resize(scale_count(k, n, kType));
    packed = {kType, memory.data(), k, n, device::panel_bytes(kType, k), scales.data()};
    const TensorView view{values.data(), DType::kF32, 2, {n, k}};
    quantise_static(device, view, {inputs.scales, inputs.offsets}, packed);
  }
  std::vector<float> values, scales;
  device::Buffer memory;
  PackedMatrix packed;
};

struct Side {
  Side(device::Device& device, uint64_t rows, uint64_t k, const Scales& scales)
      : memory(std::move(device.allocate(operand_bytes(device, kType, rows, k))).value()),
        marks(rows, -1.0f),
        operand{kType, memory.data(), marks.data(), rows, k} {
    operand.factors = scales.factors.data();
    operand.offsets = scales.shifts.data();
    clear_marks(operand);
  }
  device::Buffer memory;
  std::vector<float> marks;
  Operand operand;
};

struct Network {
  Network(const Sizes& sizes, bool is_gated)
      : s(sizes),
        gated(is_gated),
        source(sizes.rows * 31 + sizes.inner),
        entering(s.k, 60.0, source),
        within(s.inner, 40.0, source),
        x(source.floats(s.rows * s.k)),
        weight(source.floats(s.k)),
        bias(source.floats(s.k)),
        inner_bias(source.floats(s.inner)) {}

  /// [rows][outputs] of rows [first, first + rows).
  std::vector<float> run(device::Device& device, uint64_t first, uint64_t rows) const {
    Source own = source;
    const Weights up(device, s.inner, s.k, entering, own),
        gate(device, s.inner, s.k, entering, own), down(device, s.outputs, s.inner, within, own);
    const Side left(device, rows, s.k, entering), made(device, rows, s.inner, within);
    std::vector<float> normed(rows * s.k), y(rows * s.outputs);
    layer_norm(device, x.data() + first * s.k, {weight.data(), bias.data(), kEpsilon},
               normed.data(), left.operand);
    Target inner;
    inner.w = gated ? &gate.packed : &up.packed;
    inner.up = gated ? &up.packed : nullptr;
    inner.has_gelu = true;
    inner.bias = gated ? nullptr : inner_bias.data();
    inner.operand = &made.operand;
    matmul(device, left.operand, {&inner, 1});
    Target output;
    output.w = &down.packed;
    output.y = y.data();
    output.y_stride = s.outputs;
    matmul(device, made.operand, {&output, 1});
    return y;
  }

  Sizes s;
  bool gated;
  Source source;
  Scales entering, within;
  std::vector<float> x, weight, bias, inner_bias;
};

using Row = std::vector<double>;

Row transformed(const Row& x) {
  Row y((x.size() + kDepth - 1) / kDepth * kDepth, 0.0);
  for (uint64_t i = 0; i < y.size(); ++i) {
    const uint64_t tile = i / kDepth * kDepth;
    for (uint64_t j = tile; j < std::min<uint64_t>(tile + kDepth, x.size()); ++j)
      y[i] += __builtin_popcountll((i - tile) & (j - tile)) % 2 == 0 ? x[j] : -x[j];
  }
  return y;
}

/// x w in double precision, of what both are after they were quantised, or of themselves.
Row product(const Row& x, const std::vector<float>& w, uint64_t n, const Scales& scales,
            bool quantises) {
  const Row t = transformed(x);
  Row y(n, 0.0);
  for (uint64_t j = 0; j < n; ++j) {
    const auto begin = w.begin() + static_cast<ptrdiff_t>(j * x.size());
    const Row column = transformed(Row(begin, begin + static_cast<ptrdiff_t>(x.size())));
    Row v(t.size());
    double largest = 0;
    for (size_t i = 0; i < t.size(); ++i) {
      v[i] = column[i] * static_cast<double>(scales.scales[i]) / kDepth;
      largest = std::max(largest, std::abs(v[i]));
    }
    for (size_t i = 0; i < t.size(); ++i) {
      const double scale = static_cast<double>(scales.scales[i]);
      const double offset = static_cast<double>(scales.offsets[i]);
      if (quantises) {
        const double own = std::clamp(std::nearbyint((t[i] - offset) / scale), -127.0, 127.0);
        y[j] += own * std::nearbyint(v[i] / largest * 127) * largest / 127 +
                offset * column[i] / kDepth;
      } else {
        y[j] += t[i] * column[i] / kDepth;
      }
    }
  }
  return y;
}

double gelu(double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }

Row reference(const Network& network, uint64_t row, bool quantises) {
  const Sizes& s = network.s;
  Source own = network.source;
  const auto drawn = [&](uint64_t n, uint64_t k) {
    std::vector<float> values = own.floats(n * k);
    for (float& value : values) value /= std::sqrt(static_cast<float>(k));
    return values;
  };
  const auto up = drawn(s.inner, s.k), gate = drawn(s.inner, s.k), down = drawn(s.outputs, s.inner);
  Row x(network.x.begin() + static_cast<ptrdiff_t>(row * s.k),
        network.x.begin() + static_cast<ptrdiff_t>((row + 1) * s.k));
  double mean = 0, variance = 0;
  for (const double value : x) mean += value / static_cast<double>(s.k);
  for (const double value : x)
    variance += (value - mean) * (value - mean) / static_cast<double>(s.k);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = (x[i] - mean) / std::sqrt(variance + static_cast<double>(kEpsilon)) *
               static_cast<double>(network.weight[i]) +
           static_cast<double>(network.bias[i]);
  }
  Row inner = product(x, up, s.inner, network.entering, quantises);
  const Row gates = network.gated ? product(x, gate, s.inner, network.entering, quantises) : Row();
  for (size_t i = 0; i < inner.size(); ++i) {
    inner[i] = network.gated ? gelu(gates[i]) * inner[i]
                             : gelu(inner[i] + static_cast<double>(network.inner_bias[i]));
  }
  return product(inner, down, s.outputs, network.within, quantises);
}

double distance(const std::vector<float>& y, const Row& wanted, uint64_t first) {
  double sum = 0, all = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double difference = static_cast<double>(y[first + i]) - wanted[i];
    sum += difference * difference;
    all += wanted[i] * wanted[i];
  }
  return std::sqrt(sum / all);
}

class StaticScales : public ::testing::TestWithParam<InstructionSet> {
 protected:
  std::unique_ptr<device::Device> device_ = open(GetParam(), 2);
};

TEST_P(StaticScales, ANetworkIsThatOfDoublePrecisionOverTheSameQuantisedValues) {
  for (const bool gated : {false, true}) {
    const Network network({12, 130, 200, 70}, gated);
    const std::vector<float> y = network.run(*device_, 0, network.s.rows);
    for (uint64_t row = 0; row < network.s.rows; ++row) {
      const double simulated = distance(y, reference(network, row, true), row * network.s.outputs);
      const double exact = distance(y, reference(network, row, false), row * network.s.outputs);
      // A value at the middle between two integers may be rounded to either.
      EXPECT_LT(simulated, 2e-3) << row;
      EXPECT_GT(exact, 2 * simulated) << row;
      EXPECT_LT(exact, 0.1) << row;
    }
  }
}

TEST_P(StaticScales, ARowIsTheSameBitsAloneAndOnThePortableSet) {
  const auto portable = open(InstructionSet::kPortable, 1);
  for (const Sizes& sizes : kSizes) {
    for (const bool gated : {false, true}) {
      const Network network(sizes, gated);
      const std::vector<float> y = network.run(*device_, 0, sizes.rows);
      ASSERT_EQ(y, network.run(*portable, 0, sizes.rows));
      for (const uint64_t row : {uint64_t{0}, sizes.rows / 2, sizes.rows - 1}) {
        const std::vector<float> alone = network.run(*device_, row, 1);
        for (uint64_t j = 0; j < sizes.outputs; ++j)
          ASSERT_EQ(alone[j], y[row * sizes.outputs + j]) << row << "," << j;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, StaticScales,
                         ::testing::ValuesIn(device::available_instruction_sets()),
                         [](const auto& set) {
                           return std::string(device::instruction_set_name(set.param));
                         });

}  // namespace static_scales_test
}  // namespace tessera::ops
