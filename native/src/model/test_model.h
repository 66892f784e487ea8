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
};

/// config.json of a model of this shape.
std::string test_config(const TestShape& shape);
/// Random weights, all of `type`, from `seed`.
TestTensors test_tensors(const TestShape& shape, tensor::DType type, uint64_t seed);
/// A whole safetensors file, tensors in the order of their names.
std::string safetensors_file(const TestTensors& tensors);
/// The same from a header as given and the data behind it.
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
