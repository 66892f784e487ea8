#include "model/test_model.h"

#include <unistd.h>

#include <atomic>
#include <bit>
#include <fstream>
#include <random>

namespace tessera::model {
namespace {

namespace fs = std::filesystem;

/// A finite value whose bits are right for the type; F16 by way of small exact fractions.
std::string random_bytes(tensor::DType type, uint64_t count, std::mt19937_64& random) {
  std::normal_distribution<float> normal(0, 0.3f);
  std::string bytes;
  for (uint64_t i = 0; i < count; ++i) {
    const float value = normal(random);
    if (type == tensor::DType::kF32) {
      const uint32_t bits = std::bit_cast<uint32_t>(value);
      for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift);
      continue;
    }
    uint32_t bits = tensor::bf16_of_f32(value);
    if (type == tensor::DType::kF16) {  // exponents 8..14: magnitudes below 1
      bits = (bits & 0x8000u) | ((8u + (bits & 7u) % 7u) << 10) | (bits & 0x3FFu);
    }
    bytes += static_cast<char>(bits);
    bytes += static_cast<char>(bits >> 8);
  }
  return bytes;
}

void add_gated(const std::string& module, uint64_t hidden, uint64_t size,
               std::vector<TestMatrix>& matrices) {
  matrices.push_back({module + "gate_proj", size, hidden});
  matrices.push_back({module + "up_proj", size, hidden});
  matrices.push_back({module + "down_proj", hidden, size});
}

/// Queries, keys, values, their gates and the two numbers of a head: apart, or in two matrices.
void add_delta(const std::string& module, const TestShape& s, std::vector<TestMatrix>& matrices) {
  const uint64_t keys = uint64_t{s.key_heads} * s.key_dim;
  const uint64_t values = uint64_t{s.value_heads} * s.value_dim;
  if (s.model_type == "qwen3_next") {
    matrices.push_back({module + "in_proj_qkvz", 2 * (keys + values), s.hidden});
    matrices.push_back({module + "in_proj_ba", 2 * s.value_heads, s.hidden});
  } else {
    matrices.push_back({module + "in_proj_qkv", 2 * keys + values, s.hidden});
    matrices.push_back({module + "in_proj_z", values, s.hidden});
    matrices.push_back({module + "in_proj_b", s.value_heads, s.hidden});
    matrices.push_back({module + "in_proj_a", s.value_heads, s.hidden});
  }
  matrices.push_back({module + "out_proj", s.hidden, values});
}

void add_attention(const std::string& module, const TestShape& s,
                   std::vector<TestMatrix>& matrices) {
  const uint64_t q = uint64_t{s.heads} * s.head_dim, kv = uint64_t{s.kv_heads} * s.head_dim;
  matrices.push_back({module + "q_proj", (s.is_hybrid() ? 2 : 1) * q, s.hidden});
  matrices.push_back({module + "k_proj", kv, s.hidden});
  matrices.push_back({module + "v_proj", kv, s.hidden});
  matrices.push_back({module + "o_proj", s.hidden, q});
}

}  // namespace

std::vector<TestMatrix> test_matrices(const TestShape& s) {
  std::vector<TestMatrix> matrices;
  for (uint32_t i = 0; i < s.layers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    if (s.is_delta(i)) {
      add_delta(layer + "linear_attn.", s, matrices);
    } else {
      add_attention(layer + "self_attn.", s, matrices);
    }
    if (!s.is_mixture()) {
      add_gated(layer + "mlp.", s.hidden, s.intermediate, matrices);
      continue;
    }
    for (uint32_t expert = 0; expert < s.experts; ++expert) {
      add_gated(layer + "mlp.experts." + std::to_string(expert) + ".", s.hidden, s.intermediate,
                matrices);
    }
    if (s.has_shared()) add_gated(layer + "mlp.shared_expert.", s.hidden, s.shared, matrices);
  }
  return matrices;
}

std::string test_config(const TestShape& s) {
  const auto field = [](const char* name, uint64_t value) {
    return "\"" + std::string(name) + "\": " + std::to_string(value) + ", ";
  };
  return "{\"model_type\": \"" + s.model_type + "\", " + field("vocab_size", s.vocab) +
         field("hidden_size", s.hidden) + field("num_hidden_layers", s.layers) +
         field("num_attention_heads", s.heads) + field("num_key_value_heads", s.kv_heads) +
         field("head_dim", s.head_dim) + field("intermediate_size", s.intermediate) +
         field("max_position_embeddings", s.max_positions) +
         (s.is_mixture()
              ? field("num_experts", s.experts) + field("num_experts_per_tok", s.chosen) +
                    field("moe_intermediate_size", s.intermediate) +
                    field("shared_expert_intermediate_size", s.shared)
              : "") +
         (s.is_hybrid() ? field("full_attention_interval", s.interval) +
                              field("linear_num_key_heads", s.key_heads) +
                              field("linear_num_value_heads", s.value_heads) +
                              field("linear_key_head_dim", s.key_dim) +
                              field("linear_value_head_dim", s.value_dim) +
                              field("linear_conv_kernel_dim", s.taps)
                        : "") +
         "\"rope_theta\": 10000.0, " +
         "\"rms_norm_eps\": 1e-6, \"tie_word_embeddings\": " + (s.tied ? "true" : "false") + "}";
}

TestTensors test_tensors(const TestShape& s, tensor::DType type, uint64_t seed) {
  std::mt19937_64 random(seed);
  TestTensors tensors;
  const auto add = [&](const std::string& name, std::vector<uint64_t> shape) {
    uint64_t count = 1;
    for (const uint64_t size : shape) count *= size;
    tensors[name] = {std::string(tensor::dtype_name(type)), shape,
                     random_bytes(type, count, random)};
  };
  const uint64_t q = uint64_t{s.heads} * s.head_dim, kv = uint64_t{s.kv_heads} * s.head_dim;
  add("model.embed_tokens.weight", {s.vocab, s.hidden});
  add("model.norm.weight", {s.hidden});
  if (!s.tied) add("lm_head.weight", {s.vocab, s.hidden});
  for (uint32_t i = 0; i < s.layers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    add(layer + "input_layernorm.weight", {s.hidden});
    add(layer + "post_attention_layernorm.weight", {s.hidden});
    if (s.is_delta(i)) {
      const uint64_t channels = 2 * s.key_heads * s.key_dim + s.value_heads * s.value_dim;
      add(layer + "linear_attn.A_log", {s.value_heads});
      add(layer + "linear_attn.dt_bias", {s.value_heads});
      add(layer + "linear_attn.norm.weight", {s.value_dim});
      add(layer + "linear_attn.conv1d.weight", {channels, 1, s.taps});
    } else if (s.model_type.starts_with("qwen3")) {
      add(layer + "self_attn.q_norm.weight", {s.head_dim});
      add(layer + "self_attn.k_norm.weight", {s.head_dim});
    }
    if (s.model_type == "olmoe") {
      add(layer + "self_attn.q_norm.weight", {q});
      add(layer + "self_attn.k_norm.weight", {kv});
    }
    if (s.is_mixture()) add(layer + "mlp.gate.weight", {s.experts, s.hidden});
    if (s.has_shared()) add(layer + "mlp.shared_expert_gate.weight", {1, s.hidden});
    if (s.model_type.starts_with("qwen2")) {
      add(layer + "self_attn.q_proj.bias", {q});
      add(layer + "self_attn.k_proj.bias", {kv});
      add(layer + "self_attn.v_proj.bias", {kv});
    }
  }
  for (const TestMatrix& matrix : test_matrices(s))
    add(matrix.module + ".weight", {matrix.outputs, matrix.inputs});
  return tensors;
}

TestTensors with_experts_together(const TestShape& s, TestTensors tensors) {
  for (uint32_t i = 0; i < s.layers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".mlp.experts.";
    TestTensor gates_and_ups, downs;
    for (uint32_t expert = 0; expert < s.experts; ++expert) {
      const std::string module = layer + std::to_string(expert) + ".";
      for (const char* name : {"gate_proj.weight", "up_proj.weight", "down_proj.weight"}) {
        const TestTensor own = std::move(tensors.extract(module + name).mapped());
        TestTensor& to = name[0] == 'd' ? downs : gates_and_ups;
        to.dtype = own.dtype;
        to.bytes += own.bytes;
      }
    }
    gates_and_ups.shape = {s.experts, uint64_t{2} * s.intermediate, s.hidden};
    downs.shape = {s.experts, s.hidden, s.intermediate};
    tensors[layer + "gate_up_proj"] = gates_and_ups;
    tensors[layer + "down_proj"] = downs;
  }
  return tensors;
}

std::string safetensors_file(const std::string& header, const std::string& data) {
  std::string file;
  for (int shift = 0; shift < 64; shift += 8) {
    file += static_cast<char>(static_cast<uint64_t>(header.size()) >> shift);
  }
  return file + header + data;
}

std::string safetensors_file(const TestTensors& tensors) {
  std::string header = "{\"__metadata__\":{\"format\":\"pt\"}", data;
  for (const auto& [name, t] : tensors) {
    std::string shape;
    for (const uint64_t size : t.shape) {
      if (!shape.empty()) shape += ",";
      shape += std::to_string(size);
    }
    header += ",\"" + name + "\":{\"dtype\":\"" + t.dtype + "\",\"shape\":[" + shape +
              "],\"data_offsets\":[" + std::to_string(data.size()) + ",";
    data += t.bytes;
    header += std::to_string(data.size()) + "]}";
  }
  header += "}";
  return safetensors_file(header, data);
}

TestFolder::TestFolder() {
  static std::atomic<int> counter{0};
  path_ = fs::temp_directory_path() / ("tessera-model-" + std::to_string(::getpid()) + "-" +
                                       std::to_string(counter.fetch_add(1)));
  fs::create_directories(path_);
}

TestFolder::~TestFolder() { fs::remove_all(path_); }

void TestFolder::write(const std::string& file, const std::string& content) const {
  std::ofstream(path_ / file, std::ios::binary) << content;
}

void TestFolder::write_model(const TestShape& shape, const TestTensors& tensors) const {
  write("config.json", test_config(shape));
  write("model.safetensors", safetensors_file(tensors));
}

}  // namespace tessera::model
