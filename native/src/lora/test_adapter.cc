#include "lora/test_adapter.h"

#include <array>
#include <cmath>
#include <cstring>
#include <random>

namespace tessera::lora {
namespace {

using model::test_matrices;
using model::TestMatrix;
using model::TestShape;
using model::TestTensor;
using model::TestTensors;
using tensor::DType;

const std::string kPrefix = "base_model.model.";
const std::string kDelta = ".token_adapter.trainable_tokens_delta";

std::string list_of(const std::vector<uint32_t>& numbers) {
  std::string text = "[";
  for (const uint32_t number : numbers)
    text += (text.size() > 1 ? "," : "") + std::to_string(number);
  return text + "]";
}

class Source {
 public:
  explicit Source(uint64_t seed) : random_(seed) {}
  uint32_t pick(const std::vector<uint32_t>& from) { return from[random_() % from.size()]; }
  TestTensor normal(std::vector<uint64_t> shape, double spread, DType type) {
    std::normal_distribution<float> distribution(0, static_cast<float>(spread));
    std::vector<float> values(shape[0] * shape[1]);
    for (float& value : values) value = distribution(random_);
    return tensor_of(values, std::move(shape), type);
  }
  TestTensor around(uint64_t count, double mean, DType type) {
    std::uniform_real_distribution<double> distribution(0.7 * mean, 1.3 * mean);
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(distribution(random_));
    return tensor_of(values, {count}, type);
  }

 private:
  std::mt19937_64 random_;
};

/// Gives each row of `inputs` numbers the length of its magnitude.
void rescale(const std::vector<float>& magnitudes, uint64_t inputs, std::vector<float>& w) {
  for (size_t o = 0; o < magnitudes.size(); ++o) {
    double squares = 0;
    for (uint64_t i = 0; i < inputs; ++i) squares += std::pow(w[o * inputs + i], 2);
    for (uint64_t i = 0; i < inputs; ++i) {
      float& value = w[o * inputs + i];
      value = static_cast<float>(value * magnitudes[o] / std::sqrt(squares));
    }
  }
}

}  // namespace

std::vector<float> floats_of(const TestTensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

TestTensor tensor_of(const std::vector<float>& values, std::vector<uint64_t> shape, DType type) {
  TestTensor tensor{std::string(tensor::dtype_name(type)), std::move(shape), {}};
  for (const float value : values) {
    char bytes[sizeof(float)];
    const uint16_t half = tensor::bf16_of_f32(value);
    std::memcpy(bytes, type == DType::kF32 ? static_cast<const void*>(&value) : &half,
                tensor::dtype_size(type));
    tensor.bytes.append(bytes, tensor::dtype_size(type));
  }
  return tensor;
}

void TestAdapter::write(const model::TestFolder& folder) const {
  folder.write("adapter_config.json", config);
  folder.write("adapter_model.safetensors", model::safetensors_file(tensors));
}

TestAdapter random_adapter(const TestShape& of_model, const TestAdapterShape& shape,
                           uint64_t seed) {
  Source source(seed);
  TestAdapter adapter;
  std::string targets, ranks;
  for (const TestMatrix& matrix : test_matrices(of_model)) {
    const uint32_t rank = source.pick(shape.ranks);
    if (rank == 0) continue;
    const std::string name = kPrefix + matrix.module;
    adapter.tensors[name + ".lora_A.weight"] =
        source.normal({rank, matrix.inputs}, 1 / std::sqrt(matrix.inputs), shape.type);
    adapter.tensors[name + ".lora_B.weight"] =
        source.normal({matrix.outputs, rank}, 0.3, shape.type);
    if (shape.has_dora) {
      adapter.tensors[name + ".lora_magnitude_vector"] =
          source.around(matrix.outputs, 0.3 * std::sqrt(matrix.inputs), shape.type);
    }
    targets += (targets.empty() ? "\"" : ",\"") + matrix.module + "\"";
    ranks += (ranks.empty() ? "\"" : ",\"") + matrix.module + "\":" + std::to_string(rank);
  }
  const auto rows = [&](const std::string& module, const std::vector<uint32_t>& ids) {
    if (!ids.empty())
      adapter.tensors[kPrefix + module + kDelta] =
          source.normal({ids.size(), of_model.hidden}, 0.3, shape.type);
  };
  rows("model.embed_tokens", shape.embedding);
  rows("lm_head", shape.head);
  const std::string dora = shape.has_dora ? "\"use_dora\":true," : "";
  adapter.config = "{" + dora +
                   "\"peft_type\":\"LORA\",\"r\":1,\"lora_alpha\":" + std::to_string(shape.alpha) +
                   ",\"target_modules\":[" + targets + "],\"rank_pattern\":{" + ranks +
                   "},\"trainable_token_indices\":{\"embed_tokens\":" + list_of(shape.embedding);
  if (!shape.head.empty()) adapter.config += ",\"lm_head\":" + list_of(shape.head);
  adapter.config += "}}";
  return adapter;
}

TestTensors merged(const TestShape& of_model, const TestTensors& tensors,
                   const TestAdapter& adapter, const TestAdapterShape& shape) {
  TestTensors result = tensors;
  for (const TestMatrix& matrix : test_matrices(of_model)) {
    const auto a_entry = adapter.tensors.find(kPrefix + matrix.module + ".lora_A.weight");
    if (a_entry == adapter.tensors.end()) continue;
    const uint64_t rank = a_entry->second.shape[0];
    const std::vector<float> a = floats_of(a_entry->second);
    const std::vector<float> b =
        floats_of(adapter.tensors.at(kPrefix + matrix.module + ".lora_B.weight"));
    TestTensor& weight = result.at(matrix.module + ".weight");
    std::vector<float> w = floats_of(weight);
    for (uint64_t o = 0; o < matrix.outputs; ++o) {
      for (uint64_t i = 0; i < matrix.inputs; ++i) {
        double sum = 0;
        for (uint64_t r = 0; r < rank; ++r)
          sum +=
              static_cast<double>(b[o * rank + r]) * static_cast<double>(a[r * matrix.inputs + i]);
        float& value = w[o * matrix.inputs + i];
        value = static_cast<float>(static_cast<double>(value) +
                                   shape.alpha / static_cast<double>(rank) * sum);
      }
    }
    if (shape.has_dora) {
      rescale(floats_of(adapter.tensors.at(kPrefix + matrix.module + ".lora_magnitude_vector")),
              matrix.inputs, w);
    }
    weight = tensor_of(w, weight.shape, DType::kF32);
  }
  const auto replace = [&](const std::string& module, const std::vector<uint32_t>& ids,
                           const std::string& weight) {
    const uint64_t bytes = of_model.hidden * sizeof(float);
    for (size_t i = 0; i < ids.size(); ++i)
      result.at(weight).bytes.replace(ids[i] * bytes, bytes,
                                      adapter.tensors.at(kPrefix + module + kDelta).bytes,
                                      i * bytes, bytes);
  };
  replace("model.embed_tokens", shape.embedding, "model.embed_tokens.weight");
  replace("lm_head", shape.head, "lm_head.weight");
  return result;
}

}  // namespace tessera::lora
