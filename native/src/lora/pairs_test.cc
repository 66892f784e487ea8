// Every pair of features of an adapter, of a tied and of an untied model: it computes what the
// model with it merged in, in double precision, computes; or it is refused. PEFT's answers to
// the same pairs: test/folders/pairs.py.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "device/backends.h"
#include "lora/arena.h"
#include "lora/test_adapter.h"
#include "model/test_request.h"

namespace tessera::lora {
namespace pairs_test {

using Numbers = std::vector<double>;

const std::string kPrefix = "base_model.model.";
const std::string kEmbedding = "model.embed_tokens", kHead = "lm_head";
constexpr double kTolerance = 2e-4;
constexpr double kAlpha = 6;

/// The features of one adapter, by name.
using Features = std::set<std::string>;
const std::vector<std::string> kFeatures = {
    "rows",         "head rows", "saved embedding", "saved head", "embedding factors",
    "head factors", "base kept", "other base",      "rslora",     "ranks",
    "alphas",       "exclude",   "one layer",       "look-ahead", "dora"};

struct Module {
  std::string name;
  uint64_t outputs = 0, inputs = 0;
  bool is_in_layer = false;

  bool has(const char* part) const { return name.find(part) != std::string::npos; }
};

/// An adapter as PEFT saves it, and the model's weights with it merged in.
class Pair {
 public:
  Pair(const Features& features, bool is_tied, const model::TestShape& shape,
       const model::TestTensors& base)
      : features_(features), shape_(shape), is_tied_(is_tied) {
    for (const auto& [name, tensor] : base) {
      const std::vector<float> numbers = floats_of(tensor);
      weights_[name] = {tensor.shape, Numbers(numbers.begin(), numbers.end())};
    }
    if (is_tied) weights_[kHead + ".weight"] = weights_.at(kEmbedding + ".weight");
    base_ = weights_;
    make_rows();
    for (const model::TestMatrix& matrix : test_matrices(shape)) {
      add_factors({matrix.module, matrix.outputs, matrix.inputs, true});
    }
    add_factors({kEmbedding, shape.hidden, shape.vocab});
    add_factors({kHead, shape.vocab, shape.hidden});
    adapter_.config = config();
  }

  const TestAdapter& adapter() const { return adapter_; }

  model::TestTensors merged() const {
    model::TestTensors tensors;
    for (const auto& [name, weight] : weights_) {
      tensors[name] = tensor_of(std::vector<float>(weight.numbers.begin(), weight.numbers.end()),
                                weight.shape, tensor::DType::kF32);
    }
    return tensors;
  }

  /// True of features that say two things of one matrix.
  bool contradicts_itself() const {
    const bool replaces_embedding = has("rows") + has("saved embedding") > 0;
    const bool replaces_head = has("head rows") + has("saved head") > 0;
    const bool has_factors = has("head factors") || has("embedding factors");
    return (is_tied_ && has("other base") && has_factors) ||
           (has("rows") && has("saved embedding")) || (has("head rows") && has("saved head")) ||
           (replaces_embedding && has("embedding factors")) ||
           (replaces_head && has("head factors"));
  }

 private:
  struct Weight {
    std::vector<uint64_t> shape;
    Numbers numbers;
  };

  bool has(const std::string& feature) const { return features_.contains(feature); }

  std::vector<float> draw(uint64_t count, double spread) {
    std::normal_distribution<float> normal(0, static_cast<float>(spread));
    std::vector<float> values(count);
    for (float& value : values) value = normal(random_);
    return values;
  }

  void save(const std::string& name, const std::vector<float>& values,
            const std::vector<uint64_t>& shape) {
    adapter_.tensors[kPrefix + name] = tensor_of(values, shape, tensor::DType::kF32);
  }

  /// Puts rows in the place of a module's, by index or all of them.
  void replace(const std::string& module, bool is_whole, const std::vector<uint32_t>& ids) {
    std::vector<uint32_t> all(shape_.vocab);
    for (uint32_t id = 0; id < shape_.vocab; ++id) all[id] = id;
    const std::vector<uint32_t>& rows = is_whole ? all : ids;
    const std::vector<float> values = draw(rows.size() * shape_.hidden, 0.3);
    save(module + (is_whole ? ".weight" : ".token_adapter.trainable_tokens_delta"), values,
         {rows.size(), shape_.hidden});
    put(module, rows, values);
    if (is_tied_ && !is_whole && module == kEmbedding) put(kHead, rows, values);
  }

  void put(const std::string& module, const std::vector<uint32_t>& rows,
           const std::vector<float>& values) {
    Numbers& numbers = weights_.at(module + ".weight").numbers;
    for (size_t i = 0; i < values.size(); ++i) {
      numbers[rows[i / shape_.hidden] * shape_.hidden + i % shape_.hidden] = values[i];
    }
  }

  void make_rows() {
    if (has("rows")) replace(kEmbedding, false, {5, 9, 60});
    if (has("saved embedding")) replace(kEmbedding, true, {});
    // A head of its own is not the tied one, and begins as the base's.
    if (has("head rows")) {
      weights_[kHead + ".weight"] = base_.at(kHead + ".weight");
      replace(kHead, false, {9, 33});
    }
    if (has("saved head")) replace(kHead, true, {});
  }

  bool is_targeted(const Module& module) const {
    if (module.name == kHead) return has("head factors");  // whatever the layers: by its whole name
    if (module.name == kEmbedding) return has("embedding factors") && !has("one layer");
    if (has("exclude") && (module.has("down_proj") || module.has("layers.0.self_attn.k_proj"))) {
      return false;
    }
    return !(has("one layer") && module.has("layers.0.")) &&
           !(has("look-ahead") && module.has("mlp"));
  }

  uint64_t rank_of(const Module& module) const {
    if (!has("ranks")) return 4;
    return module.has("q_proj") ? 2 : module.has("lm_head") ? 3 : module.has("embed") ? 5 : 4;
  }

  double scale_of(const Module& module) const {
    const bool is_own = has("alphas") && (module.has("v_proj") || module.has("lm_head"));
    const auto rank = static_cast<double>(rank_of(module));
    return (is_own ? 15.0 : kAlpha) / (has("rslora") ? std::sqrt(rank) : rank);
  }

  void add_factors(const Module& module) {
    if (!is_targeted(module)) return;
    const uint64_t rank = rank_of(module);
    const bool is_embedding = module.name == kEmbedding;
    const std::vector<float> a =
        draw(rank * module.inputs, 1 / std::sqrt(static_cast<double>(shape_.hidden)));
    const std::vector<float> b = draw(module.outputs * rank, 0.3);
    const std::string kind = is_embedding ? ".lora_embedding_" : ".lora_";
    const std::string ending = is_embedding ? "" : ".weight";
    save(module.name + kind + "A" + ending, a, {rank, module.inputs});
    save(module.name + kind + "B" + ending, b, {module.outputs, rank});
    if (!module.is_in_layer && (has("base kept") || has("other base"))) {
      Weight& base = base_.at(module.name + ".weight");
      std::vector<float> kept(base.numbers.begin(), base.numbers.end());
      if (has("other base")) kept[40] += 0.5f;
      save(module.name + ".base_layer.weight", kept, base.shape);
      weights_.at(module.name + ".weight").numbers.assign(kept.begin(), kept.end());
    }
    Numbers& weight = weights_.at(module.name + ".weight").numbers;
    for (uint64_t o = 0; o < module.outputs; ++o) {
      for (uint64_t i = 0; i < module.inputs; ++i) {
        double sum = 0;
        for (uint64_t r = 0; r < rank; ++r) {
          sum +=
              static_cast<double>(b[o * rank + r]) * static_cast<double>(a[r * module.inputs + i]);
        }
        // The embedding's rows are its inputs.
        weight[is_embedding ? i * module.outputs + o : o * module.inputs + i] +=
            scale_of(module) * sum;
      }
    }
    if (has("dora")) rescale(module, is_embedding);
  }

  /// Each output's weights take the length of a magnitude.
  void rescale(const Module& module, bool is_embedding) {
    Numbers& weight = weights_.at(module.name + ".weight").numbers;
    std::vector<float> magnitudes = draw(module.outputs, 0.1);
    for (uint64_t o = 0; o < module.outputs; ++o) {
      const auto at = [&](uint64_t i) -> double& {
        return weight[is_embedding ? i * module.outputs + o : o * module.inputs + i];
      };
      double squares = 0;
      for (uint64_t i = 0; i < module.inputs; ++i) squares += at(i) * at(i);
      magnitudes[o] = (1 + magnitudes[o]) * static_cast<float>(std::sqrt(squares));
      const double scale = magnitudes[o] / std::sqrt(squares);
      for (uint64_t i = 0; i < module.inputs; ++i) at(i) *= scale;
    }
    save(module.name + ".lora_magnitude_vector", magnitudes, {module.outputs});
  }

  std::string config() const {
    std::string targets =
        R"("q_proj","k_proj","v_proj","o_proj","gate_proj","up_proj","down_proj")";
    if (has("head factors")) targets += ",\"lm_head\"";
    if (has("embedding factors")) targets += ",\"embed_tokens\"";
    targets = "[" + targets + "]";
    if (has("look-ahead")) {
      const std::string outside = has("head factors") ? "|lm_head" : "";
      const std::string first = has("embedding factors") ? "|model.embed_tokens" : "";
      targets = R"("model\\.layers\\.\\d\\.(?!mlp).*_proj)" + outside + first + "\"";
    }
    std::string ids;
    if (has("rows")) ids = "\"embed_tokens\":[5,9,60]";
    if (has("head rows")) ids += std::string(ids.empty() ? "" : ",") + "\"lm_head\":[9,33]";
    std::string text = R"({"peft_type":"LORA","r":4,"lora_alpha":6,"target_modules":)" + targets;
    if (!ids.empty()) text += ",\"trainable_token_indices\":{" + ids + "}";
    if (has("rslora")) text += ",\"use_rslora\":true";
    if (has("dora")) text += ",\"use_dora\":true";
    if (has("ranks")) text += R"(,"rank_pattern":{"q_proj":2,"lm_head":3,"embed_tokens":5})";
    if (has("alphas")) text += R"(,"alpha_pattern":{"v_proj":15,"lm_head":15})";
    if (has("exclude")) {
      text += R"(,"exclude_modules":["layers.0.self_attn.k_proj","down_proj"])";
    }
    const std::string both = has("saved embedding") && has("saved head") ? "," : "";
    text += std::string(R"(,"modules_to_save":[)") +
            (has("saved embedding") ? "\"embed_tokens\"" : "") + both +
            (has("saved head") ? "\"lm_head\"" : "") + "]";
    if (has("one layer")) text += ",\"layers_to_transform\":[1]";
    return text + "}";
  }

  const Features features_;
  const model::TestShape shape_;
  const bool is_tied_;
  std::mt19937_64 random_{17};
  std::map<std::string, Weight> base_, weights_;
  TestAdapter adapter_;
};

std::vector<float> logits_of(const model::ProcessorDecoder& decoder,
                             const model::Adapter* adapter) {
  const std::vector<int32_t> prompt = {3, 5, 60, 9, 33, 12, 9};
  model::TestRequest request(decoder, static_cast<uint32_t>(prompt.size()), 1, 1, adapter);
  request.prefill(prompt, 4);
  return request.logits(request.last_row());
}

TEST(AdapterPairs, EachPairComputesWhatTheMergedModelComputesOrIsRefused) {
  const auto device = device::open_cpu_device({.thread_count = 1, .instruction_set = {}}).value();
  const auto decoder_of = [&](const model::TestShape& shape, const model::TestTensors& tensors) {
    const model::TestFolder folder;
    folder.write_model(shape, tensors);
    return model::ProcessorDecoder::load(folder.path(), model::ComputeType::kF32, *device).value();
  };
  for (const bool is_tied : {true, false}) {
    model::TestShape shape;
    shape.tied = is_tied;
    const model::TestTensors base = test_tensors(shape, tensor::DType::kF32, 3);
    const std::shared_ptr<const model::ProcessorDecoder> decoder = decoder_of(shape, base);
    const auto arena = Arena::open(decoder, 64u << 20).value();
    model::TestShape untied = shape;
    untied.tied = false;
    for (const std::string& one : kFeatures) {
      for (const std::string& other : kFeatures) {
        if (other < one) continue;
        SCOPED_TRACE((is_tied ? "tied, " : "untied, ") + one + ", " + other);
        const Pair pair({one, other}, is_tied, shape, base);
        const model::TestFolder folder;
        pair.adapter().write(folder);
        const auto loaded = arena->load(folder.path(), {ops::kRankMax, 1e4});
        if (pair.contradicts_itself()) {
          ASSERT_FALSE(loaded.is_ok());
          EXPECT_EQ(loaded.status().code(), Code::kAdapterInvalid);
          continue;
        }
        ASSERT_TRUE(loaded.is_ok()) << loaded.status().message();
        const std::vector<float> found = logits_of(*decoder, &loaded.value()->numbers());
        const std::vector<float> expected = logits_of(*decoder_of(untied, pair.merged()), nullptr);
        for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], kTolerance);
      }
    }
  }
}

}  // namespace pairs_test
}  // namespace tessera::lora
