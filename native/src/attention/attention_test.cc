// Attention on every instruction set of the machine against its twin in double precision, and bit
// for bit between chunkings, batches, threads and instruction sets.
#include "attention/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "attention/reference/reference.h"
#include "device/backends.h"
#include "device/cpu/amx_modelled.h"
#include "device/cpu/dots_modelled.h"

namespace tessera::attention {
namespace attention_test {

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
const Shape kShapes[] = {{4, 2, 16, 37, 5, 3},  {3, 3, 7, 1, 2, 1},     {6, 2, 34, 130, 9, 4},
                         {8, 1, 64, 32, 3, 2},  {5, 5, 1, 31, 17, 2},   {4, 1, 70, 65, 20, 5},
                         {2, 1, 20, 256, 3, 1}, {4, 2, 128, 257, 4, 2}, {4, 2, 80, 33, 6, 64},
                         {1, 1, 64, 520, 2, 3}};
// The ones that the portable kernels, far slower, are also given.
const std::span<const Shape> kSmallShapes = std::span(kShapes).first(7);

std::span<const Shape> shapes_of(InstructionSet set) {
  return set == InstructionSet::kPortable ? kSmallShapes : std::span(kShapes);
}

/// Memory of panels is aligned to cache lines.
struct alignas(64) Line {
  uint8_t bytes[64];
};

/// Blocks of one request and its beams' slots as kv_view.h lays them out. Positions that nobody has
/// written hold finite garbage.
struct Cache {
  Cache(const Shape& shape, uint32_t layers, DType type)
      : layout{layers, shape.kv_heads, shape.head_dim, type} {
    const uint32_t count = (shape.prompt + kBlockPositions - 1) / kBlockPositions;
    memory.resize(count);
    for (std::vector<Line>& block : memory) {
      block.resize(layout.bytes() / sizeof(Line));
      std::memset(block.data(), 0x3F, layout.bytes());
      blocks.push_back(block.data());
    }
    prompt = {blocks.data(), count, 0};
    beam.slots = shape.steps * shape.width;
    const uint64_t rows = uint64_t{layers} * shape.steps * shape.width;
    beam_keys.assign(rows * shape.kv_heads * shape.head_dim * tensor::dtype_size(type), 0x3F);
    beam_values = beam_keys;
    beam.keys = beam_keys.data();
    beam.values = beam_values.data();
  }
  Cache(const Cache&) = delete;

  BlockLayout layout;
  std::vector<std::vector<Line>> memory;
  std::vector<void*> blocks;
  PromptKv prompt;
  BeamKv beam;
  std::vector<uint8_t> beam_keys, beam_values;
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
          chain.push_back((step - 2) * s.width + from);
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
  const Layer layer{1, s.heads, cache.layout};
  Result<Scratch> scratch = Scratch::allocate(device, s.head_dim);
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
    group.first_slot = (step - 1) * s.width;
    group.ancestors = request.ancestors[step - 1];
    pass(group, request.step_row(step, 0));
  }
  return out;
}

/// The positions that each row must see, written in the plainest way.
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
        seen.push_back(s.prompt + request.ancestors[step - 1][slot * (step - 1) + t]);
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

void expect_near(const std::vector<float>& out, const std::vector<double>& wanted, DType type) {
  ASSERT_EQ(out.size(), wanted.size());
  const double tolerance = type == DType::kF32 ? 5e-6 : 2e-2;  // BF16 weights: 2^-9 of each
  for (size_t i = 0; i < out.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(out[i]), wanted[i], tolerance)
        << "seed " << kSeed << " at " << i;
  }
}

TEST_P(AttentionConformance, PromptAndBeamRowsAgreeWithDoublePrecision) {
  const std::unique_ptr<device::Device> device = open(GetParam(), 2);
  for (const DType type : {DType::kF32, DType::kBf16}) {
    for (const Shape& shape : shapes_of(GetParam())) {
      Request request(shape, type, kSeed + shape.prompt);
      expect_near(run(*device, request, type, shape.prompt), expected(request), type);
    }
  }
}

TEST_P(AttentionConformance, ChunksThreadsAndInstructionSetsChangeNoBit) {
  const std::unique_ptr<device::Device> one = open(GetParam(), 1), three = open(GetParam(), 3);
  const std::unique_ptr<device::Device> narrowest =
      open(device::available_instruction_sets(device::numeric_class(GetParam())).front(), 1);
  for (const DType type : {DType::kF32, DType::kBf16}) {
    for (const Shape& shape : shapes_of(GetParam())) {
      Request request(shape, type, kSeed + shape.prompt);
      const std::vector<float> whole = run(*one, request, type, shape.prompt);
      const std::vector<uint32_t> chunks =
          shape.prompt < 200 ? std::vector<uint32_t>{1, 3, 16, 33} : std::vector<uint32_t>{100};
      for (const uint32_t chunk : chunks) {
        EXPECT_TRUE(same_bits(whole, run(*three, request, type, chunk))) << chunk;
      }
      if (shape.prompt > 256) continue;
      EXPECT_TRUE(same_bits(whole, run(*narrowest, request, type, shape.prompt / 2 + 1)));
    }
  }
}

/// Prompt rows [first, last) of a request, for a pass of several.
struct Part {
  const Request* request;
  Cache* cache;
  uint32_t first, last;
  std::vector<Mirror> mirrors{};
};

/// One pass over prompt rows of several requests; returns the outputs of all parts, one after the
/// other.
std::vector<float> run_parts(device::Device& device, std::span<const Part> parts,
                             const Sight& sight = {}) {
  const Shape& s = parts[0].request->shape;
  const Layer layer{1, s.heads, parts[0].cache->layout, sight};
  const uint64_t q_size = uint64_t{s.heads} * s.head_dim;
  const uint64_t kv_size = uint64_t{s.kv_heads} * s.head_dim;
  std::vector<RowGroup> groups;
  std::vector<float> q, k, v;
  uint32_t rows = 0;
  for (const Part& part : parts) {
    RowGroup group;
    group.prompt = &part.cache->prompt;
    group.first_row = rows;
    group.row_count = part.last - part.first;
    group.first_position = part.first;
    group.mirrors = part.mirrors;
    groups.push_back(group);
    rows += group.row_count;
    const auto append = [&](std::vector<float>& to, const std::vector<float>& from, uint64_t size) {
      to.insert(to.end(), from.begin() + static_cast<int64_t>(part.first * size),
                from.begin() + static_cast<int64_t>(part.last * size));
    };
    append(q, part.request->q, q_size);
    append(k, part.request->k, kv_size);
    append(v, part.request->v, kv_size);
  }
  std::vector<float> out(q.size());
  Result<Scratch> scratch = Scratch::allocate(device, s.head_dim);
  EXPECT_TRUE(scratch.is_ok());
  write_kv(device, layer, groups, k.data(), v.data());
  attend(device, layer, groups, q.data(), out.data(), scratch.value());
  return out;
}

/// Rows of a whole text in double precision, each of which sees what it can.
std::vector<double> expected_of_text(const Request& request, const Sight& sight) {
  const Shape& s = request.shape;
  std::vector<double> out;
  for (uint32_t row = 0; row < s.prompt; ++row) {
    for (uint32_t head = 0; head < s.heads; ++head) {
      std::vector<const float*> keys, values;
      for (uint32_t other = 0; other < s.prompt; ++other) {
        if (std::max(row, other) - std::min(row, other) > sight.reach) continue;
        const uint64_t at =
            (uint64_t{other} * s.kv_heads + head / (s.heads / s.kv_heads)) * s.head_dim;
        keys.push_back(request.k.data() + at);
        values.push_back(request.v.data() + at);
      }
      const float* q = request.q.data() + (uint64_t{row} * s.heads + head) * s.head_dim;
      const std::vector<double> result = reference::attend(q, keys, values, s.head_dim);
      out.insert(out.end(), result.begin(), result.end());
    }
  }
  return out;
}

TEST_P(AttentionConformance, RowsOfTextsSeeBehindThemAndAsFarAsTheyReachAloneAndInOnePass) {
  const std::unique_ptr<device::Device> one = open(GetParam(), 1), three = open(GetParam(), 3);
  const bool is_slow = GetParam() == InstructionSet::kPortable;
  const std::vector<uint32_t> lengths =
      is_slow ? std::vector<uint32_t>{37, 1, 70} : std::vector<uint32_t>{37, 1, 256, 257, 700, 32};
  for (const DType type : {DType::kF32, DType::kBf16}) {
    for (const uint32_t reach : {Sight::kUnlimited, 1u, 11u, 64u, 300u}) {
      const Sight sight{.is_causal = false, .reach = reach};
      std::vector<std::unique_ptr<Request>> requests;
      std::vector<std::unique_ptr<Cache>> caches;
      std::vector<Part> parts;
      for (const uint32_t length : lengths) {
        const Shape shape{4, 2, 16, length, 1, 1};
        requests.push_back(std::make_unique<Request>(shape, type, kSeed + length));
        caches.push_back(std::make_unique<Cache>(shape, 2, type));
        parts.push_back({requests.back().get(), caches.back().get(), 0, length});
      }
      const std::vector<float> together = run_parts(*three, parts, sight);
      auto next = together.begin();
      for (const Part& part : parts) {
        SCOPED_TRACE(std::to_string(part.last) + " rows, reach " + std::to_string(reach));
        const std::vector<float> alone = run_parts(*one, {&part, 1}, sight);
        const auto end = next + static_cast<ptrdiff_t>(alone.size());
        EXPECT_TRUE(same_bits(alone, {next, end}));
        next = end;
        expect_near(alone, expected_of_text(*part.request, sight), type);
      }
    }
  }
}

/// Rows [first, last) of outputs.
std::vector<float> rows_of(const std::vector<float>& outputs, const Shape& shape, uint32_t first,
                           uint32_t last) {
  const int64_t size = int64_t{shape.heads} * shape.head_dim;
  return {outputs.begin() + first * size, outputs.begin() + last * size};
}

TEST_P(AttentionConformance, ARequestHasTheSameBitsAloneAndBesideAnother) {
  const std::unique_ptr<device::Device> device = open(GetParam(), 2);
  const Shape shape = kShapes[0];
  for (const DType type : {DType::kF32, DType::kBf16}) {
    Request a(shape, type, kSeed + 1), b(shape, type, kSeed + 2);
    const std::vector<float> alone = run(*device, a, type, shape.prompt);
    Cache cache_a(shape, 2, type), cache_b(shape, 2, type);
    const Part parts[] = {{&b, &cache_b, 0, shape.prompt}, {&a, &cache_a, 0, shape.prompt}};
    const std::vector<float> both = run_parts(*device, parts);
    EXPECT_TRUE(same_bits(rows_of(both, shape, shape.prompt, 2 * shape.prompt),
                          rows_of(alone, shape, 0, shape.prompt)));
  }
}

TEST_P(AttentionConformance, AFollowerReadsWhatItsLeaderWritesInTheSamePass) {
  const std::unique_ptr<device::Device> device = open(GetParam(), 2);
  constexpr uint32_t kPrompt = 100;
  const Shape shape{4, 2, 20, kPrompt, 1, 1};
  for (const DType type : {DType::kF32, DType::kBf16}) {
    for (const uint32_t common : {1u, 31u, 32u, 33u, 63u, 64u, 65u, 95u, 96u, 97u, 99u}) {
      Request leader(shape, type, kSeed + 3), follower(shape, type, kSeed + 4);
      const auto kv = static_cast<int64_t>(common * shape.kv_heads * shape.head_dim);
      std::copy(leader.k.begin(), leader.k.begin() + kv, follower.k.begin());
      std::copy(leader.v.begin(), leader.v.begin() + kv, follower.v.begin());
      const std::vector<float> alone = run(*device, follower, type, kPrompt);
      Cache cache_leader(shape, 2, type), cache_follower(shape, 2, type);
      const uint32_t full = common / kBlockPositions;
      for (uint32_t b = 0; b < full; ++b) cache_follower.blocks[b] = cache_leader.blocks[b];
      const uint32_t shared = full * kBlockPositions;
      const Part parts[] = {
          {&leader, &cache_leader, 0, kPrompt, {{&cache_follower.prompt, shared, common - shared}}},
          {&follower, &cache_follower, common, kPrompt}};
      const std::vector<float> both = run_parts(*device, parts);
      EXPECT_TRUE(same_bits(rows_of(both, shape, kPrompt, 2 * kPrompt - common),
                            rows_of(alone, shape, common, kPrompt)))
          << common;
      EXPECT_TRUE(same_bits(rows_of(both, shape, 0, kPrompt),
                            rows_of(run(*device, leader, type, kPrompt), shape, 0, kPrompt)));
    }
  }
}

TEST(BlockLayout, HoldsEveryPanelOnceAndAligned) {
  for (const DType type : {DType::kF32, DType::kBf16}) {
    for (const uint32_t head_dim : {1u, 20u, 31u, 32u, 33u, 64u, 80u, 128u}) {
      const BlockLayout layout{3, 2, head_dim, type};
      const uint64_t keys = device::panel_bytes(layout.panel_type(), head_dim);
      const uint64_t values = (head_dim + 31) / 32 * layout.value_panel_bytes();
      std::vector<int> holders(layout.bytes() / 64);
      const auto hold = [&](uint64_t offset, uint64_t bytes) {
        EXPECT_EQ(offset % 1024, 0u);
        for (uint64_t i = 0; i < bytes / 64; ++i) ++holders.at(offset / 64 + i);
      };
      for (uint32_t layer = 0; layer < layout.layers; ++layer) {
        for (uint32_t head = 0; head < layout.kv_heads; ++head) {
          hold(layout.key_offset(layer, head), keys);
          hold(layout.value_offset(layer, head), values);
        }
      }
      EXPECT_EQ(std::count(holders.begin(), holders.end(), 1),
                static_cast<int64_t>(holders.size()));
    }
  }
}

TEST_P(AttentionConformance, RowsLieInTheirBlocksAsPanelsAndNothingElseIsTouched) {
  const std::unique_ptr<device::Device> device = open(GetParam(), 2);
  for (const DType type : {DType::kF32, DType::kBf16}) {
    for (const uint32_t head_dim : {5u, 16u, 33u, 80u}) {
      const Shape shape{2, 2, head_dim, 70, 1, 1};
      Request request(shape, type, kSeed + head_dim);
      Cache cache(shape, 2, type);
      const BlockLayout& layout = cache.layout;
      constexpr uint32_t kFirst = 13, kLast = 67;
      const Part part{&request, &cache, kFirst, kLast};
      run_parts(*device, {&part, 1});
      for (uint32_t p = 0; p < 96; ++p) {
        for (uint32_t head = 0; head < 2; ++head) {
          for (uint32_t d = 0; d < head_dim; ++d) {
            const char* block = static_cast<const char*>(cache.blocks[p / 32]);
            const auto stored = [&](uint64_t offset, uint32_t k, uint32_t column) {
              offset += device::panel_offset(layout.panel_type(), k, column);
              if (type == DType::kF32) return *reinterpret_cast<const float*>(block + offset);
              return tensor::f32_of_bf16(*reinterpret_cast<const uint16_t*>(block + offset));
            };
            const uint64_t panel = d / 32 * layout.value_panel_bytes();
            const float key = stored(layout.key_offset(1, head), d, p % 32);
            const float value = stored(layout.value_offset(1, head) + panel, p % 32, d % 32);
            const bool is_written = p >= kFirst && p < kLast;
            const uint64_t at = (uint64_t{p} * 2 + head) * head_dim + d;
            const float untouched = type == DType::kF32 ? 0x1.7e7e7ep-1f : 0x1.7ep-1f;
            ASSERT_EQ(key, is_written ? request.k[at] : untouched) << p << " " << d;
            ASSERT_EQ(value, is_written ? request.v[at] : untouched) << p << " " << d;
          }
        }
      }
    }
  }
}

constexpr size_t kOperandRows = 4;

/// Operands in blocks of four rows, element by element beside each other, as tile units want them.
/// Products unpack them and are then the portable ones.
template <device::PanelType kType>
device::PanelKernels blocked_operands() {
  static const device::PanelKernels plain =
      open(InstructionSet::kPortable, 1)->kernels().panel(kType);
  device::PanelKernels kernels;
  kernels.row_block = kOperandRows;
  kernels.operand_row_bytes = [](size_t k) { return k * sizeof(float); };
  kernels.write_operand = [](const float* x, size_t x_stride, size_t first_row, size_t rows,
                             size_t k, void* operand, float*) {
    for (size_t i = first_row; i < first_row + rows; ++i) {
      float* block = static_cast<float*>(operand) + i / kOperandRows * kOperandRows * k;
      for (size_t j = 0; j < k; ++j) {
        block[j * kOperandRows + i % kOperandRows] = x[(i - first_row) * x_stride + j];
      }
    }
  };
  kernels.multiply = [](const device::PanelProduct& product) {
    std::vector<float> rows(product.rows * product.k);
    for (size_t i = 0; i < product.rows; ++i) {
      const float* block =
          static_cast<const float*>(product.x) + i / kOperandRows * kOperandRows * product.k;
      for (size_t j = 0; j < product.k; ++j) {
        rows[i * product.k + j] = block[j * kOperandRows + i % kOperandRows];
      }
    }
    device::PanelProduct unpacked = product;
    unpacked.x = rows.data();
    unpacked.x_row_bytes = product.k * sizeof(float);
    plain.multiply(unpacked);
  };
  return kernels;
}

/// A device of the portable kernels with other panel products.
class DeviceOfPanels final : public device::Device {
 public:
  DeviceOfPanels(const device::PanelKernels& f32, const device::PanelKernels& bf16)
      : inner_(open(InstructionSet::kPortable, 2)), kernels_(inner_->kernels()) {
    kernels_.panel_f32 = f32;
    kernels_.panel_bf16 = bf16;
  }
  const char* name() const override { return "panels"; }
  uint64_t available_bytes() const override { return inner_->available_bytes(); }
  Result<device::Buffer> allocate(uint64_t bytes) override { return inner_->allocate(bytes); }
  Status zero(device::Buffer& buffer) override { return inner_->zero(buffer); }
  void copy(void* to, const void* from, uint64_t n) override { inner_->copy(to, from, n); }
  const device::KernelTable& kernels() const override { return kernels_; }
  platform::ThreadPool& threads() override { return inner_->threads(); }

 private:
  void release(void*, uint64_t) override {}  // buffers are the inner device's

  std::unique_ptr<device::Device> inner_;
  device::KernelTable kernels_;
};

TEST(BlockedOperands, GiveTheSameBitsAsPlainRows) {
  const std::unique_ptr<device::Device> plain = open(InstructionSet::kPortable, 1);
  DeviceOfPanels blocked(blocked_operands<device::PanelType::kF32>(),
                         blocked_operands<device::PanelType::kBf16>());
  for (const DType type : {DType::kF32, DType::kBf16}) {
    for (const Shape& shape : kSmallShapes) {
      Request request(shape, type, kSeed + 9);
      const std::vector<float> wanted = run(*plain, request, type, shape.prompt);
      EXPECT_TRUE(same_bits(wanted, run(blocked, request, type, shape.prompt / 3 + 1)));
    }
  }
}

/// Of a class that this machine may lack, modelled, and of the machine's set of it where it has
/// one.
void expect_class(const device::PanelKernels& modelled, device::NumericClass numbers) {
  const device::KernelTable portable = open(InstructionSet::kPortable, 1)->kernels();
  DeviceOfPanels model(portable.panel_f32, modelled);
  for (const Shape& shape : kSmallShapes) {
    Request request(shape, DType::kBf16, kSeed + 11);
    const std::vector<float> whole = run(model, request, DType::kBf16, shape.prompt);
    expect_near(whole, expected(request), DType::kBf16);
    for (const uint32_t chunk : {1u, 33u}) {
      EXPECT_TRUE(same_bits(whole, run(model, request, DType::kBf16, chunk))) << chunk;
    }
    for (const InstructionSet set : device::available_instruction_sets(numbers)) {
      EXPECT_TRUE(same_bits(whole, run(*open(set, 2), request, DType::kBf16, 16)));
    }
  }
}

TEST(TileUnit, AgreesWithDoublePrecisionAndChunksChangeNoBit) {
  expect_class(device::cpu::amx_bf16_modelled(), device::NumericClass::kTiles);
}

TEST(Dots, AgreeWithDoublePrecisionAndChunksChangeNoBit) {
  expect_class(device::cpu::dots_modelled(), device::NumericClass::kDots);
}

std::string name_of(const ::testing::TestParamInfo<InstructionSet>& info) {
  return std::string(device::instruction_set_name(info.param));
}
INSTANTIATE_TEST_SUITE_P(Machine, AttentionConformance,
                         ::testing::ValuesIn(device::available_instruction_sets()), name_of);

}  // namespace attention_test
}  // namespace tessera::attention
