// Requests with different adapters in one pass: each has the bits that it has alone, and an adapter
// computes what the model with it merged in computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "device/backends.h"
#include "lora/arena.h"
#include "lora/test_adapter.h"
#include "model/test_request.h"

namespace tessera::lora {
namespace mixed_test {

using device::InstructionSet;
using model::ComputeType;
using model::TestRequest;
using model::TestShape;

constexpr ComputeType kTypes[] = {ComputeType::kF32, ComputeType::kBf16, ComputeType::kW8A8};
constexpr Limits kLimits{ops::kRankMax, 1e4};
constexpr uint64_t kSeeds = 10;
constexpr const char* kFamilies[] = {"qwen3", "qwen2", "llama", "qwen3_moe", "qwen2_moe", "olmoe"};

/// A model with its adapters, on one device; 0 is none.
struct World {
  std::unique_ptr<device::Device> device;
  std::shared_ptr<const model::ProcessorDecoder> decoder;
  std::unique_ptr<Arena> arena;
  std::vector<std::shared_ptr<const Adapter>> adapters{nullptr};

  const model::Adapter* numbers(size_t i) const {
    return adapters[i] == nullptr ? nullptr : &adapters[i]->numbers();
  }
};

World open_world(const model::TestFolder& model_folder, ComputeType type, uint32_t threads,
                 std::optional<InstructionSet> set = {},
                 std::span<const int32_t> head_tokens = {}) {
  World world;
  world.device = device::open_cpu_device({.thread_count = threads, .instruction_set = set}).value();
  world.decoder = model::ProcessorDecoder::load(model_folder.path(), type, *world.device, {},
                                                model::families(), head_tokens)
                      .value();
  world.arena = Arena::open(world.decoder, 256u << 20).value();
  return world;
}

void add(World& world, const TestAdapter& adapter) {
  const model::TestFolder folder;
  adapter.write(folder);
  auto loaded = world.arena->load(folder.path(), kLimits);
  ASSERT_TRUE(loaded.is_ok()) << loaded.status().message();
  world.adapters.push_back(std::move(loaded).value());
}

TestShape shape_of(std::mt19937_64& random) {
  TestShape shape;
  shape.model_type = kFamilies[random() % std::size(kFamilies)];
  shape.vocab = 60 + static_cast<uint32_t>(random() % 400);
  shape.hidden = 24 + static_cast<uint32_t>(random() % 90);
  shape.intermediate = 37 + static_cast<uint32_t>(random() % 200);
  shape.tied = random() % 2 == 0;
  return shape;
}

std::vector<TestAdapterShape> adapter_shapes(const TestShape& model, std::mt19937_64& random) {
  std::vector<TestAdapterShape> shapes(4);
  shapes[0].ranks = {1, 2, 31, 32, 33, 128};
  shapes[1].ranks = {0, 7, 64};
  shapes[2].ranks = {16};
  shapes[3].ranks = {0, 0, 3};
  shapes[2].type = tensor::DType::kBf16;
  shapes[1].has_dora = shapes[2].has_dora = true;
  for (size_t i : {0, 2, 3}) {
    for (uint32_t id = 0; id < model.vocab; ++id) {
      if (random() % (i == 2 ? 3 : 25) == 0) shapes[i].embedding.push_back(id);
      if (!model.tied && random() % 12 == 0) shapes[i].head.push_back(id);
    }
  }
  return shapes;
}

struct Job {
  size_t adapter = 0;
  std::vector<int32_t> tokens;
};

std::vector<Job> random_jobs(const TestShape& shape, size_t adapters, std::mt19937_64& random) {
  std::vector<Job> jobs(7);
  for (Job& job : jobs) {
    job.adapter = random() % adapters;
    job.tokens.resize(2 + random() % 40);
    for (int32_t& token : job.tokens) token = static_cast<int32_t>(random() % shape.vocab);
  }
  return jobs;
}

/// Logits of the last token and their log-sum-exp, alone and in one chunk.
std::vector<float> alone(const World& world, const Job& job) {
  const auto size = static_cast<uint32_t>(job.tokens.size());
  TestRequest request(*world.decoder, size, 1, 1, world.numbers(job.adapter));
  request.prefill(job.tokens, size);
  std::vector<float> all = request.logits(request.last_row());
  all.push_back(request.log_sum_exp(size).back());
  return all;
}

/// The same of all jobs in shared passes: each is cut in two at a random place, rows of one adapter
/// stand together, and the head takes all of them in one call.
std::vector<std::vector<float>> together(const World& world, const std::vector<Job>& jobs,
                                         std::mt19937_64& random) {
  std::vector<std::unique_ptr<TestRequest>> requests;
  std::vector<size_t> cuts, order(jobs.size());
  for (const Job& job : jobs) {
    requests.push_back(std::make_unique<TestRequest>(
        *world.decoder, static_cast<uint32_t>(job.tokens.size()), 1, 1));
    cuts.push_back(1 + random() % (job.tokens.size() - 1));
  }
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return jobs[a].adapter < jobs[b].adapter; });
  const auto workspace = world.decoder->make_workspace(400, 100, 8);
  std::vector<uint32_t> last(jobs.size());
  for (const bool is_first : {true, false}) {
    std::vector<int32_t> tokens;
    std::vector<attention::RowGroup> groups;
    std::vector<model::AdapterRows> adapters;
    for (const size_t i : order) {
      const size_t begin = is_first ? 0 : cuts[i];
      const size_t end = is_first ? cuts[i] : jobs[i].tokens.size();
      attention::RowGroup group;
      group.prompt = &requests[i]->prompt();
      group.first_row = static_cast<uint32_t>(tokens.size());
      group.first_position = static_cast<uint32_t>(begin);
      group.row_count = static_cast<uint32_t>(end - begin);
      tokens.insert(tokens.end(), jobs[i].tokens.begin() + static_cast<ptrdiff_t>(begin),
                    jobs[i].tokens.begin() + static_cast<ptrdiff_t>(end));
      groups.push_back(group);
      last[i] = static_cast<uint32_t>(tokens.size()) - 1;
      if (jobs[i].adapter > 0)
        adapters.push_back({world.numbers(jobs[i].adapter), group.first_row, group.row_count});
    }
    EXPECT_TRUE(world.decoder->forward({tokens, groups, adapters}, *workspace).is_ok());
    for (const size_t i : order) {
      requests[i]->prompt().length =
          static_cast<uint32_t>(is_first ? cuts[i] : jobs[i].tokens.size());
    }
  }
  std::vector<int32_t> vocabulary(world.decoder->config().vocab_size);
  std::iota(vocabulary.begin(), vocabulary.end(), 0);
  std::vector<std::vector<float>> results(jobs.size());
  std::vector<ops::HeadTokens> sets(jobs.size());
  std::vector<model::HeadRequest> asked;
  for (size_t i = 0; i < jobs.size(); ++i) {
    results[i].resize(vocabulary.size() + 1);
    sets[i] = {vocabulary, results[i].data()};
    asked.push_back(
        {{&last[i], 1}, {&sets[i], 1}, &results[i].back(), world.numbers(jobs[i].adapter)});
  }
  EXPECT_TRUE(world.decoder->head(asked, *workspace).is_ok());
  // Without log-sum-exp logits come another way, which must not show.
  for (size_t i = 0; i < jobs.size(); ++i) {
    std::vector<float> chosen(vocabulary.size());
    const ops::HeadTokens set{vocabulary, chosen.data()};
    const model::HeadRequest one{{&last[i], 1}, {&set, 1}, nullptr, world.numbers(jobs[i].adapter)};
    EXPECT_TRUE(world.decoder->head({&one, 1}, *workspace).is_ok());
    EXPECT_EQ(std::memcmp(chosen.data(), results[i].data(), chosen.size() * sizeof(float)), 0);
  }
  return results;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(MixedAdapters, EveryRequestOfABatchHasTheBitsThatItHasAlone) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const TestShape shape = shape_of(random);
    const model::TestFolder folder;
    folder.write_model(shape, test_tensors(shape, tensor::DType::kF32, seed));
    const std::vector<TestAdapterShape> shapes = adapter_shapes(shape, random);
    for (const ComputeType type : kTypes) {
      SCOPED_TRACE(std::string(model::compute_type_name(type)));
      World world = open_world(folder, type, 1);
      for (size_t i = 0; i < shapes.size(); ++i)
        add(world, random_adapter(shape, shapes[i], seed * 100 + i));
      const std::vector<Job> jobs = random_jobs(shape, world.adapters.size(), random);
      const std::vector<std::vector<float>> found = together(world, jobs, random);
      for (size_t i = 0; i < jobs.size(); ++i)
        EXPECT_TRUE(same_bits(found[i], alone(world, jobs[i]))) << "request " << i;
    }
  }
}

/// Logits of some tokens after a request's last, alone.
std::vector<float> logits_of(const World& world, const Job& job, std::span<const int32_t> tokens) {
  const auto size = static_cast<uint32_t>(job.tokens.size());
  TestRequest request(*world.decoder, size, 1, 1, world.numbers(job.adapter));
  request.prefill(job.tokens, size);
  std::vector<float> logits(tokens.size());
  const ops::HeadTokens set{tokens, logits.data()};
  const uint32_t row = request.last_row();
  const model::HeadRequest asked{{&row, 1}, {&set, 1}, nullptr, world.numbers(job.adapter)};
  EXPECT_TRUE(world.decoder->head({&asked, 1}, request.workspace()).is_ok());
  return logits;
}

TEST(MixedAdapters, AHeadOfSomeTokensHasTheBitsOfTheWholeOne) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const TestShape shape = shape_of(random);
    const model::TestFolder folder;
    folder.write_model(shape, test_tensors(shape, tensor::DType::kF32, seed));
    const std::vector<TestAdapterShape> shapes = adapter_shapes(shape, random);
    std::vector<int32_t> kept;
    while (kept.size() < 5) kept.push_back(static_cast<int32_t>(random() % shape.vocab));
    const ComputeType type = kTypes[seed % std::size(kTypes)];
    World whole = open_world(folder, type, 1), cut = open_world(folder, type, 1, {}, kept);
    for (size_t i = 0; i < shapes.size(); ++i) {
      const TestAdapter adapter = random_adapter(shape, shapes[i], seed * 100 + i);
      add(whole, adapter);
      add(cut, adapter);
      EXPECT_EQ(cut.adapters.back()->summary().digest, whole.adapters.back()->summary().digest);
      EXPECT_LE(cut.adapters.back()->summary().bytes, whole.adapters.back()->summary().bytes);
    }
    for (const Job& job : random_jobs(shape, whole.adapters.size(), random)) {
      EXPECT_TRUE(same_bits(logits_of(cut, job, kept), logits_of(whole, job, kept)));
    }
  }
}

TEST(MixedAdapters, ThreadsAndInstructionSetsOfOneClassChangeNoBit) {
  std::mt19937_64 random(31);
  const TestShape shape = shape_of(random);
  const model::TestFolder folder;
  folder.write_model(shape, test_tensors(shape, tensor::DType::kF32, 31));
  const std::vector<TestAdapterShape> shapes = adapter_shapes(shape, random);
  for (const device::NumericClass numbers : device::available_numeric_classes()) {
    const std::vector<InstructionSet> sets = device::available_instruction_sets(numbers);
    for (const ComputeType type : kTypes) {
      World first = open_world(folder, type, 1, sets.back());
      for (size_t i = 0; i < shapes.size(); ++i) add(first, random_adapter(shape, shapes[i], i));
      const std::vector<Job> jobs = random_jobs(shape, first.adapters.size(), random);
      for (const InstructionSet set : sets) {
        World other = open_world(folder, type, 3, set);
        for (size_t i = 0; i < shapes.size(); ++i) add(other, random_adapter(shape, shapes[i], i));
        for (const Job& job : jobs)
          EXPECT_TRUE(same_bits(alone(first, job), alone(other, job)))
              << device::instruction_set_name(set);
      }
    }
  }
}

TEST(MixedAdapters, AnAdapterComputesWhatTheModelWithItMergedInComputes) {
  const double tolerances[] = {2e-4, 0.12, 0.6};  // of types; random weights leave rounding no room
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const TestShape shape = shape_of(random);
    const model::TestTensors tensors = test_tensors(shape, tensor::DType::kF32, seed);
    TestAdapterShape adapter_shape = adapter_shapes(shape, random)[seed % 2];
    const TestAdapter adapter = random_adapter(shape, adapter_shape, seed);
    const model::TestFolder folder, merged_folder;
    folder.write_model(shape, tensors);
    merged_folder.write_model(shape, merged(shape, tensors, adapter, adapter_shape));
    for (size_t t = 0; t < std::size(kTypes); ++t) {
      World world = open_world(folder, kTypes[t], 2);
      add(world, adapter);
      const World whole = open_world(merged_folder, kTypes[t], 2);
      Job job = random_jobs(shape, 1, random)[0];
      const std::vector<float> expected = alone(whole, job);
      const std::vector<float> base = alone(world, job);
      job.adapter = 1;
      const std::vector<float> found = alone(world, job);
      double worst = 0, moved = 0;
      for (size_t i = 0; i < found.size(); ++i) {
        worst = std::max(worst, std::abs(static_cast<double>(found[i] - expected[i])));
        moved = std::max(moved, std::abs(static_cast<double>(base[i] - expected[i])));
      }
      EXPECT_LT(worst, tolerances[t]) << model::compute_type_name(kTypes[t]);
      EXPECT_GT(moved, 2 * worst) << "the adapter changes next to nothing";
    }
  }
}

}  // namespace mixed_test
}  // namespace tessera::lora
