// Gated delta nets against the recurrence in double precision, and bit for bit between slices,
// copies of states, batches, threads and instruction sets.
#include "attention/delta_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "device/backends.h"

namespace tessera::attention {
namespace delta_rule_test {

using device::InstructionSet;

constexpr uint64_t kSeed = 58001;

std::unique_ptr<device::Device> open_best() {
  auto device = device::open_cpu_device({.thread_count = 2, .instruction_set = std::nullopt});
  EXPECT_TRUE(device.is_ok());
  return std::move(device).value();
}

struct Case {
  DeltaShape shape;
  uint32_t prompt, width, steps;
};
const Case kCases[] = {{{2, 2, 4, 16, 32, 4}, 37, 5, 3},
                       {{1, 1, 1, 5, 7, 2}, 1, 3, 4},
                       {{1, 2, 2, 24, 20, 3}, 16, 40, 2},
                       {{2, 1, 3, 128, 128, 4}, 70, 9, 3},
                       {{1, 2, 2, 32, 32, 8}, 5, 4, 6}};

/// Random inputs of a request: the prompt's rows, then those of each step, whose parents are
/// random rows of the step before.
struct Inputs {
  explicit Inputs(const Case& of, uint64_t seed) : c(of), random(seed) {
    const DeltaShape& s = c.shape;
    rows = c.prompt + c.steps * c.width;
    for (uint32_t layer = 0; layer < s.layers; ++layer) {
      inputs.push_back(floats(rows * s.channels(), 1));
      gates.push_back(floats(rows * s.values(), 1));
      decays.push_back(floats(rows * s.value_heads, 2));
      strengths.push_back(floats(rows * s.value_heads, 2));
      taps.push_back(floats(s.taps * s.channels(), 1));
      norm.push_back(floats(s.value_dim, 1));
      log_rate.push_back(floats(s.value_heads, 1));
      step_bias.push_back(floats(s.value_heads, 1));
    }
    for (uint32_t i = 0; i < c.steps * c.width; ++i)
      parents.push_back(static_cast<uint32_t>(random() % c.width));
  }

  std::vector<float> floats(uint64_t n, float scale) {
    std::normal_distribution<float> normal(0, scale);
    std::vector<float> values(n);
    for (float& value : values) value = normal(random);
    return values;
  }
  DeltaWeights weights(uint32_t layer) const {
    return {taps[layer].data(), norm[layer].data(), log_rate[layer].data(), step_bias[layer].data(),
            1e-6f};
  }
  /// Rows that the row stands on, oldest first, itself last.
  std::vector<uint32_t> line(uint32_t row) const {
    std::vector<uint32_t> back;
    while (row >= c.prompt) {
      back.push_back(row);
      const uint32_t step = (row - c.prompt) / c.width;
      if (step == 0) break;
      row = c.prompt + (step - 1) * c.width + parents[row - c.prompt];
    }
    const uint32_t end = row < c.prompt ? row + 1 : c.prompt;
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < end; ++i) all.push_back(i);
    all.insert(all.end(), back.rbegin(), back.rend());
    return all;
  }

  Case c;
  std::mt19937_64 random;
  uint32_t rows = 0;
  std::vector<std::vector<float>> inputs, gates, decays, strengths, taps, norm, log_rate, step_bias;
  std::vector<uint32_t> parents;
};

double silu(double x) { return x / (1 + std::exp(-x)); }

/// The recurrence as it is written, for the last row of a line.
std::vector<double> oracle(const Inputs& in, uint32_t layer, const std::vector<uint32_t>& line) {
  const DeltaShape& s = in.c.shape;
  std::vector<double> out;
  const auto mixed = [&](size_t at, uint64_t channel) {
    double sum = 0;
    for (uint32_t tap = 0; tap < s.taps; ++tap) {
      const int64_t from = static_cast<int64_t>(at) - (s.taps - 1) + tap;
      if (from < 0) continue;
      sum += double{in.inputs[layer][line[from] * s.channels() + channel]} *
             in.taps[layer][tap * s.channels() + channel];
    }
    return silu(sum);
  };
  const auto head = [&](size_t at, uint64_t first) {
    std::vector<double> x;
    double square = 1e-6;
    for (uint32_t i = 0; i < s.key_dim; ++i) x.push_back(mixed(at, first + i));
    for (const double value : x) square += value * value;
    for (double& value : x) value /= std::sqrt(square);
    return x;
  };
  for (uint32_t v = 0; v < s.value_heads; ++v) {
    const uint64_t group = v / (s.value_heads / s.key_heads);
    std::vector<double> state(uint64_t{s.key_dim} * s.value_dim), o(s.value_dim);
    for (size_t at = 0; at < line.size(); ++at) {
      const uint64_t gate = line[at] * s.value_heads + v;
      const double softplus =
          std::log1p(std::exp(double{in.decays[layer][gate]} + in.step_bias[layer][v]));
      const double a = std::exp(-std::exp(double{in.log_rate[layer][v]}) * softplus);
      const double b = 1 / (1 + std::exp(-double{in.strengths[layer][gate]}));
      const std::vector<double> q = head(at, group * s.key_dim);
      const std::vector<double> k = head(at, s.keys() + group * s.key_dim);
      for (uint32_t j = 0; j < s.value_dim; ++j) {
        double seen = 0;
        for (uint32_t i = 0; i < s.key_dim; ++i) seen += a * state[i * s.value_dim + j] * k[i];
        const double u = b * (mixed(at, 2 * s.keys() + v * s.value_dim + j) - seen);
        o[j] = 0;
        for (uint32_t i = 0; i < s.key_dim; ++i) {
          double& cell = state[i * s.value_dim + j];
          cell = a * cell + k[i] * u;
          o[j] += cell * q[i] / std::sqrt(double{1} * s.key_dim);
        }
      }
    }
    double square = 0;
    for (const double value : o) square += value * value / s.value_dim;
    for (uint32_t j = 0; j < s.value_dim; ++j) {
      const double gate = in.gates[layer][line.back() * s.values() + v * s.value_dim + j];
      out.push_back(o[j] / std::sqrt(square + double{1e-6f}) * in.norm[layer][j] * silu(gate));
    }
  }
  return out;
}

/// A request that runs, with its outputs of all rows.
struct Passes {
  Passes(const Inputs& of, device::Device& on) : in(of), device(on) {
    const DeltaShape& s = in.c.shape;
    state_memory = std::move(device.allocate(s.floats_max() * sizeof(float))).value();
    state.data = state_memory.as<float>();
    state.is_folded.resize(s.layers);
    prompt.delta = &state;
    beam.slots = in.c.steps * in.c.width;
    slots.resize(beam.slots * s.slot_floats());
    beam.delta = slots.data();
    out.resize(s.layers, std::vector<float>(in.rows * s.values()));
    scratch = std::move(DeltaScratch::allocate(device, s)).value();
  }

  void pass(std::span<const RowGroup> groups, uint64_t first, uint64_t count) {
    const DeltaShape& s = in.c.shape;
    for (uint32_t layer = 0; layer < s.layers; ++layer) {
      std::vector<float> mixed(count * s.channels()), factors(2 * count * s.value_heads);
      const DeltaRows rows{&in.inputs[layer][first * s.channels()],
                           mixed.data(),
                           &in.gates[layer][first * s.values()],
                           &in.decays[layer][first * s.value_heads],
                           &in.strengths[layer][first * s.value_heads],
                           factors.data(),
                           &out[layer][first * s.values()]};
      delta_rule(device, s, layer, groups, in.weights(layer), rows, scratch);
    }
  }

  void prefill(uint32_t end, uint32_t slice, std::span<const DeltaCapture> captures = {}) {
    while (prompt.length < end) {
      RowGroup group;
      group.prompt = &prompt;
      group.first_position = prompt.length;
      group.row_count = std::min(slice, end - prompt.length);
      const uint32_t last = prompt.length + group.row_count;
      size_t first = 0, count = 0;
      while (first < captures.size() && captures[first].position <= prompt.length) ++first;
      while (first + count < captures.size() && captures[first + count].position <= last) ++count;
      group.captures = captures.subspan(first, count);
      pass({&group, 1}, prompt.length, group.row_count);
      prompt.length = last;
    }
  }

  void step(uint32_t number) {
    const uint32_t width = in.c.width;
    std::vector<uint32_t> ancestors;
    for (uint32_t row = 0; row < width; ++row) {
      const std::vector<uint32_t> line = in.line(in.c.prompt + number * width + row);
      for (size_t i = in.c.prompt; i + 1 < line.size(); ++i)
        ancestors.push_back(line[i] - in.c.prompt);
    }
    RowGroup group;
    group.prompt = &prompt;
    group.beam = &beam;
    group.row_count = width;
    group.first_position = prompt.length + number;
    group.step = number + 1;
    group.first_slot = number * width;
    group.ancestors = ancestors;
    pass({&group, 1}, in.c.prompt + uint64_t{number} * width, width);
  }

  void all(uint32_t slice) {
    prefill(in.c.prompt, slice);
    for (uint32_t number = 0; number < in.c.steps; ++number) step(number);
  }

  const Inputs& in;
  device::Device& device;
  device::Buffer state_memory;
  DeltaState state;
  PromptKv prompt;
  BeamKv beam;
  std::vector<float> slots;
  std::vector<std::vector<float>> out;
  DeltaScratch scratch;
};

TEST(DeltaRule, IsTheRecurrence) {
  const auto device = open_best();
  for (const Case& c : kCases) {
    const Inputs in(c, kSeed + c.prompt);
    Passes run(in, *device);
    run.all(1000);
    for (uint32_t layer = 0; layer < c.shape.layers; ++layer) {
      for (uint32_t row = 0; row < in.rows; row += c.shape.key_dim < 64 ? 1 : 11) {
        const std::vector<double> expected = oracle(in, layer, in.line(row));
        for (uint64_t i = 0; i < expected.size(); ++i)
          ASSERT_NEAR(run.out[layer][row * expected.size() + i], expected[i],
                      2e-5 * (1 + std::abs(expected[i])))
              << "prompt " << c.prompt << " layer " << layer << " row " << row << " at " << i;
      }
    }
  }
}

TEST(DeltaRule, KeepsKeysAndInputsOfBeamsAsBf16WhereAsked) {
  const auto device = open_best();
  for (Case c : kCases) {
    const Inputs in(c, kSeed);
    c.shape.is_narrow = true;
    const Inputs narrow(c, kSeed);
    EXPECT_LT(narrow.c.shape.slot_floats(), in.c.shape.slot_floats());
    Passes exact(in, *device), rounded(narrow, *device);
    exact.all(1000);
    rounded.all(7);
    const uint64_t values = c.shape.values();
    const uint64_t first_step = (uint64_t{c.prompt} + c.width) * values;
    for (uint32_t layer = 0; layer < c.shape.layers; ++layer) {
      double error = 0, size = 0;
      for (uint64_t i = 0; i < exact.out[layer].size(); ++i) {
        const double off = rounded.out[layer][i] - exact.out[layer][i];
        if (i < first_step) {
          ASSERT_EQ(off, 0) << "no row has an ancestor yet";
        }
        error += off * off;
        size += exact.out[layer][i] * exact.out[layer][i];
      }
      EXPECT_LT(std::sqrt(error / size), 0.02);
      EXPECT_GT(error, 0) << "prompt " << c.prompt;
    }
  }
}

TEST(DeltaRule, HasTheSameBitsInAnySlicesOnAnySet) {
  const auto best = open_best();
  for (const Case& c : kCases) {
    const Inputs in(c, kSeed);
    Passes expected(in, *best);
    expected.all(1000);
    for (const InstructionSet set : {InstructionSet::kPortable, InstructionSet::kAvx2}) {
      auto opened = device::open_cpu_device({.thread_count = 1, .instruction_set = set});
      if (!opened.is_ok()) continue;
      for (const uint32_t slice : {1u, 7u, 16u, 1000u}) {
        Passes run(in, *opened.value());
        run.all(slice);
        EXPECT_EQ(run.out, expected.out) << opened.value()->name() << " slice " << slice;
      }
    }
  }
}

TEST(DeltaRule, ReadsAPromptInSeveralGroupsOfAPass) {
  const auto device = open_best();
  for (const Case& c : kCases) {
    if (c.prompt < 5) continue;
    const Inputs in(c, kSeed);
    Passes expected(in, *device);
    expected.all(1000);
    Passes run(in, *device);
    RowGroup groups[2];
    for (RowGroup& group : groups) group.prompt = &run.prompt;
    groups[0].row_count = groups[1].first_row = groups[1].first_position = 2;
    groups[1].row_count = c.prompt - 2;
    run.pass(groups, 0, c.prompt);
    for (uint32_t layer = 0; layer < c.shape.layers; ++layer) {
      const auto end = static_cast<ptrdiff_t>(c.prompt * c.shape.values());
      EXPECT_TRUE(std::equal(run.out[layer].begin(), run.out[layer].begin() + end,
                             expected.out[layer].begin()));
    }
  }
}

TEST(DeltaRule, GoesOnFromCopiesWithTheSameBits) {
  const auto device = open_best();
  for (const Case& c : kCases) {
    const Inputs in(c, kSeed);
    Passes expected(in, *device);
    expected.all(1000);
    std::mt19937_64 random(kSeed);
    for (uint32_t position = 1; position <= c.prompt;
         position += 1 + static_cast<uint32_t>(random() % 5)) {
      const uint64_t piece = 4096;
      const uint64_t count = c.shape.floats(position);
      std::vector<std::vector<uint8_t>> memory(count * sizeof(float) / piece + 1,
                                               std::vector<uint8_t>(piece, 0xFF));
      std::vector<void*> pieces;
      for (auto& bytes : memory) pieces.push_back(bytes.data());
      Passes first(in, *device);
      const DeltaCapture captures[] = {{position, pieces.data(), piece}};
      first.prefill(c.prompt, 1 + static_cast<uint32_t>(random() % 40), captures);
      Passes second(in, *device);
      read_pieces(pieces.data(), piece, count, second.state.data);
      second.prompt.length = position;
      second.all(1 + static_cast<uint32_t>(random() % 40));
      for (uint32_t layer = 0; layer < c.shape.layers; ++layer) {
        const uint64_t before = position * c.shape.values();
        std::copy_n(expected.out[layer].begin(), before, second.out[layer].begin());
      }
      EXPECT_EQ(second.out, expected.out) << "prompt " << c.prompt << " position " << position;
    }
  }
}

}  // namespace delta_rule_test
}  // namespace tessera::attention
