// Attention on every instruction set of the machine against its twin in double precision, and bit
// for bit between chunkings, batches, threads and instruction sets.
#include "attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "attention/reference/reference.h"
#include "device/backends.h"

namespace tessera::attention {
namespace {

using device::InstructionSet;
using tensor::DType;

constexpr uint64_t kSeed = 77001;

std::unique_ptr<device::Device> open(InstructionSet set, uint32_t threads) {
  auto device = device::open_cpu_device({.thread_count = threads, .instruction_set = set});
  EXPECT_TRUE(device.is_ok());
  return std::move(device).value();
}

struct Shape {
  uint32_t heads, kv_heads, head_dim, prompt, width, steps;
};
const Shape kShapes[] = {{4, 2, 16, 37, 5, 3}, {3, 3, 7, 1, 2, 1},   {6, 2, 34, 130, 9, 4},
                         {8, 1, 64, 20, 3, 2}, {5, 5, 1, 16, 17, 2}, {4, 1, 70, 65, 20, 5}};

/// Keys and values of one request as kv_view.h lays them out, over layers, with garbage where
/// nothing is written.
struct Cache {
  Cache(const Shape& shape, uint32_t layers, DType type) : element(tensor::dtype_size(type)) {
    prompt.capacity = (shape.prompt + 15) / 16 * 16;
    const uint64_t head = uint64_t{prompt.capacity} * shape.head_dim;
    keys.assign(layers * shape.kv_heads * head * element, 0x3F);
    values.assign(keys.size(), 0);
    beam.max_steps = shape.steps;
    beam.max_width = shape.width;
    const uint64_t rows = uint64_t{layers} * shape.steps * shape.width;
    beam_keys.assign(rows * shape.kv_heads * shape.head_dim * element, 0x3F);
    beam_values = beam_keys;
    prompt.keys = keys.data();
    prompt.values_transposed = values.data();
    beam.keys = beam_keys.data();
    beam.values = beam_values.data();
  }
  Cache(const Cache&) = delete;

  uint64_t element;
  PromptKv prompt;
  BeamKv beam;
  std::vector<uint8_t> keys, values, beam_keys, beam_values;
};

/// The inputs of one request: the prompt's rows, then the rows of each step, and who descends from
/// whom.
struct Request {
  Request(const Shape& s, DType type, uint64_t seed) : shape(s), random(seed) {
    rows = s.prompt + s.steps * s.width;
    q = floats(uint64_t{rows} * s.heads * s.head_dim, type);
    k = floats(uint64_t{rows} * s.kv_heads * s.head_dim, type);
    v = floats(uint64_t{rows} * s.kv_heads * s.head_dim, type);
    std::uniform_int_distribution<uint32_t> parent(0, s.width - 1);
    std::vector<std::vector<uint32_t>> previous(s.width);  // slots of each beam's ancestors
    for (uint32_t step = 1; step <= s.steps; ++step) {
      ancestors.emplace_back();
      std::vector<std::vector<uint32_t>> next;
      for (uint32_t row = 0; row < s.width; ++row) {
        std::vector<uint32_t> chain;
        if (step > 1) {
          const uint32_t from = parent(random);
          chain = previous[from];
          chain.push_back(from);
        }
        ancestors.back().insert(ancestors.back().end(), chain.begin(), chain.end());
        next.push_back(chain);
      }
      previous = next;
    }
  }

  std::vector<float> floats(uint64_t count, DType type) {
    std::normal_distribution<float> normal(0, 1.5f);
    std::vector<float> values(count);
    for (float& value : values) {
      value = normal(random);
      if (type == DType::kBf16) value = tensor::f32_of_bf16(tensor::bf16_of_f32(value));
    }
    return values;
  }
  uint32_t step_row(uint32_t step, uint32_t slot) const {
    return shape.prompt + (step - 1) * shape.width + slot;
  }

  Shape shape;
  std::mt19937_64 random;
  uint32_t rows;
  std::vector<float> q, k, v;
  std::vector<std::vector<uint32_t>> ancestors;
};

/// Runs a request: the prompt in chunks of `chunk` rows, then the steps. Returns the outputs of all
/// rows.
std::vector<float> run(device::Device& device, Request& request, DType type, uint32_t chunk) {
  const Shape& s = request.shape;
  constexpr uint32_t kLayers = 2;
  Cache cache(s, kLayers, type);
  const Layer layer{1, s.heads, s.kv_heads, s.head_dim, type};
  Result<Scratch> scratch = Scratch::allocate(device, s.prompt, s.head_dim);
  EXPECT_TRUE(scratch.is_ok());
  const uint64_t q_size = uint64_t{s.heads} * s.head_dim,
                 kv_size = uint64_t{s.kv_heads} * s.head_dim;
  std::vector<float> out(request.rows * q_size);
  const auto pass = [&](const RowGroup& group, uint32_t row) {
    const std::span<const RowGroup> groups(&group, 1);
    write_kv(device, layer, groups, request.k.data() + row * kv_size,
             request.v.data() + row * kv_size);
    attend(device, layer, groups, request.q.data() + row * q_size, out.data() + row * q_size,
           scratch.value());
  };
  for (uint32_t first = 0; first < s.prompt; first += chunk) {
    RowGroup group;
    group.prompt = &cache.prompt;
    group.row_count = std::min(chunk, s.prompt - first);
    group.first_position = first;
    pass(group, first);
    cache.prompt.length = first + group.row_count;
  }
  for (uint32_t step = 1; step <= s.steps; ++step) {
    RowGroup group;
    group.prompt = &cache.prompt;
    group.beam = &cache.beam;
    group.row_count = s.width;
    group.first_position = s.prompt + step - 1;
    group.step = step;
    group.ancestors = request.ancestors[step - 1];
    pass(group, request.step_row(step, 0));
  }
  return out;
}

/// What each row must see, told in the plainest way.
std::vector<double> expected(const Request& request) {
  const Shape& s = request.shape;
  std::vector<double> out;
  const auto attend_row = [&](uint32_t row, const std::vector<uint32_t>& seen) {
    for (uint32_t head = 0; head < s.heads; ++head) {
      std::vector<const float*> keys, values;
      for (const uint32_t other : seen) {
        const uint64_t at =
            (uint64_t{other} * s.kv_heads + head / (s.heads / s.kv_heads)) * s.head_dim;
        keys.push_back(request.k.data() + at);
        values.push_back(request.v.data() + at);
      }
      const float* q = request.q.data() + (uint64_t{row} * s.heads + head) * s.head_dim;
      const std::vector<double> result = reference::attend(q, keys, values, s.head_dim);
      out.insert(out.end(), result.begin(), result.end());
    }
  };
  std::vector<uint32_t> prompt;
  for (uint32_t row = 0; row < s.prompt; ++row) {
    prompt.push_back(row);
    attend_row(row, prompt);
  }
  for (uint32_t step = 1; step <= s.steps; ++step) {
    for (uint32_t slot = 0; slot < s.width; ++slot) {
      std::vector<uint32_t> seen = prompt;
      for (uint32_t t = 0; t + 1 < step; ++t) {
        seen.push_back(request.step_row(t + 1, request.ancestors[step - 1][slot * (step - 1) + t]));
      }
      seen.push_back(request.step_row(step, slot));
      attend_row(request.step_row(step, slot), seen);
    }
  }
  return out;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class AttentionConformance : public ::testing::TestWithParam<InstructionSet> {};

TEST_P(AttentionConformance, PromptAndBeamRowsAgreeWithDoublePrecision) {
  const std::unique_ptr<device::Device> device = open(GetParam(), 2);
  for (const DType type : {DType::kF32, DType::kBf16}) {
    for (const Shape& shape : kShapes) {
      Request request(shape, type, kSeed + shape.prompt);
      const std::vector<float> out = run(*device, request, type, shape.prompt);
      const std::vector<double> wanted = expected(request);
      ASSERT_EQ(out.size(), wanted.size());
      const double tolerance =
          type == DType::kF32 ? 5e-6 : 2e-2;  // BF16 probabilities: 2^-9 of each
      for (size_t i = 0; i < out.size(); ++i) {
        ASSERT_NEAR(static_cast<double>(out[i]), wanted[i], tolerance)
            << "seed " << kSeed << " at " << i;
      }
    }
  }
}

TEST_P(AttentionConformance, ChunksThreadsAndInstructionSetsChangeNoBit) {
  const std::unique_ptr<device::Device> one = open(GetParam(), 1), three = open(GetParam(), 3);
  const std::unique_ptr<device::Device> portable = open(InstructionSet::kPortable, 1);
  for (const DType type : {DType::kF32, DType::kBf16}) {
    for (const Shape& shape : kShapes) {
      Request request(shape, type, kSeed + shape.prompt);
      const std::vector<float> whole = run(*one, request, type, shape.prompt);
      for (const uint32_t chunk : {1u, 3u, 16u, 33u}) {
        EXPECT_TRUE(same_bits(whole, run(*three, request, type, chunk))) << chunk;
      }
      EXPECT_TRUE(same_bits(whole, run(*portable, request, type, 7)));
    }
  }
}

TEST_P(AttentionConformance, ARequestHasTheSameBitsAloneAndBesideAnother) {
  const std::unique_ptr<device::Device> device = open(GetParam(), 2);
  const Shape shape = kShapes[0];
  const uint64_t q_size = uint64_t{shape.heads} * shape.head_dim;
  const uint64_t kv_size = uint64_t{shape.kv_heads} * shape.head_dim;
  Request a(shape, DType::kF32, kSeed + 1), b(shape, DType::kF32, kSeed + 2);
  const std::vector<float> alone = run(*device, a, DType::kF32, shape.prompt);
  Cache cache_a(shape, 1, DType::kF32), cache_b(shape, 1, DType::kF32);
  RowGroup groups[2];
  groups[0].prompt = &cache_b.prompt;
  groups[1].prompt = &cache_a.prompt;
  groups[0].row_count = groups[1].row_count = groups[1].first_row = shape.prompt;
  const auto joined = [&](const std::vector<float>& first, const std::vector<float>& second,
                          uint64_t size) {
    std::vector<float> both(first.begin(),
                            first.begin() + static_cast<int64_t>(shape.prompt * size));
    both.insert(both.end(), second.begin(),
                second.begin() + static_cast<int64_t>(shape.prompt * size));
    return both;
  };
  const std::vector<float> q = joined(b.q, a.q, q_size), k = joined(b.k, a.k, kv_size);
  const std::vector<float> v = joined(b.v, a.v, kv_size);
  std::vector<float> out(q.size());
  Result<Scratch> scratch = Scratch::allocate(*device, shape.prompt, shape.head_dim);
  ASSERT_TRUE(scratch.is_ok());
  const Layer layer{0, shape.heads, shape.kv_heads, shape.head_dim, DType::kF32};
  write_kv(*device, layer, groups, k.data(), v.data());
  attend(*device, layer, groups, q.data(), out.data(), scratch.value());
  EXPECT_EQ(std::memcmp(out.data() + shape.prompt * q_size, alone.data(),
                        shape.prompt * q_size * sizeof(float)),
            0);
}

std::string name_of(const ::testing::TestParamInfo<InstructionSet>& info) {
  return std::string(device::instruction_set_name(info.param));
}
INSTANTIATE_TEST_SUITE_P(Machine, AttentionConformance,
                         ::testing::ValuesIn(device::available_instruction_sets()), name_of);

}  // namespace
}  // namespace tessera::attention
