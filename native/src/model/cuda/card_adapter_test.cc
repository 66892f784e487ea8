// Adapters on emulated threads: against the model that they are merged into, and beside each other.
#include "model/cuda/card_adapter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

#include "model/cuda/test_trace.h"
#include "tensor/dtype.h"

namespace tessera::model::cuda {
namespace {

struct Target {
  Matrix matrix;
  const char* name;
};
constexpr Target kTargets[] = {{Matrix::kQ, "self_attn.q_proj"}, {Matrix::kK, "self_attn.k_proj"},
                               {Matrix::kV, "self_attn.v_proj"}, {Matrix::kO, "self_attn.o_proj"},
                               {Matrix::kGate, "mlp.gate_proj"}, {Matrix::kUp, "mlp.up_proj"},
                               {Matrix::kDown, "mlp.down_proj"}};

std::vector<float> random_numbers(size_t count, std::mt19937& random, float size) {
  std::uniform_real_distribution<float> draw(-size, size);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = tensor::f32_of_bf16(tensor::bf16_of_f32(draw(random)));
  return numbers;
}

/// Factors of some matrices of each layer, of many ranks, and rows of both tables.
AdapterNumbers random_adapter(const TestTensors& tensors, uint64_t seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  AdapterNumbers numbers;
  for (uint32_t layer = 0; layer < 2; ++layer) {
    for (const Target& target : kTargets) {
      if (random() % 4 == 0) continue;
      const std::string name =
          "model.layers." + std::to_string(layer) + "." + target.name + ".weight";
      const std::vector<uint64_t>& shape = tensors.at(name).shape;
      const uint32_t rank = 1 + static_cast<uint32_t>(random() % 20);
      numbers.factors.push_back({layer, target.matrix, rank,
                                 random_numbers(rank * shape[1], random, 0.3f),
                                 random_numbers(rank * shape[0], random, 0.3f)});
    }
  }
  numbers.embedding = {{3, 31}, random_numbers(2 * 48, random, 1)};
  numbers.head = {{0, 8, 69}, random_numbers(3 * 48, random, 1)};
  return numbers;
}

/// The model that has the adapter's numbers in its own, in F32.
TestTensors merged(TestTensors tensors, const AdapterNumbers& numbers) {
  for (auto& [name, tensor] : tensors) {
    std::string wide;
    for (size_t i = 0; i < tensor.bytes.size(); i += sizeof(uint16_t)) {
      uint16_t bits;
      std::memcpy(&bits, tensor.bytes.data() + i, sizeof(bits));
      const float value = tensor::f32_of_bf16(bits);
      wide.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    tensor.dtype = "F32";
    tensor.bytes = wide;
  }
  const auto numbers_of = [&](const std::string& name) {
    return reinterpret_cast<float*>(tensors.at(name).bytes.data());
  };
  for (const AdapterFactors& factors : numbers.factors) {
    const std::string name = "model.layers." + std::to_string(factors.layer) + "." +
                             kTargets[static_cast<uint32_t>(factors.matrix)].name + ".weight";
    const std::vector<uint64_t>& shape = tensors.at(name).shape;
    float* const weights = numbers_of(name);
    for (uint64_t i = 0; i < shape[0] * shape[1]; ++i) {
      double sum = 0;
      for (uint32_t r = 0; r < factors.rank; ++r) {
        sum += double{factors.b[i / shape[1] * factors.rank + r]} *
               factors.a[r * shape[1] + i % shape[1]];
      }
      weights[i] += static_cast<float>(sum);
    }
  }
  const auto replace = [&](const AdapterTableRows& table, const std::string& name) {
    for (size_t i = 0; i < table.ids.size(); ++i) {
      std::copy_n(table.rows.begin() + static_cast<std::ptrdiff_t>(i * 48), 48,
                  numbers_of(name) + table.ids[i] * 48);
    }
  };
  replace(numbers.embedding, "model.embed_tokens.weight");
  replace(numbers.head, "lm_head.weight");
  return tensors;
}

std::shared_ptr<const CardAdapter> copied(const AdapterNumbers& numbers, const CardDecoder& decoder,
                                          Queue& queue) {
  auto adapter = CardAdapter::copy(numbers, decoder.config(), queue);
  EXPECT_TRUE(adapter.is_ok()) << adapter.status().message();
  return std::move(adapter).value();
}

TEST(CardAdapter, AnAdapterGivesTheLogitsOfTheModelThatItIsMergedInto) {
  auto device = std::move(device::open_cpu_device({1, {}, false}).value());
  const TestFolder folder, merged_folder;
  const TestShape shape = shape_of("qwen3");
  const TestTensors tensors = test_tensors(shape, tensor::DType::kBf16, 9);
  const AdapterNumbers numbers = random_adapter(tensors, 10);
  folder.write_model(shape, tensors);
  merged_folder.write_model(shape, merged(tensors, numbers));
  const std::vector<float> exact = trace_cpu(merged_folder, ComputeType::kF32, *device);
  const std::vector<float> rounded = trace_cpu(merged_folder, ComputeType::kBf16, *device);
  const std::unique_ptr<Queue> queue = open_queue(6);
  const auto decoder = load(folder, *queue);
  const auto adapter = copied(numbers, *decoder, *queue);
  const std::vector<float> card = trace_card(*decoder, *queue, 45, adapter.get());
  const float bound = 2 * largest_difference(rounded, exact);
  EXPECT_LE(largest_difference(card, exact), bound);
  EXPECT_GT(largest_difference(trace_card(*decoder, *queue, 45), exact), 4 * bound);
  EXPECT_EQ(trace_card(*decoder, *queue, 17, adapter.get()), card);
}

TEST(CardAdapter, ARowsBitsAreItsOwnWhateverAdaptersAreBesideIt) {
  const TestFolder folder;
  const TestShape shape = shape_of("qwen3");
  const TestTensors tensors = test_tensors(shape, tensor::DType::kBf16, 11);
  folder.write_model(shape, tensors);
  const std::unique_ptr<Queue> opened = open_queue(7);
  Queue& queue = *opened;
  const auto decoder = load(folder, queue);
  const auto adapter = copied(random_adapter(tensors, 12), *decoder, queue);
  const auto other = copied(random_adapter(tensors, 13), *decoder, queue);
  const CardAdapter* const adapters[] = {nullptr, adapter.get(), other.get(), adapter.get()};
  const uint32_t counts[] = {7, 15, 4, 6};
  std::vector<std::vector<float>> alone;
  std::vector<std::unique_ptr<CardRequest>> requests;
  std::vector<CardRows> groups;
  std::vector<int32_t> all;
  for (size_t i = 0; i < 4; ++i) {
    CardRequest request(*decoder, queue, adapters[i]);
    const std::vector<int32_t> tokens = some_tokens(counts[i]);
    request.prefill(tokens, counts[i]);
    alone.push_back(request.head(counts[i] - 1, 1).first);
    requests.push_back(std::make_unique<CardRequest>(*decoder, queue, adapters[i]));
    groups.push_back(requests.back()->prompt_rows(counts[i]));
    all.insert(all.end(), tokens.begin(), tokens.end());
  }
  ASSERT_TRUE(decoder->forward(all, groups).is_ok());
  uint32_t end = 0;
  for (size_t i = 0; i < 4; ++i) {
    end += counts[i];
    EXPECT_EQ(requests[i]->head(end - 1, 1).first, alone[i]) << i;
  }
}

TEST(CardAdapter, RefusesAnAdapterThatIsNotTheModels) {
  const TestFolder folder;
  const TestShape shape = shape_of("qwen3");
  const TestTensors tensors = test_tensors(shape, tensor::DType::kBf16, 14);
  folder.write_model(shape, tensors);
  EmulatedQueue queue;
  const auto decoder = load(folder, queue);
  const auto expect_refused = [&](const std::function<void(AdapterNumbers&)>& change,
                                  const std::string& message) {
    AdapterNumbers numbers = random_adapter(tensors, 15);
    change(numbers);
    const auto adapter = CardAdapter::copy(numbers, decoder->config(), queue);
    ASSERT_FALSE(adapter.is_ok());
    EXPECT_EQ(adapter.status().code(), Code::kAdapterInvalid);
    EXPECT_EQ(adapter.status().message().rfind(message, 0), 0u) << adapter.status().message();
  };
  expect_refused([](AdapterNumbers& n) { n.factors[0].rank = 129; }, "layers[0].matrices[");
  expect_refused([](AdapterNumbers& n) { n.factors[0].layer = 2; }, "layers[2].matrices[");
  expect_refused([](AdapterNumbers& n) { n.factors[0].a.pop_back(); }, "layers[0].matrices[");
  expect_refused(
      [](AdapterNumbers& n) {
        n.embedding.ids = {5, 5};
      },
      "embedding.ids: expected ascending tokens below 70, got 5 behind 5");
  expect_refused([](AdapterNumbers& n) { n.head.ids[2] = 70; }, "head.ids: expected");
  expect_refused([](AdapterNumbers& n) { n.head.rows.pop_back(); },
                 "head.rows: expected 144 numbers, got 143");
}

}  // namespace
}  // namespace tessera::model::cuda
