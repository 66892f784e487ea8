// Attention of the engine: the beams of a request over their shared prompt, and prefill as a share
// of the machine's multiply-add roof, in one run. 16 heads, 8 KV heads of 128. stdout: one JSON
// document {"results": [{"name", "value", "unit"}]}; stderr: progress. Flags: --quick, --threads N,
// --set NAME.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "attention/attention.h"
#include "base/check.h"
#include "device/backends.h"
#include "probes.h"

namespace tessera::bench {
namespace {

using attention::kBlockPositions;
using attention::RowGroup;
using tensor::DType;

constexpr uint32_t kHeads = 16, kKvHeads = 8, kHeadDim = 128, kLayers = 4, kSteps = 3;
constexpr uint32_t kQSize = kHeads * kHeadDim, kKvSize = kKvHeads * kHeadDim;
constexpr uint32_t kChunk = 512;  // rows of a pass of the prefill

struct Settings {
  uint32_t threads = 1;
  bool is_quick = false;
  std::optional<device::InstructionSet> set;  // the default when absent
};

void print(const std::string& name, double value, const char* unit) {
  static const char* separator = "";
  std::printf("%s\n  {\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"}", separator,
              name.c_str(), value, unit);
  separator = ",";
}

/// With one thread the processor time of this thread, which others on the machine disturb less.
double now(uint32_t threads) {
  timespec time{};
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(uint32_t threads, const auto& work) {
  const double start = now(threads);
  work();
  return now(threads) - start;
}

/// Best times of several works, taken in turns so that what disturbs one disturbs all.
std::vector<double> best_seconds(uint32_t threads, double budget_s,
                                 const std::vector<std::function<void()>>& works) {
  std::vector<double> best(works.size(), 1e30);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(budget_s);
  for (int round = 0; round < 3 || std::chrono::steady_clock::now() < end; ++round) {
    for (size_t i = 0; i < works.size(); ++i) {
      best[i] = std::min(best[i], seconds_of(threads, works[i]));
    }
  }
  return best;
}

/// Random and not zero, and BF16 values, so that both types compute the same.
std::vector<float> random_floats(uint64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = tensor::f32_of_bf16(tensor::bf16_of_f32(uniform(random)));
  return values;
}

/// The keys and values of one request in blocks, and the rows of its passes.
class Bench {
 public:
  Bench(device::Device& device, DType type, uint32_t prompt, uint32_t width)
      : device_(device),
        layout_{kLayers, kKvHeads, kHeadDim, type},
        prompt_(prompt),
        width_(width),
        rows_(std::max(width, std::min(prompt, kChunk))) {
    const uint32_t count = (prompt + kBlockPositions - 1) / kBlockPositions;
    blocks_memory_ = take(layout_.bytes() * count);
    for (uint32_t i = 0; i < count; ++i) {
      blocks_.push_back(blocks_memory_.as<char>() + i * layout_.bytes());
    }
    kv_ = {blocks_.data(), count, 0};
    const uint64_t slots = uint64_t{kLayers} * kSteps * width * kKvSize;
    beam_keys_ = take(slots * tensor::dtype_size(type));
    beam_values_ = take(slots * tensor::dtype_size(type));
    beam_ = {beam_keys_.data(), beam_values_.data(), kSteps * width};
    q_ = random_floats(uint64_t{rows_} * kQSize, 1);
    k_ = random_floats(uint64_t{rows_} * kKvSize, 2);
    v_ = random_floats(uint64_t{rows_} * kKvSize, 3);
    out_.resize(q_.size());
    std::mt19937 random(4);
    for (uint32_t i = 0; i < width * (kSteps - 1); ++i)
      ancestors_.push_back(i % (kSteps - 1) * width + static_cast<uint32_t>(random() % width));
    scratch_.emplace_back(attention::Scratch::allocate(device, kHeadDim).value());
  }

  void write_beams() {
    for (uint32_t step = 1; step <= kSteps; ++step) {
      const RowGroup group = beams(step);
      for (uint32_t i = 0; i < kLayers; ++i) write(layer(i), group);
    }
  }
  void prefill(bool attends) {
    for (uint32_t first = 0; first < prompt_; first += kChunk) {
      RowGroup group;
      group.prompt = &kv_;
      group.row_count = std::min(kChunk, prompt_ - first);
      group.first_position = first;
      for (uint32_t i = 0; i < kLayers; ++i) {
        write(layer(i), group);
        if (attends) attend(layer(i), group);
      }
    }
    kv_.length = prompt_;
  }
  void decode() {
    const RowGroup group = beams(kSteps);
    for (uint32_t i = 0; i < kLayers; ++i) attend(layer(i), group);
  }

 private:
  device::Buffer take(uint64_t bytes) { return std::move(device_.allocate(bytes)).value(); }
  attention::Layer layer(uint32_t i) const { return {i, kHeads, layout_}; }
  RowGroup beams(uint32_t step) const {
    RowGroup group;
    group.prompt = &kv_;
    group.row_count = width_;
    group.beam = &beam_;
    group.step = step;
    group.first_slot = (step - 1) * width_;
    group.ancestors = std::span(ancestors_).first(uint64_t{width_} * (step - 1));
    return group;
  }
  void write(const attention::Layer& layer, const RowGroup& group) {
    attention::write_kv(device_, layer, {&group, 1}, k_.data(), v_.data());
  }
  void attend(const attention::Layer& layer, const RowGroup& group) {
    attention::attend(device_, layer, {&group, 1}, q_.data(), out_.data(), scratch_[0]);
  }

  device::Device& device_;
  attention::BlockLayout layout_;
  uint32_t prompt_, width_, rows_;
  device::Buffer blocks_memory_, beam_keys_, beam_values_;
  std::vector<void*> blocks_;
  attention::PromptKv kv_;
  attention::BeamKv beam_;
  std::vector<float> q_, k_, v_, out_;
  std::vector<uint32_t> ancestors_;
  std::vector<attention::Scratch> scratch_;
};

void measure_decode(device::Device& device, const Settings& settings) {
  const double budget_s = settings.is_quick ? 0.05 : 0.5;
  for (const uint32_t prompt : {128u, 512u, 2048u}) {
    for (const uint32_t width : {32u, 64u, 256u}) {
      const std::string name = "attention/decode/" + std::to_string(prompt) + "x" +
                               std::to_string(width) + "/" + std::to_string(settings.threads) + "t";
      std::fprintf(stderr, "%s\n", name.c_str());
      Bench f32(device, DType::kF32, prompt, width), bf16(device, DType::kBf16, prompt, width);
      for (Bench* bench : {&f32, &bf16}) {
        bench->prefill(false);
        bench->write_beams();
      }
      const std::vector<double> seconds = best_seconds(
          settings.threads, budget_s, {[&] { f32.decode(); }, [&] { bf16.decode(); }});
      print(name + "/f32", seconds[0] / kLayers * 1e6, "us/layer");
      print(name + "/bf16", seconds[1] / kLayers * 1e6, "us/layer");
    }
  }
}

void measure_prefill(device::Device& device, const Settings& settings) {
  const double budget_s = settings.is_quick ? 0.1 : 1.0;
  for (const DType type : {DType::kF32, DType::kBf16}) {
    const std::string type_name(tensor::dtype_name(type));
    const auto panels = type == DType::kF32 ? device::PanelType::kF32 : device::PanelType::kBf16;
    const int runs = settings.is_quick ? 5 : 30;
    const double peak = multiply_add_roof(device.threads(), panels, runs) * 1e-9;
    print("attention/roof/" + type_name + "/" + std::to_string(settings.threads) + "t", peak,
          "GFLOP/s");
    for (const uint32_t prompt : {512u, 2048u}) {
      const std::string name = "attention/prefill/" + type_name + "/" + std::to_string(prompt) +
                               "/" + std::to_string(settings.threads) + "t";
      std::fprintf(stderr, "%s\n", name.c_str());
      Bench bench(device, type, prompt, 1);
      const std::vector<double> seconds =
          best_seconds(settings.threads, budget_s,
                       {[&] { bench.prefill(true); }, [&] { bench.prefill(false); }});
      const double pairs = 0.5 * prompt * (prompt + 1.0);  // of a row and a position that it sees
      const double rate = 4.0 * kQSize * pairs * kLayers / (seconds[0] - seconds[1]) * 1e-9;
      print(name + "/attend", rate, "GFLOP/s");
      print(name + "/attend/of_roof", peak > 0 ? rate / peak : 0, "ratio");
      print(name + "/write_kv", seconds[1] / kLayers / prompt * 1e9, "ns/row");
    }
  }
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  using namespace tessera;
  bench::Settings settings;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      settings.is_quick = true;
    } else if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
      settings.threads = static_cast<uint32_t>(std::atoi(argv[++i]));
    } else if (std::strcmp(argv[i], "--set") == 0 && i + 1 < argc) {
      const std::string name = argv[++i];
      for (const device::InstructionSet set : device::available_instruction_sets()) {
        if (device::instruction_set_name(set) == name) settings.set = set;
      }
    } else {
      std::fprintf(stderr, "usage: attention_bench [--quick] [--threads N] [--set NAME]\n");
      return 2;
    }
  }
  auto device =
      device::open_cpu_device({.thread_count = settings.threads, .instruction_set = settings.set});
  TESSERA_CHECK(device.is_ok());
  std::printf("{\"results\": [");
  bench::measure_decode(*device.value(), settings);
  bench::measure_prefill(*device.value(), settings);
  std::printf("\n]}\n");
  return 0;
}
