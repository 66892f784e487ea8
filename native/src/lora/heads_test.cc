// Heads: what a file may say, and what they answer where a number is at an edge.
#include "lora/heads.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "lora/test_adapter.h"

namespace tessera::lora {
namespace heads_test {

constexpr uint32_t kHidden = 4;

std::string form_of(const std::string& head, const std::string& more = "") {
  return R"({"version": 1, "item": "{sid}", "heads": [{"name": "click")" +
         (head.empty() ? "" : ", " + head) + "}]" + (more.empty() ? "" : ", " + more) + "}";
}

TEST(RankingForm, IsRefusedByTheNameOfItsField) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"version": 2, "heads": [{"name": "a"}]})", "version: "},
      {R"({"version": 1})", "heads: "},
      {R"({"version": 1, "heads": []})", "heads: "},
      {R"({"version": 1, "heads": [3]})", "heads: "},
      {R"({"version": 1, "heads": [{}]})", "heads[0].name: "},
      {R"({"version": 1, "heads": [{"name": "a"}, {"name": "a"}]})", "heads[1].name: "},
      {R"({"version": 1, "heads": [{"name": "A b"}]})", "heads[0].name: "},
      {R"({"version": 1, "heads": [{"name": "__proto__"}]})", "heads[0].name: "},
      {form_of("", R"("attribute": [])"), "attribute: "},
      {form_of("", R"("attributes": [{"name": ""}])"), "attributes[0].name: "},
      {form_of("", R"("attributes": [{"name": "p", "deviation": 0}])"), "attributes[0].deviation"},
      {form_of("", R"("attributes": [{"name": "p", "function": "sqrt"}])"),
       "attributes[0].function: expected one of identity, log, log1p"},
      {form_of(R"("hidden": [0])"), "heads[0].hidden: "},
      {form_of(R"("hidden": [1, 2, 3])"), "heads[0].hidden: "},
      {form_of(R"("hidden": [1025])"), "heads[0].hidden: "},
      {form_of(R"("hiddenActivation": "swish")"), "heads[0].hiddenActivation: "},
      {form_of(R"("activation": "softmax")"), "heads[0].activation: "},
      {form_of(R"("calibration": {})"), "platt: "},
      {form_of(R"("calibration": {"platt": [1]})"), "platt: "},
      {form_of(R"("calibration": {"platt": [1, 0], "isotonic": {"x": [1], "y": [1]}})"), "platt: "},
      {form_of(R"("activation": "exp", "calibration": {"platt": [1, 0]})"), "platt: "},
      {form_of(R"("scoreWeight": "1")"), "scoreWeight: "},
      {form_of(R"("scoreWeight": 1, "activation": "exp")"), "scoreWeight: "},
      {form_of(R"("scoreWeight": 1, "calibration": {"platt": [1, 0]})"), "scoreWeight: "},
      {form_of(R"("calibration": {"isotonic": {"x": [1, 1], "y": [0, 1]}})"), "x: "},
      {form_of(R"("calibration": {"isotonic": {"x": [0, 1], "y": [1, 0]}})"), "y: "},
      {form_of(R"("calibration": {"isotonic": {"x": [0, 1], "y": [1]}})"), "y: "},
      {form_of(R"("bias": true)"), "heads[0].bias: "},
  };
  for (const auto& [text, field] : cases) {
    const Result<RankingForm> form = RankingForm::parse(text, "ranking.json");
    ASSERT_FALSE(form.is_ok()) << text;
    EXPECT_EQ(form.status().code(), Code::kAdapterInvalid) << text;
    EXPECT_NE(form.status().message().find(field), std::string::npos) << form.status().message();
  }
  EXPECT_EQ(RankingForm::parse("[", "ranking.json").status().code(), Code::kAdapterCorrupt);
  EXPECT_TRUE(RankingForm::parse(form_of(""), "ranking.json").is_ok());
}

class HeadsTest : public testing::Test {
 protected:
  static Result<std::shared_ptr<const Heads>> open(const std::string& form,
                                                   const model::TestTensors& tensors,
                                                   uint32_t hidden = kHidden) {
    const model::TestFolder folder;
    folder.write("ranking.json", form);
    folder.write("heads.safetensors", model::safetensors_file(tensors));
    return Heads::open(folder.path(), hidden);
  }
  static model::TestTensors linear(const std::vector<float>& weight, float bias) {
    return {{"click.0.weight", tensor_of(weight, {1, weight.size()}, tensor::DType::kF32)},
            {"click.0.bias", tensor_of({bias}, {1}, tensor::DType::kF32)}};
  }
  static float say(const Heads& heads, const std::vector<float>& hidden,
                   const std::vector<double>& numbers = {}) {
    float answer = 0;
    heads.say(hidden, numbers, {&answer, 1});
    return answer;
  }
};

TEST_F(HeadsTest, TensorsOfOtherNamesShapesAndNumbersAreRefused) {
  const std::string form = form_of("");
  const auto expect = [&](const Result<std::shared_ptr<const Heads>>& opened, Code code,
                          const std::string& part) {
    ASSERT_FALSE(opened.is_ok()) << part;
    EXPECT_EQ(opened.status().code(), code) << opened.status().message();
    EXPECT_NE(opened.status().message().find(part), std::string::npos) << opened.status().message();
  };
  const std::vector<float> ones(kHidden, 1);
  EXPECT_TRUE(open(form, linear(ones, 0)).is_ok());
  expect(open(form, linear(ones, 0), 8), Code::kAdapterInvalid,
         "click.0.weight: expected the shape [1,8], got [1,4]");
  expect(open(form, linear({1, NAN, 1, 1}, 0)), Code::kAdapterCorrupt, "element 1");
  auto more = linear(ones, 0);
  more["view.0.bias"] = tensor_of({0}, {1}, tensor::DType::kF32);
  expect(open(form, more), Code::kAdapterInvalid, "expected the 2 tensors of its heads, got 3");
  auto fewer = linear(ones, 0);
  fewer.erase("click.0.bias");
  expect(open(form, fewer), Code::kAdapterInvalid, "click.0.bias: expected a tensor");
}

TEST_F(HeadsTest, AnswerAtTheEdges) {
  const std::vector<float> ones(kHidden, 1);
  const auto sure = open(form_of(R"("calibration": {"platt": [1, 0]})"), linear(ones, 0)).value();
  EXPECT_FLOAT_EQ(say(*sure, {1e30F, 0, 0, 0}), 1 - 1e-7F);
  EXPECT_NEAR(say(*sure, {-1e30F, 0, 0, 0}), 1e-7, 1e-12);
  EXPECT_TRUE(std::isnan(say(*sure, {NAN, 0, 0, 0})));
  const auto knots = open(form_of(R"("activation": "identity", "calibration": {"isotonic":
                                     {"x": [0, 1, 3], "y": [0.5, 0.5, 0.9]}})"),
                          linear(ones, 0))
                         .value();
  const std::vector<std::pair<float, float>> points = {{-5, 0.5F}, {0, 0.5F}, {1, 0.5F},
                                                       {2, 0.7F},  {3, 0.9F}, {9, 0.9F}};
  for (const auto& [x, y] : points) EXPECT_FLOAT_EQ(say(*knots, {x, 0, 0, 0}), y) << x;
  EXPECT_TRUE(std::isnan(say(*knots, {NAN, 0, 0, 0})));
  const auto soft = open(form_of(R"("activation": "softplus")"), linear(ones, 0)).value();
  EXPECT_FLOAT_EQ(say(*soft, {800, 0, 0, 0}), 800);
  EXPECT_EQ(say(*soft, {-800, 0, 0, 0}), 0);
}

TEST_F(HeadsTest, AnItemWithoutANumberHasTheDefault) {
  const std::string form =
      form_of(R"("activation": "identity")",
              R"("attributes": [{"name": "p", "function": "log", "mean": 1, "deviation": 2,
                         "default": 7}])");
  const auto heads = open(form, linear({0, 0, 0, 0, 1}, 0)).value();
  const std::vector<float> nothing(kHidden, 0);
  EXPECT_FLOAT_EQ(say(*heads, nothing, {std::exp(3.0)}), 1);
  for (const double none : {std::nan(""), 0.0, -2.0}) EXPECT_EQ(say(*heads, nothing, {none}), 7);
}

}  // namespace heads_test
}  // namespace tessera::lora
