// Random adapters as PEFT saves them, for random models, and the same models with them merged in.
// Test only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/test_model.h"

namespace tessera::lora {

struct TestAdapter {
  std::string config;
  model::TestTensors tensors;

  void write(const model::TestFolder& folder) const;
};

/// The shape of a random adapter.
struct TestAdapterShape {
  std::vector<uint32_t> ranks;      // drawn from, per matrix; 0: none there
  double alpha = 6;                 // of all matrices
  std::vector<uint32_t> embedding;  // tokens whose rows are replaced
  std::vector<uint32_t> head;       // untied models only
  tensor::DType type = tensor::DType::kF32;
  bool has_dora = false;
};

TestAdapter random_adapter(const model::TestShape& model, const TestAdapterShape& shape,
                           uint64_t seed);
/// The model's tensors, which are F32, with the adapter's, which are F32 too, merged in.
model::TestTensors merged(const model::TestShape& model, const model::TestTensors& tensors,
                          const TestAdapter& adapter, const TestAdapterShape& shape);

std::vector<float> floats_of(const model::TestTensor& tensor);
model::TestTensor tensor_of(const std::vector<float>& values, std::vector<uint64_t> shape,
                            tensor::DType type);

}  // namespace tessera::lora
