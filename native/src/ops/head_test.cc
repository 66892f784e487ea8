// The head on every instruction set of the machine: logits of chosen tokens and log sum exp, alone
// and of several requests together.
#include "ops/head.h"

#include <cmath>
#include <numeric>

#include "ops/matmul.h"
#include "ops/reference/reference.h"
#include "ops/test_matrix.h"

namespace tessera::ops {
namespace head_test {

using device::InstructionSet;
using device::PanelType;

constexpr uint64_t kVocabulary = 813, kHidden = 70;

struct Answer {
  std::vector<float> logits, sums;
};

class HeadTest : public ::testing::TestWithParam<InstructionSet> {
 protected:
  /// One request alone, on `device`.
  static Answer ask(device::Device& device, const Matrix& w, const std::vector<float>& x,
                    const std::vector<int32_t>& ids, bool wants_sums) {
    const uint64_t rows = x.size() / w.packed.k;
    const Rows operand(device, w.packed.type, x, rows, w.packed.k);
    Answer answer;
    answer.logits.assign(rows * ids.size(), -9.0f);
    answer.sums.assign(rows, -9.0f);
    std::vector<float> scratch(head_scratch(rows, w.packed.columns));
    const HeadTokens tokens{ids, answer.logits.data()};
    const HeadRows request{rows, {&tokens, 1}, wants_sums ? answer.sums.data() : nullptr};
    head(device, operand.operand, w.packed, {&request, 1}, scratch);
    return answer;
  }

  std::unique_ptr<device::Device> device_ = open(GetParam());
  /// The narrowest set of the same class.
  std::unique_ptr<device::Device> narrowest_ =
      open(device::available_instruction_sets(device::numeric_class(GetParam())).front());
};

std::vector<int32_t> range(int32_t first, int32_t count) {
  std::vector<int32_t> ids(static_cast<size_t>(count));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

const std::vector<int32_t> kIdSets[] = {
    range(0, 813), range(290, 300), {812}, {5, 700, 3, 3, 290, 291, 812, 0, 31, 32, 33}, {}};

TEST_P(HeadTest, LogitsAreTheProductsOfTheirTokensWhateverTheSetAndWithSumsOrWithout) {
  for (const PanelType type : kTypes) {
    Source source(21);
    const Matrix w(*device_, source, type, kVocabulary, kHidden);
    const std::vector<float> x = source.floats(41 * kHidden);
    const Rows operand(*device_, type, x, 41, kHidden);
    std::vector<float> whole(41 * kVocabulary);
    const Target target{.w = &w.packed, .y = whole.data(), .y_stride = kVocabulary};
    matmul(*device_, operand.operand, {&target, 1});
    for (const std::vector<int32_t>& ids : kIdSets) {
      std::vector<float> expected;
      for (uint64_t i = 0; i < 41; ++i) {
        for (const int32_t id : ids) {
          expected.push_back(whole[i * kVocabulary + static_cast<uint64_t>(id)]);
        }
      }
      EXPECT_TRUE(same_bits(ask(*device_, w, x, ids, false).logits, expected));
      EXPECT_TRUE(same_bits(ask(*device_, w, x, ids, true).logits, expected));
    }
  }
}

TEST_P(HeadTest, LogSumExpAgreesWithDoublePrecisionWhateverTheThreadsAndTheSet) {
  const std::unique_ptr<device::Device> threaded = open(GetParam(), 3);
  for (const PanelType type : kTypes) {
    for (const uint64_t n : {1u, 255u, 257u, 1500u}) {
      Source source(n);
      const Matrix w(*device_, source, type, n, 48);
      std::vector<float> x = source.floats(40 * 48);
      if (type == PanelType::kBf16) round_to_bf16(x);
      const Answer found = ask(*device_, w, x, {}, true);
      EXPECT_TRUE(same_bits(found.sums, ask(*threaded, w, x, {0}, true).sums));
      const std::vector<double> expected = reference::log_sum_exp(x.data(), 40, w.view);
      for (uint64_t i = 0; i < 40; ++i) {
        ASSERT_NEAR(static_cast<double>(found.sums[i]), expected[i], 2e-5);
      }
      EXPECT_TRUE(same_bits(found.sums, ask(*narrowest_, w, x, {}, true).sums));
    }
  }
}

/// Several requests, some with sums, some sharing their ids: each as alone.
TEST_P(HeadTest, RequestsTogetherHaveTheBitsTheyHaveAlone) {
  const std::unique_ptr<device::Device> threaded = open(GetParam(), 2);
  const std::vector<int32_t> codes = range(100, 400), ended = {7, 300, 9};
  const struct {
    uint64_t rows;
    bool codes, ended, sums;
  } cases[] = {{3, true, false, false}, {50, true, true, false}, {1, true, true, false},
               {0, true, false, false}, {64, true, false, true}, {5, false, false, true},
               {33, true, true, true},  {2, false, true, false}, {9, true, false, false}};
  for (const PanelType type : kTypes) {
    Source source(22);
    const Matrix w(*device_, source, type, kVocabulary, kHidden);
    std::vector<float> x, scratch;
    std::vector<HeadRows> requests;
    std::vector<std::vector<HeadTokens>> tokens(std::size(cases));
    std::vector<std::vector<std::vector<float>>> logits(std::size(cases));
    std::vector<std::vector<float>> sums(std::size(cases)), inputs;
    for (size_t r = 0; r < std::size(cases); ++r) {
      const auto& c = cases[r];
      inputs.push_back(source.floats(c.rows * kHidden));
      x.insert(x.end(), inputs.back().begin(), inputs.back().end());
      sums[r].resize(c.rows + 1);
      for (const auto* ids : {c.codes ? &codes : nullptr, c.ended ? &ended : nullptr}) {
        if (ids != nullptr) logits[r].emplace_back(c.rows * ids->size() + 1);
      }
      size_t set = 0;
      if (c.codes) tokens[r].push_back({codes, logits[r][set++].data()});
      if (c.ended) tokens[r].push_back({ended, logits[r][set++].data()});
      requests.push_back({c.rows, tokens[r], c.sums ? sums[r].data() : nullptr});
    }
    const uint64_t rows = x.size() / kHidden;
    const Rows operand(*device_, type, x, rows, kHidden);
    scratch.resize(head_scratch(rows, kVocabulary));
    head(*threaded, operand.operand, w.packed, requests, scratch);
    for (size_t r = 0; r < std::size(cases); ++r) {
      if (cases[r].rows == 0) continue;
      for (size_t set = 0; set < tokens[r].size(); ++set) {
        const auto ids = tokens[r][set].ids;
        Answer alone = ask(*device_, w, inputs[r], {ids.begin(), ids.end()}, false);
        alone.logits.push_back(0.0f);
        EXPECT_TRUE(same_bits(logits[r][set], alone.logits)) << r << " " << set;
      }
      Answer alone = ask(*device_, w, inputs[r], {}, true);
      alone.sums.push_back(0.0f);
      if (cases[r].sums) {
        EXPECT_TRUE(same_bits(sums[r], alone.sums)) << r;
      }
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<InstructionSet>& info) {
  return std::string(device::instruction_set_name(info.param));
}
INSTANTIATE_TEST_SUITE_P(Machine, HeadTest,
                         ::testing::ValuesIn(device::available_instruction_sets()), name_of);

}  // namespace head_test
}  // namespace tessera::ops
