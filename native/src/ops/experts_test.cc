// Mixtures of experts on every instruction set of the machine: who is chosen, by double precision
// and in ties; the products against double precision over each row's own experts; and alone against
// together, on one thread and on several.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>

#include "ops/expert_product.h"
#include "ops/reference/reference.h"
#include "ops/route.h"
#include "ops/test_matrix.h"

namespace tessera::ops {
namespace experts_test {

using device::InstructionSet;
using device::PanelType;

struct Mixture {
  uint32_t experts, chosen;
  uint64_t hidden, size;
  bool normalises = false;
};
const Mixture kMixtures[] = {
    {1, 1, 16, 8}, {5, 2, 40, 33, true}, {9, 9, 33, 17}, {64, 8, 70, 48, true}, {128, 3, 24, 65}};

struct Chosen {
  std::vector<uint32_t> experts;
  std::vector<float> weights;
};

Chosen chosen_of(device::Device& device, const Router& router, const std::vector<float>& x,
                 uint64_t rows, uint64_t k) {
  Chosen chosen{std::vector<uint32_t>(rows * router.chosen),
                std::vector<float>(rows * router.chosen)};
  route(device, router, x.data(), rows, k, {chosen.experts, chosen.weights});
  return chosen;
}

class Experts : public ::testing::TestWithParam<InstructionSet> {
 protected:
  std::unique_ptr<device::Device> device_ = open(GetParam());
};

TEST_P(Experts, AreChosenByTheSoftmaxOfDoublePrecision) {
  for (const Mixture& m : kMixtures) {
    Source source(m.experts);
    const uint64_t rows = 37;
    const std::vector<float> x = source.floats(rows * m.hidden);
    const std::vector<float> table = source.floats(m.experts * m.hidden);
    const Router router{table.data(), m.experts, m.chosen, m.normalises};
    const Chosen found = chosen_of(*device_, router, x, rows, m.hidden);
    const tensor::TensorView view{table.data(), tensor::DType::kF32, 2, {m.experts, m.hidden}};
    const std::vector<double> logits = reference::gemm(x.data(), rows, view);
    for (uint64_t row = 0; row < rows; ++row) {
      const double* of_row = logits.data() + row * m.experts;
      std::vector<uint32_t> order(m.experts);
      std::iota(order.begin(), order.end(), 0u);
      std::stable_sort(order.begin(), order.end(),
                       [&](uint32_t a, uint32_t b) { return of_row[a] > of_row[b]; });
      double sum = 0;
      for (uint32_t i = 0; i < (m.normalises ? m.chosen : m.experts); ++i)
        sum += std::exp(of_row[order[i]]);
      for (uint32_t i = 0; i < m.chosen; ++i) {
        EXPECT_EQ(found.experts[row * m.chosen + i], order[i]);
        EXPECT_NEAR(static_cast<double>(found.weights[row * m.chosen + i]),
                    std::exp(of_row[order[i]]) / sum, 1e-5);
      }
    }
  }
}

TEST_P(Experts, OfEqualLikelihoodAreChosenInTheOrderOfTheirNumbers) {
  const uint32_t experts = 12, chosen = 5;
  const std::vector<float> x(16, 1.0f);
  std::vector<float> table(experts * 16, 0.25f);
  std::fill_n(table.begin() + 7 * 16, 16, 0.5f);
  std::fill_n(table.begin() + 9 * 16, 16, 0.5f);
  const Chosen found = chosen_of(*device_, {table.data(), experts, chosen, true}, x, 1, 16);
  EXPECT_EQ(found.experts, (std::vector<uint32_t>{7, 9, 0, 1, 2}));
}

/// A mixture's matrices, and its network over some rows.
struct Network {
  Network(device::Device& device, Source& source, PanelType type, const Mixture& m)
      : mixture(m), router(source.floats(m.experts * m.hidden)) {
    for (uint32_t e = 0; e < m.experts; ++e) {
      matrices.push_back(std::make_unique<Matrix>(device, source, type, m.size, m.hidden));
      gates.push_back(matrices.back()->packed);
      matrices.push_back(std::make_unique<Matrix>(device, source, type, m.size, m.hidden));
      ups.push_back(matrices.back()->packed);
      matrices.push_back(std::make_unique<Matrix>(device, source, type, m.hidden, m.size));
      downs.push_back(matrices.back()->packed);
    }
  }

  /// Rows of x and what the network adds to them.
  std::vector<float> run(device::Device& device, const std::vector<float>& x, uint64_t rows) const {
    const Mixture& m = mixture;
    const PanelType type = gates[0].type;
    const uint64_t block = device.kernels().panel(type).row_block;
    ExpertRows sorted(rows, m.experts, m.chosen);
    route(device, {router.data(), m.experts, m.chosen, m.normalises}, x.data(), rows, m.hidden,
          sorted.choices(rows));
    sorted.sort(rows, block);
    const uint64_t places = ExpertRows::operand_rows(rows, m.experts, m.chosen, block);
    EXPECT_LE(sorted.places(), places);
    device::Buffer memory =
        device.allocate(operand_bytes(device, type, places, std::max(m.hidden, m.size))).value();
    const Operand in{type, memory.data(), nullptr, sorted.places(), m.hidden};
    std::vector<float> inner(rows * m.chosen * m.size), y = x;
    write_expert_rows(device, sorted, x.data(), false, {}, in);
    multiply_gated(device, sorted, in, {gates, ups, {}, {}, inner.data()});
    const Operand gated{type, memory.data(), nullptr, sorted.places(), m.size};
    write_expert_rows(device, sorted, inner.data(), true, {}, gated);
    add_products(device, sorted, gated, {downs, {}, y.data()});
    return y;
  }

  const Mixture mixture;
  std::vector<float> router;
  std::vector<std::unique_ptr<Matrix>> matrices;
  std::vector<PackedMatrix> gates, ups, downs;
};

std::vector<double> expected(const Network& network, const Chosen& chosen,
                             const std::vector<float>& x, uint64_t rows) {
  const Mixture& m = network.mixture;
  std::vector<double> y(x.begin(), x.end());
  for (uint64_t pair = 0; pair < rows * m.chosen; ++pair) {
    const uint64_t row = pair / m.chosen;
    const auto* of_expert = &network.matrices[size_t{3} * chosen.experts[pair]];
    const auto gate = reference::gemm(x.data() + row * m.hidden, 1, of_expert[0]->view);
    const auto up = reference::gemm(x.data() + row * m.hidden, 1, of_expert[1]->view);
    std::vector<float> inner(m.size);
    for (uint64_t i = 0; i < m.size; ++i)
      inner[i] = static_cast<float>(gate[i] / (1 + std::exp(-gate[i])) * up[i]);
    const auto down = reference::gemm(inner.data(), 1, of_expert[2]->view);
    for (uint64_t i = 0; i < m.hidden; ++i)
      y[row * m.hidden + i] += static_cast<double>(chosen.weights[pair]) * down[i];
  }
  return y;
}

TEST_P(Experts, GiveEachRowTheSumOfItsOwn) {
  for (const Mixture& m : kMixtures) {
    Source source(m.experts + 1);
    const Network network(*device_, source, PanelType::kF32, m);
    for (const uint64_t rows : {1u, 7u, 130u}) {
      const std::vector<float> x = source.floats(rows * m.hidden);
      const Chosen chosen = chosen_of(
          *device_, {network.router.data(), m.experts, m.chosen, m.normalises}, x, rows, m.hidden);
      const std::vector<float> found = network.run(*device_, x, rows);
      const std::vector<double> sums = expected(network, chosen, x, rows);
      double largest = 0;
      for (const double sum : sums) largest = std::max(largest, std::abs(sum));
      for (size_t i = 0; i < sums.size(); ++i)
        EXPECT_NEAR(static_cast<double>(found[i]), sums[i], 1e-5 * largest) << i;
    }
  }
}

TEST_P(Experts, GiveARowTheSameBitsInAnyCompany) {
  const std::unique_ptr<device::Device> several = open(GetParam(), 3);
  for (const Mixture& m : kMixtures) {
    for (const PanelType type : kTypes) {
      Source source(m.experts + 2);
      const Network network(*device_, source, type, m);
      const uint64_t rows = 101;
      const std::vector<float> x = source.floats(rows * m.hidden);
      const std::vector<float> together = network.run(*device_, x, rows);
      EXPECT_EQ(together, network.run(*several, x, rows));
      for (const uint64_t row : {0u, 50u, 100u}) {
        const auto begin = x.begin() + static_cast<ptrdiff_t>(row * m.hidden);
        const std::vector<float> own(begin, begin + static_cast<ptrdiff_t>(m.hidden));
        const std::vector<float> alone = network.run(*device_, own, 1);
        EXPECT_EQ(
            std::memcmp(alone.data(), together.data() + row * m.hidden, m.hidden * sizeof(float)),
            0);
      }
    }
  }
}

/// An operand of all chosen pairs, and rows sorted for it.
struct Pairs {
  Pairs(device::Device& device, const Mixture& m, PanelType of_type, uint64_t rows, uint32_t seed)
      : type(of_type), sorted(rows, m.experts, m.chosen), k(m.hidden) {
    const uint64_t block = device.kernels().panel(type).row_block;
    Source source(seed);
    x = source.floats(rows * k);
    const std::vector<float> router = source.floats(m.experts * k);
    route(device, {router.data(), m.experts, m.chosen, false}, x.data(), rows, k,
          sorted.choices(rows));
    sorted.sort(rows, block);
    memory = device.allocate(operand_bytes(device, type, sorted.places(), k)).value();
    scales.resize(sorted.places() * device::panel_scales(type, k));
  }
  Operand operand() { return {type, memory.data(), scales.data(), sorted.places(), k}; }
  std::vector<char> bytes() const {
    const char* data = memory.as<char>();
    return {data, data + memory.size()};
  }

  const PanelType type;
  ExpertRows sorted;
  const uint64_t k;
  std::vector<float> x, scales;
  device::Buffer memory;
};

TEST_P(Experts, RowsThatAreCopiedForEachExpertAreThoseThatAreConvertedForIt) {
  const std::unique_ptr<device::Device> several = open(GetParam(), 3);
  for (const Mixture& m : kMixtures) {
    for (const PanelType type : kTypes) {
      Pairs found(*several, m, type, 77, 3), expected(*device_, m, type, 77, 3);
      write_expert_rows(*several, found.sorted, found.x.data(), false, {}, found.operand());
      for (const ExpertGroup& group : expected.sorted.groups()) {
        const auto rows = expected.sorted.rows().subspan(group.first, group.count);
        write_operand(*device_, expected.x.data(), m.hidden, rows, group.place, expected.operand());
      }
      EXPECT_EQ(found.bytes(), expected.bytes());
      EXPECT_EQ(found.scales, expected.scales);
    }
  }
}

TEST_P(Experts, RowsOfEachExpertHaveItsFixedScale) {
  const Mixture& m = kMixtures[3];
  Pairs found(*device_, m, PanelType::kI8, 77, 3), expected(*device_, m, PanelType::kI8, 77, 3);
  std::vector<float> scales(m.experts);
  for (uint32_t expert = 0; expert < m.experts; ++expert)
    scales[expert] = 0.01f + 0.001f * static_cast<float>(expert);
  write_expert_rows(*device_, found.sorted, found.x.data(), false, scales, found.operand());
  for (const ExpertGroup& group : expected.sorted.groups()) {
    Operand operand = expected.operand();
    operand.fixed_scale = scales[group.expert];
    const auto rows = expected.sorted.rows().subspan(group.first, group.count);
    write_operand(*device_, expected.x.data(), m.hidden, rows, group.place, operand);
  }
  EXPECT_EQ(found.bytes(), expected.bytes());
  EXPECT_EQ(found.scales, expected.scales);
}

/// The portable kernels, which count the rows that they convert to INT8.
class CountingDevice final : public device::Device {
 public:
  explicit CountingDevice(device::Device& device) : device_(device), kernels_(device.kernels()) {
    converted = 0;
    convert = kernels_.panel_i8.write_operand;
    kernels_.panel_i8.write_operand = [](const float* x, size_t x_stride, size_t first, size_t rows,
                                         size_t k, void* operand, float* scales) {
      converted += rows;
      convert(x, x_stride, first, rows, k, operand, scales);
    };
  }
  const char* name() const override { return device_.name(); }
  uint64_t available_bytes() const override { return device_.available_bytes(); }
  Result<device::Buffer> allocate(uint64_t bytes) override { return device_.allocate(bytes); }
  Status zero(device::Buffer& buffer) override { return device_.zero(buffer); }
  void copy(void* to, const void* from, uint64_t bytes) override { device_.copy(to, from, bytes); }
  const device::KernelTable& kernels() const override { return kernels_; }
  platform::ThreadPool& threads() override { return device_.threads(); }

  static inline uint64_t converted = 0;

 private:
  static inline decltype(device::PanelKernels::write_operand) convert = nullptr;
  void release(void*, uint64_t) override {}
  device::Device& device_;
  device::KernelTable kernels_;
};

TEST(ExpertRows, AreConvertedOnceHoweverManyExpertsTheyChoose) {
  const std::unique_ptr<device::Device> portable = open(InstructionSet::kPortable);
  CountingDevice device(*portable);
  Pairs pairs(device, kMixtures[3], PanelType::kI8, 40, 1);
  write_expert_rows(device, pairs.sorted, pairs.x.data(), false, {}, pairs.operand());
  EXPECT_EQ(CountingDevice::converted, 40u);
}

TEST(ExpertRows, OfTheSummedProductAreSharedOutWhereThreadsOutnumberPanels) {
  const uint64_t panels = 64;
  EXPECT_EQ(down_parts(2304, 2304 * 8, 128, panels, 2), 1u);
  EXPECT_EQ(down_parts(2304, 2304 * 8, 128, panels, 63), 1u);
  EXPECT_EQ(down_parts(2304, 2304 * 8, 128, panels, 64), 4u);   // four tasks for each thread
  EXPECT_EQ(down_parts(2304, 2304 * 8, 128, panels, 256), 4u);  // 144 rows an expert, 36 a part
  EXPECT_EQ(down_parts(16, 16 * 8, 80, panels, 256), 1u);       // weights are read but once
  EXPECT_EQ(down_parts(40, 40, 1, 1, 3), 1u);
  EXPECT_EQ(down_parts(101, 101, 1, 1, 3), 3u);
}

INSTANTIATE_TEST_SUITE_P(Machine, Experts,
                         ::testing::ValuesIn(device::available_instruction_sets()),
                         [](const ::testing::TestParamInfo<InstructionSet>& set) {
                           return std::string(device::instruction_set_name(set.param));
                         });

}  // namespace experts_test
}  // namespace tessera::ops
