// Low-rank terms and overlays on every instruction set and on the tile unit's model: what they add,
// and that rows with other ones, or none, change no bit.
#include "ops/low_rank.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "device/cpu/amx_modelled.h"
#include "ops/head.h"
#include "ops/matmul.h"
#include "ops/test_matrix.h"

namespace tessera::ops {
namespace low_rank_test {

using device::InstructionSet;
using device::PanelType;

/// A portable device whose BF16 products are those of the tile unit.
class TileDevice final : public device::Device {
 public:
  TileDevice() : inner_(open(InstructionSet::kPortable, 2)), kernels_(inner_->kernels()) {
    kernels_.panel_bf16 = device::cpu::amx_bf16_modelled();
  }
  const char* name() const override { return "tiles"; }
  uint64_t available_bytes() const override { return inner_->available_bytes(); }
  Result<device::Buffer> allocate(uint64_t bytes) override { return inner_->allocate(bytes); }
  Status zero(device::Buffer& buffer) override { return inner_->zero(buffer); }
  void copy(void* to, const void* from, uint64_t n) override { inner_->copy(to, from, n); }
  const device::KernelTable& kernels() const override { return kernels_; }
  platform::ThreadPool& threads() override { return inner_->threads(); }

 private:
  void release(void*, uint64_t) override {}  // buffers are the inner device's

  std::unique_ptr<device::Device> inner_;
  device::KernelTable kernels_;
};

std::vector<std::unique_ptr<device::Device>> devices() {
  std::vector<std::unique_ptr<device::Device>> all;
  for (const InstructionSet set : device::available_instruction_sets()) all.push_back(open(set));
  all.push_back(std::make_unique<TileDevice>());
  return all;
}

constexpr uint64_t kInputs = 70, kOutputs = 83;

/// Factors of one rank.
struct Factors {
  Factors(device::Device& device, Source& source, PanelType type, uint64_t rank)
      : a(device, source, type, rank, kInputs), b(device, source, type, kOutputs, rank) {
    low_rank = {a.packed, b.packed};
  }
  Matrix a, b;
  LowRank low_rank;
};

struct Stretch {
  const LowRank* factors;
  uint64_t first, rows;
};

/// x W^T with bias and the stretches' terms.
std::vector<float> product(device::Device& device, const Matrix& w, const std::vector<float>& x,
                           const std::vector<float>& bias, const std::vector<Stretch>& stretches) {
  const uint64_t rows = x.size() / kInputs;
  const Rows operand(device, w.packed.type, x, rows, kInputs);
  std::vector<device::Buffer> inner;
  std::vector<LowRankTerm> terms;
  for (const Stretch& s : stretches) {
    const uint64_t bytes =
        low_rank_bytes(device, w.packed.type, s.first, s.rows, s.factors->a.columns);
    inner.push_back(std::move(device.allocate(bytes)).value());
    std::memset(inner.back().data(), 0xFF, bytes);  // what lay there before must not matter
    terms.push_back({s.factors, s.first, s.rows, inner.back().data()});
  }
  project(device, operand.operand, terms);
  std::vector<float> y(rows * kOutputs);
  const Target target{
      .w = &w.packed, .bias = bias.data(), .y = y.data(), .y_stride = kOutputs, .terms = terms};
  matmul(device, operand.operand, {&target, 1});
  return y;
}

std::vector<float> rows_of(const std::vector<float>& all, uint64_t first, uint64_t rows,
                           uint64_t n) {
  const auto begin = all.begin() + static_cast<ptrdiff_t>(first * n);
  return {begin, begin + static_cast<ptrdiff_t>(rows * n)};
}

float element(const Matrix& m, PanelType type, uint64_t i) {
  return type == PanelType::kF32 ? m.floats[i + 1] : tensor::f32_of_bf16(m.halves[i + 1]);
}

TEST(LowRank, TermsAddTheProductOfBothFactorsInDoublePrecision) {
  for (const auto& device : devices()) {
    for (const PanelType type : kTypes) {
      for (const uint64_t rank : {1, 5, 32, 33, 128}) {
        SCOPED_TRACE(std::string(device->name()) + " rank " + std::to_string(rank));
        Source source(rank);
        const Matrix w(*device, source, type, kOutputs, kInputs);
        const Factors factors(*device, source, type, rank);
        std::vector<float> x = source.floats(9 * kInputs);
        if (type == PanelType::kBf16) round_to_bf16(x);
        const std::vector<float> bias = source.floats(kOutputs);
        const auto with = product(*device, w, x, bias, {{&factors.low_rank, 2, 5}});
        const auto without = product(*device, w, x, bias, {});
        const double spread = std::sqrt(kInputs * static_cast<double>(rank));
        for (uint64_t i = 0; i < 9; ++i) {
          for (uint64_t o = 0; o < kOutputs; ++o) {
            double term = 0;
            for (uint64_t r = 0; i >= 2 && i < 7 && r < rank; ++r) {
              double inner = 0;
              for (uint64_t k = 0; k < kInputs; ++k)
                inner += static_cast<double>(x[i * kInputs + k]) *
                         static_cast<double>(element(factors.a, type, r * kInputs + k));
              term += inner * static_cast<double>(element(factors.b, type, o * rank + r));
            }
            const double added = static_cast<double>(with[i * kOutputs + o]) -
                                 static_cast<double>(without[i * kOutputs + o]);
            EXPECT_NEAR(added, term, spread * (type == PanelType::kF32 ? 1e-5 : 1e-2));
          }
        }
      }
    }
  }
}

TEST(LowRank, ARowHasTheBitsThatItHasAloneWhateverTermsOthersHave) {
  for (const auto& device : devices()) {
    for (const PanelType type : kTypes) {
      SCOPED_TRACE(device->name());
      Source source(77);
      const Matrix w(*device, source, type, kOutputs, kInputs);
      const Factors one(*device, source, type, 3), two(*device, source, type, 128);
      const Factors three(*device, source, type, 40);
      const std::vector<float> x = source.floats(150 * kInputs);
      const std::vector<float> bias = source.floats(kOutputs);
      const std::vector<Stretch> stretches = {{&one.low_rank, 1, 4},
                                              {&two.low_rank, 5, 1},
                                              {&three.low_rank, 20, 90},
                                              {&one.low_rank, 110, 33},
                                              {&two.low_rank, 145, 5}};
      const auto all = product(*device, w, x, bias, stretches);
      for (uint64_t row = 0; row < 150; ++row) {
        std::vector<Stretch> own;
        for (const Stretch& s : stretches) {
          if (row >= s.first && row < s.first + s.rows) own = {{s.factors, 0, 1}};
        }
        const auto alone = product(*device, w, rows_of(x, row, 1, kInputs), bias, own);
        EXPECT_TRUE(same_bits(rows_of(all, row, 1, kOutputs), alone)) << "row " << row;
      }
    }
  }
}

constexpr uint64_t kVocabulary = 813;

/// The panels of `other` that hold `ids`, with those columns of `w` that are not among them.
struct Overlay {
  Overlay(device::Device& device, const Matrix& w, const Matrix& other,
          const std::vector<uint64_t>& ids) {
    for (const uint64_t id : ids) {
      const auto panel = static_cast<uint32_t>(id / device::kPanelColumns);
      if (numbers.empty() || numbers.back() != panel) numbers.push_back(panel);
    }
    const PanelType type = w.packed.type;
    const uint64_t bytes = device::panel_bytes(type, kInputs);
    memory = std::move(device.allocate(bytes * numbers.size())).value();
    overlay = {
        numbers,
        {type, memory.data(), kInputs, numbers.size() * device::kPanelColumns, bytes, nullptr}};
    for (size_t p = 0; p < numbers.size(); ++p) {
      std::vector<float> rows(device::kPanelColumns * kInputs);
      for (uint64_t c = 0; c < device::kPanelColumns; ++c) {
        const uint64_t id = numbers[p] * device::kPanelColumns + c;
        if (id >= kVocabulary) break;
        const bool is_own = std::find(ids.begin(), ids.end(), id) != ids.end();
        unpack_column(is_own ? other.packed : w.packed, id, rows.data() + c * kInputs);
      }
      PackedMatrix panel = overlay.own;
      panel.panels = memory.as<char>() + p * bytes;
      panel.columns = device::kPanelColumns;
      pack(
          device,
          tensor::TensorView{rows.data(), tensor::DType::kF32, 2, {device::kPanelColumns, kInputs}},
          panel);
    }
  }
  std::vector<uint32_t> numbers;
  device::Buffer memory;
  PanelOverlay overlay;
};

/// `w` with the columns `ids` of `other` in place.
Matrix with_columns(device::Device& device, const Matrix& w, const Matrix& other,
                    const std::vector<uint64_t>& ids) {
  Source source(0);
  Matrix whole(device, source, w.packed.type, kVocabulary, kInputs);
  std::vector<float> rows(kVocabulary * kInputs);
  for (uint64_t id = 0; id < kVocabulary; ++id) {
    const bool is_own = std::find(ids.begin(), ids.end(), id) != ids.end();
    unpack_column(is_own ? other.packed : w.packed, id, rows.data() + id * kInputs);
  }
  pack(device, tensor::TensorView{rows.data(), tensor::DType::kF32, 2, {kVocabulary, kInputs}},
       whole.packed);
  return whole;
}

struct Asked {
  uint64_t rows;
  const PanelOverlay* overlay;
  bool wants_sums;
};

/// Logits of all ids, and sums where they are wanted, request by request.
std::vector<std::vector<float>> heads(device::Device& device, const PackedMatrix& w,
                                      const std::vector<float>& x, const std::vector<Asked>& asked,
                                      const std::vector<int32_t>& ids) {
  const uint64_t rows = x.size() / kInputs;
  const Rows operand(device, w.type, x, rows, kInputs);
  std::vector<std::vector<float>> results;
  for (const Asked& one : asked) results.emplace_back(one.rows * (ids.size() + 1), -9.0f);
  std::vector<HeadTokens> sets;
  for (auto& result : results) sets.push_back({ids, result.data()});
  std::vector<HeadRows> requests;
  for (size_t i = 0; i < asked.size(); ++i) {
    float* sums = results[i].data() + asked[i].rows * ids.size();
    requests.push_back(
        {asked[i].rows, {&sets[i], 1}, asked[i].wants_sums ? sums : nullptr, asked[i].overlay});
  }
  std::vector<float> scratch(head_scratch(rows, w.columns));
  head(device, operand.operand, w, requests, scratch);
  return results;
}

TEST(PanelOverlay, ColumnsOfOthersAreThoseOfAWholeMatrixWithThemInPlace) {
  for (const auto& device : devices()) {
    for (const PanelType type : kTypes) {
      SCOPED_TRACE(device->name());
      Source source(5);
      const Matrix w(*device, source, type, kVocabulary, kInputs);
      const Matrix other(*device, source, type, kVocabulary, kInputs);
      const std::vector<uint64_t> few = {3, 40, 300, 301, 812};
      std::vector<uint64_t> many;
      for (uint64_t id = 255; id < 700; ++id) many.push_back(id);
      const Overlay a(*device, w, other, few), b(*device, w, other, many);
      const Matrix whole_a = with_columns(*device, w, other, few);
      const Matrix whole_b = with_columns(*device, w, other, many);
      const auto whole_of = [&](const PanelOverlay* overlay) -> const Matrix& {
        if (overlay == nullptr) return w;
        return overlay == &a.overlay ? whole_a : whole_b;
      };
      std::vector<int32_t> ids;
      for (int32_t id = 812; id >= 0; id -= 3) ids.push_back(id);
      for (int pattern = 0; pattern < 4; ++pattern) {
        const bool sums = pattern % 2 == 0, mixes = pattern >= 2;
        const std::vector<Asked> asked = {{3, nullptr, sums},     {1, &a.overlay, sums},
                                          {37, &b.overlay, sums}, {0, &a.overlay, sums},
                                          {5, &b.overlay, mixes}, {70, &a.overlay, sums},
                                          {30, nullptr, sums},    {4, &b.overlay, sums}};
        const std::vector<float> x = source.floats(150 * kInputs);
        const auto together = heads(*device, w.packed, x, asked, ids);
        uint64_t row = 0;
        for (size_t i = 0; i < asked.size(); row += asked[i++].rows) {
          if (asked[i].rows == 0) continue;
          const auto alone = heads(*device, whole_of(asked[i].overlay).packed,
                                   rows_of(x, row, asked[i].rows, kInputs),
                                   {{asked[i].rows, nullptr, asked[i].wants_sums}}, ids);
          EXPECT_TRUE(same_bits(together[i], alone[0])) << "request " << i;
        }
      }
    }
  }
}

}  // namespace low_rank_test
}  // namespace tessera::ops
