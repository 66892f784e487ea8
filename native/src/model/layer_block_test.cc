// Shows that a new block needs one file: this one has a feed-forward network of two matrices,
// relu(up(x))^2 (So et al. 2021, arXiv:2109.08668), and its family's row; a model with it loads,
// runs, is updated and has scales and factors like any other. Compared with double precision.
#include "model/layer_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "device/backends.h"
#include "model/attention_block.h"
#include "model/gated_block.h"
#include "model/pass.h"
#include "model/test_model.h"
#include "model/test_request.h"

namespace tessera::model {
namespace layer_block_test {

class SquaredBlock final : public LayerBlock {
 public:
  enum Vector : uint32_t { kNorm };
  enum Matrix : uint32_t { kUp, kDown };
  enum Input : uint32_t { kNormed, kSquared };

  explicit SquaredBlock(const ModelConfig& config)
      : LayerBlock({{"squared"}, {"squaredOutput"}}, config.intermediate_size),
        inner_(config.intermediate_size) {
    add_vector(kNorm, "post_attention_layernorm.weight", config.hidden_size);
    add_matrix(kUp, "mlp.up_proj", inner_, config.hidden_size);
    add_matrix(kDown, "mlp.down_proj", config.hidden_size, inner_);
  }
  BlockWork work() const override { return {.row = multiplications()}; }
  void forward(const BlockWeights& weights, Pass& pass) const override {
    float* const inner = pass.scratch(0);
    ops::Target up{.w = &weights.matrices[kUp], .y = inner, .y_stride = inner_};
    pass.multiply(pass.norm(kNormed, weights.vector(kNorm)), {kUp}, {&up, 1});
    for (uint64_t i = 0; i < pass.rows() * inner_; ++i) {
      inner[i] = std::max(inner[i], 0.0f) * std::max(inner[i], 0.0f);
    }
    ops::Target down{.w = &weights.matrices[kDown],
                     .y = pass.hidden(),
                     .y_stride = pass.config().hidden_size,
                     .adds_to_y = true};
    pass.multiply(pass.rows_of(kSquared, inner, inner_), {kDown}, {&down, 1});
  }

 private:
  uint64_t inner_;
};

/// The first layer is gated, the others are squared: layers need not be alike.
const Family kSquaredFamily = {
    .model_type = "squared",
    .architecture = "SquaredForCausalLM",
    .activation = "relu2",
    .attention = [](const ModelConfig& config, uint32_t) -> std::unique_ptr<const LayerBlock> {
      return std::make_unique<const AttentionBlock>(config);
    },
    .feed_forward = [](const ModelConfig& config,
                       uint32_t layer) -> std::unique_ptr<const LayerBlock> {
      if (layer == 0) return std::make_unique<const GatedBlock>(config);
      return std::make_unique<const SquaredBlock>(config);
    }};
const std::span<const Family> kKnown(&kSquaredFamily, 1);

TestShape squared_shape() {
  TestShape shape;
  shape.model_type = "squared";
  shape.layers = 3;
  return shape;
}

TestTensors squared_tensors(uint64_t seed) {
  TestTensors tensors = test_tensors(squared_shape(), tensor::DType::kF32, seed);
  for (const char* layer : {"1", "2"}) {
    tensors.erase("model.layers." + std::string(layer) + ".mlp.gate_proj.weight");
  }
  return tensors;
}

std::unique_ptr<device::Device> open(uint32_t threads = 2) {
  return std::move(device::open_cpu_device({.thread_count = threads, .instruction_set = {}}))
      .value();
}

std::shared_ptr<ProcessorDecoder> load(const TestFolder& folder, ComputeType type,
                                       device::Device& device, const std::string& scales = {}) {
  auto decoder = ProcessorDecoder::load(folder.path(), type, device, scales, kKnown);
  EXPECT_TRUE(decoder.is_ok()) << decoder.status().message();
  return std::move(decoder).value();
}

std::vector<int32_t> some_tokens(uint32_t count) {
  std::vector<int32_t> tokens;
  for (uint32_t i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(i * 31 % 70));
  return tokens;
}

std::vector<float> logits_of(const ProcessorDecoder& decoder, uint32_t count, uint32_t chunk) {
  TestRequest request(decoder, count, 1, 1);
  request.prefill(some_tokens(count), chunk);
  return request.logits(request.last_row());
}

using Row = std::vector<double>;

/// The model in double precision for a prompt of one token: a position that sees itself alone gets
/// its own value, whatever its query and key.
class Twin {
 public:
  Twin(const TestTensors& tensors, const TestShape& shape) : tensors_(tensors), shape_(shape) {}

  Row logits(uint32_t token) const {
    Row x = row("model.embed_tokens.weight", token);
    for (uint32_t i = 0; i < shape_.layers; ++i) {
      const std::string layer = "model.layers." + std::to_string(i) + ".";
      const Row seen = normed(x, layer + "input_layernorm.weight");
      const Row value = product(seen, layer + "self_attn.v_proj.weight");
      Row mixed;  // one head of values serves all queries
      for (uint32_t head = 0; head < shape_.heads; ++head) {
        mixed.insert(mixed.end(), value.begin(), value.end());
      }
      add(x, product(mixed, layer + "self_attn.o_proj.weight"));
      const Row y = normed(x, layer + "post_attention_layernorm.weight");
      Row inner = product(y, layer + "mlp.up_proj.weight");
      const Row gate = i == 0 ? product(y, layer + "mlp.gate_proj.weight") : Row{};
      for (size_t j = 0; j < inner.size(); ++j) {
        inner[j] = i == 0 ? inner[j] * gate[j] / (1 + std::exp(-gate[j]))
                          : std::max(inner[j], 0.0) * std::max(inner[j], 0.0);
      }
      add(x, product(inner, layer + "mlp.down_proj.weight"));
    }
    return product(normed(x, "model.norm.weight"), "lm_head.weight");
  }

 private:
  double number(const std::string& name, uint64_t i) const {
    float value = 0;
    std::memcpy(&value, tensors_.at(name).bytes.data() + i * sizeof value, sizeof value);
    return static_cast<double>(value);
  }
  Row row(const std::string& name, uint64_t index) const {
    const uint64_t n = tensors_.at(name).shape.back();
    Row values;
    for (uint64_t i = 0; i < n; ++i) values.push_back(number(name, index * n + i));
    return values;
  }
  Row product(const Row& x, const std::string& name) const {
    Row y;
    for (uint64_t i = 0; i < tensors_.at(name).shape[0]; ++i) {
      const Row w = row(name, i);
      y.push_back(std::inner_product(x.begin(), x.end(), w.begin(), 0.0));
    }
    return y;
  }
  Row normed(const Row& x, const std::string& name) const {
    const double square = std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
    Row y = row(name, 0);
    for (size_t i = 0; i < x.size(); ++i) {
      y[i] *= x[i] / std::sqrt(square / static_cast<double>(x.size()) + 1e-6);
    }
    return y;
  }
  static void add(Row& x, const Row& y) {
    for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }

  const TestTensors& tensors_;
  const TestShape shape_;
};

class LayerBlockTest : public ::testing::Test {
 protected:
  LayerBlockTest() : tensors_(squared_tensors(3)) {
    folder_.write("config.json", config());
    folder_.write("model.safetensors", safetensors_file(tensors_));
  }
  static std::string config() {
    std::string text = test_config(squared_shape());
    return text.replace(text.size() - 1, 1, ", \"hidden_act\": \"relu2\"}");
  }

  const TestTensors tensors_;
  const TestFolder folder_;
  const std::unique_ptr<device::Device> device_ = open();
};

TEST_F(LayerBlockTest, AgreesWithDoublePrecision) {
  const auto decoder = load(folder_, ComputeType::kF32, *device_);
  const std::vector<float> logits = logits_of(*decoder, 1, 1);
  const Row expected = Twin(tensors_, squared_shape()).logits(0);
  ASSERT_EQ(logits.size(), expected.size());
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(logits[i]), expected[i], 1e-5 * largest) << i;
  }
}

TEST_F(LayerBlockTest, ChunksAndThreadsChangeNoBit) {
  const std::unique_ptr<device::Device> alone = open(1);
  for (const ComputeType type : {ComputeType::kF32, ComputeType::kBf16, ComputeType::kW8A8}) {
    const std::vector<float> whole = logits_of(*load(folder_, type, *device_), 45, 45);
    for (const uint32_t chunk : {1u, 7u, 16u}) {
      EXPECT_EQ(whole, logits_of(*load(folder_, type, *device_), 45, chunk));
      EXPECT_EQ(whole, logits_of(*load(folder_, type, *alone), 45, chunk));
    }
  }
}

TEST_F(LayerBlockTest, HasScalesOfItsOwnInputs) {
  const auto own = load(folder_, ComputeType::kW8A8, *device_);
  ActivationRanges ranges(own->recipe());
  TestRequest request(*own, 45, 1, 1);
  request.workspace().measure(&ranges);
  request.prefill(some_tokens(45), 7);
  const ActivationScales scales{own->digest(), 100, ranges.rows(), ranges.scales(100)};
  const std::string text = scales.text(own->recipe());
  EXPECT_NE(text.find("\"mlpOutput\""), std::string::npos);
  EXPECT_NE(text.find("\"squaredOutput\""), std::string::npos);
  folder_.write("scales.json", text);
  const auto fixed = load(folder_, ComputeType::kW8A8, *device_, folder_.path() + "/scales.json");
  EXPECT_NE(fixed->numbers(), own->numbers());
  EXPECT_EQ(logits_of(*fixed, 45, 45), logits_of(*fixed, 45, 11));
}

TEST_F(LayerBlockTest, TakesNewWeightsInPlace) {
  const TestFolder after;
  after.write("config.json", config());
  after.write("model.safetensors", safetensors_file(squared_tensors(4)));
  const auto decoder = load(folder_, ComputeType::kBf16, *device_);
  auto update = decoder->prepare_update(after.path());
  ASSERT_TRUE(update.is_ok()) << update.status().message();
  ASSERT_TRUE(decoder->update(std::move(update).value()).is_ok());
  const auto expected = load(after, ComputeType::kBf16, *device_);
  EXPECT_EQ(decoder->digest(), expected->digest());
  EXPECT_EQ(logits_of(*decoder, 45, 16), logits_of(*expected, 45, 16));
}

TEST_F(LayerBlockTest, IsCountedAndNamedByTheRecipe) {
  const Recipe recipe(ModelConfig::parse(config(), "config.json", kKnown).value());
  std::vector<std::string> modules;
  for (const WeightSlot* slot : recipe.layers()[1].matrices()) modules.emplace_back(slot->module());
  EXPECT_EQ(modules,
            (std::vector<std::string>{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                      "self_attn.o_proj", "mlp.up_proj", "mlp.down_proj"}));
  const TestShape s = squared_shape();
  const double q = s.heads * s.head_dim, kv = s.kv_heads * s.head_dim;
  EXPECT_EQ(recipe.work().sum.row,
            3 * s.hidden * (2 * q + 2 * kv) + (3.0 + 2 + 2) * s.hidden * s.intermediate);
  EXPECT_EQ(recipe.work().sum.pair, 3 * 2 * q);
  uint64_t numbers = 0;
  for (const auto& [name, tensor] : tensors_) numbers += tensor.bytes.size() / sizeof(float);
  EXPECT_EQ(recipe.parameter_count(), numbers);
}

TEST_F(LayerBlockTest, IsServedOnlyWhereItsFamilyIsKnown) {
  const auto decoder = ProcessorDecoder::load(folder_.path(), ComputeType::kF32, *device_);
  ASSERT_FALSE(decoder.is_ok());
  EXPECT_NE(decoder.status().message().find("expected one of qwen3, qwen2, llama, mistral"),
            std::string::npos)
      << decoder.status().message();
}

/// A family made of blocks that are there is a row, and nothing else.
TEST(FamilyTest, OfBlocksThatAreThereIsARow) {
  const Family* const llama =
      &*std::find_if(families().begin(), families().end(),
                     [](const Family& family) { return family.model_type == "llama"; });
  Family row = *llama;
  row.model_type = "biased";
  row.architecture = "BiasedForCausalLM";
  row.qkv_bias = row.output_bias = Bias::kAlways;
  TestShape shape;
  shape.model_type = "llama";
  TestTensors tensors = test_tensors(shape, tensor::DType::kF32, 6);
  for (const char* layer : {"model.layers.0.self_attn.", "model.layers.1.self_attn."}) {
    for (const char* name : {"q_proj", "k_proj", "v_proj", "o_proj"}) {
      TestTensor bias = tensors.at("model.norm.weight");
      bias.shape[0] = tensors.at(std::string(layer) + name + ".weight").shape[0];
      bias.bytes = tensors.at("lm_head.weight").bytes.substr(0, bias.shape[0] * sizeof(float));
      tensors[std::string(layer) + name + ".bias"] = bias;
    }
  }
  const TestFolder own, asked;
  const std::string config = test_config(shape);
  asked.write("config.json", config.substr(0, config.size() - 1) + ", \"attention_bias\": true}");
  asked.write("model.safetensors", safetensors_file(tensors));
  shape.model_type = "biased";
  own.write_model(shape, tensors);
  const std::unique_ptr<device::Device> device = open();
  const auto decoder =
      ProcessorDecoder::load(own.path(), ComputeType::kBf16, *device, {}, {&row, 1});
  ASSERT_TRUE(decoder.is_ok()) << decoder.status().message();
  const auto expected = ProcessorDecoder::load(asked.path(), ComputeType::kBf16, *device);
  ASSERT_TRUE(expected.is_ok()) << expected.status().message();
  EXPECT_EQ(logits_of(*decoder.value(), 45, 16), logits_of(*expected.value(), 45, 45));
}

}  // namespace layer_block_test
}  // namespace tessera::model
