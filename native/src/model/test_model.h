// A small random model as a trainer would save it, and the means to spoil it. Test only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace tessera::model {

struct TestTensor {
  std::string dtype;  // as safetensors spells it
  std::vector<uint64_t> shape;
  std::string bytes;
};
using TestTensors = std::map<std::string, TestTensor>;

struct TestShape {
  std::string model_type = "qwen3";
  uint32_t vocab = 70, hidden = 24, layers = 2, heads = 3, kv_heads = 1, head_dim = 10;
  uint32_t intermediate = 37, max_positions = 200;
  bool tied = false;
  /// Of the families of mixtures; `intermediate` is that of an expert, `shared` of the one that all
  /// rows go through.
  uint32_t experts = 5, chosen = 2, shared = 29;

  /// Shape of hybrids: one layer in `interval` is of attention, the others are gated delta nets.
  uint32_t interval = 2, key_heads = 2, value_heads = 4, key_dim = 6, value_dim = 5, taps = 4;

  bool is_hybrid() const { return model_type == "qwen3_5_text" || model_type == "qwen3_next"; }
  bool is_delta(uint32_t layer) const { return is_hybrid() && (layer + 1) % interval != 0; }
  bool is_mixture() const { return model_type.ends_with("moe") || model_type == "qwen3_next"; }
  bool has_shared() const { return model_type == "qwen2_moe" || model_type == "qwen3_next"; }
};

/// A linear layer without its bias.
struct TestMatrix {
  std::string module;
  uint64_t outputs = 0, inputs = 0;
};
/// Matrices of all layers, in their order.
std::vector<TestMatrix> test_matrices(const TestShape& shape);

/// config.json of a model of this shape.
std::string test_config(const TestShape& shape);
/// Random weights, all of `type`, from `seed`.
TestTensors test_tensors(const TestShape& shape, tensor::DType type, uint64_t seed);
/// Tensors with the experts of a layer in two tensors.
TestTensors with_experts_together(const TestShape& shape, TestTensors tensors);
/// A whole safetensors file, tensors in the order of their names.
std::string safetensors_file(const TestTensors& tensors);
/// A safetensors file of a header as given and the data after it.
std::string safetensors_file(const std::string& header, const std::string& data);

/// A folder that is removed with the object.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  void write(const std::string& file, const std::string& content) const;
  void write_model(const TestShape& shape, const TestTensors& tensors) const;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace tessera::model
