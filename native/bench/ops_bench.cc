// Matrix products of the engine beside the machine's own ceilings, in one run: multiply-adds on
// registers, bytes read from memory, and products of the decoders' shapes with weights in the cache
// ("hot") and streamed from memory ("cold", as a model of many layers sees them). A product's share
// is of its floor: computing it at the first ceiling or reading its weights (cold: at the second
// ceiling; hot: at the rate at which weights of this size are read again), whichever takes longer;
// ceilings and product are measured by turns, and the share is the median of the turns.
// stdout: one JSON document {"results": [{"name", "value", "unit"}]}; stderr: progress. Flags:
// --quick (cold only), --set NAME (all that the machine has, when absent), --type NAME, --rows N,
// --threads N.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "device/cpu/cpu_device.h"
#include "kernel_sets.h"
#include "ops/matmul.h"
#include "ops/quantise.h"
#include "probes.h"

namespace tessera::bench {
namespace {

using device::PanelType;

constexpr double kSecondsPerCell = 0.4, kQuickSecondsPerCell = 0.05;

struct Settings {
  bool is_quick = false;
  uint32_t threads = 2;
  std::string set, type;  // all when empty
  uint64_t rows = 0;      // all when 0

  double budget() const { return is_quick ? kQuickSecondsPerCell : kSecondsPerCell; }
};

struct Shape {
  uint64_t k, n;
};
// Projections of a 0.6B and of a 1.7B decoder, and of one with 8 layers of 512.
constexpr Shape kShapes[] = {{1024, 3072}, {2048, 6144}, {3072, 1024}, {512, 1536}};
constexpr uint64_t kRows[] = {1, 4, 8, 32, 64, 128, 256, 512};
constexpr uint64_t kQuickRows[] = {1, 64, 512};
constexpr uint64_t kColdBytes = uint64_t{384} << 20;    // several times any cache
constexpr uint64_t kHotReadBytes = uint64_t{12} << 20;  // at most: more is not in a cache
constexpr int kRounds = 5;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void print(const std::string& name, double value, const char* unit) {
  static const char* separator = "";
  std::printf("%s\n  {\"name\": \"%s\", \"value\": %.4g, \"unit\": \"%s\"}", separator,
              name.c_str(), value, unit);
  separator = ",";
}

/// Seconds of the shortest of the runs that fit into the budget, one at least.
double best_seconds(double budget, const auto& work) {
  double best = 0;
  const double end = now() + budget;
  do {
    const double start = now();
    work();
    const double seconds = now() - start;
    best = best == 0 ? seconds : std::min(best, seconds);
  } while (now() < end);
  return best;
}

/// Random and not zero: products of zeros run faster than real ones.
std::vector<float> random_floats(uint64_t count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(random);
  return values;
}

std::vector<uint64_t> rows_of(const Settings& settings) {
  if (settings.rows > 0) return {settings.rows};
  if (settings.is_quick) return {std::begin(kQuickRows), std::end(kQuickRows)};
  return {std::begin(kRows), std::end(kRows)};
}

class Cell {
 public:
  Cell(device::Device& device, PanelType type, Shape shape, device::Buffer& memory)
      : device_(device), type_(type), shape_(shape), memory_(memory) {
    bytes_ = ops::packed_bytes(type, shape.k, shape.n);
    copies_ = memory.size() / bytes_;
    if (type == PanelType::kI8) scale_count_ = ops::scale_count(shape.k, shape.n);
    scales_.resize(copies_ * scale_count_);
    const std::vector<float> w = random_floats(shape.n * shape.k);
    const auto write = type == PanelType::kI8 ? ops::quantise : ops::pack;
    write(device, {w.data(), tensor::DType::kF32, 2, {shape.n, shape.k}}, weights(0));
    for (uint64_t i = 1; i < copies_; ++i) {
      std::memcpy(memory.as<char>() + i * bytes_, memory.data(), bytes_);
      std::copy_n(scales_.begin(), scale_count_, scales_.begin() + i * scale_count_);
    }
  }

  uint64_t bytes() const { return bytes_; }

  void run(uint64_t rows, const Settings& settings, const std::string& name, const Probe& probe) {
    const std::vector<float> x = random_floats(rows * shape_.k);
    std::vector<float> y(rows * shape_.n);
    const uint64_t bytes = ops::operand_bytes(device_, type_, rows, shape_.k);
    device::Buffer operand_memory = std::move(device_.allocate(bytes)).value();
    std::vector<float> row_scales(rows * device::panel_scales(type_, shape_.k));
    const ops::Operand operand{type_, operand_memory.data(), row_scales.data(), rows, shape_.k};
    ops::write_operand(device_, x.data(), shape_.k, operand);
    const double flops = 2.0 * static_cast<double>(rows * shape_.k * shape_.n);
    for (const bool is_cold : {false, true}) {
      if (settings.is_quick && !is_cold) continue;
      double best = 0;
      std::vector<double> shares;
      // Ceilings and product take turns: the clock of a shared machine moves, and so does its load.
      for (int round = 0; round < kRounds; ++round) {
        const double floor = floor_seconds(flops, probe, is_cold);
        const double seconds = best_seconds(settings.budget() / kRounds, [&] {
          if (is_cold) next_ = (next_ + 1) % copies_;
          const ops::PackedMatrix w = weights(next_);
          const ops::Target target{.w = &w, .y = y.data(), .y_stride = shape_.n};
          ops::matmul(device_, operand, {&target, 1});
        });
        shares.push_back(floor / seconds);
        best = std::max(best, flops / seconds);
      }
      std::sort(shares.begin(), shares.end());
      const std::string cell = name + (is_cold ? "/cold" : "/hot");
      print(cell, best * 1e-9, "GFLOP/s");
      print(cell + "/of_floor", shares[kRounds / 2], "ratio");
    }
  }

 private:
  double floor_seconds(double flops, const Probe& probe, bool is_cold) {
    platform::ThreadPool& pool = device_.threads();
    const uint64_t bytes = is_cold ? memory_.size() : std::min(bytes_, kHotReadBytes);
    const double reading = reading_rate(pool, memory_.as<char>(), bytes, 1);
    const uint64_t read = bytes_ + scale_count_ * sizeof(float);
    return std::max(flops / multiply_add_rate(pool, probe, 1), static_cast<double>(read) / reading);
  }

  ops::PackedMatrix weights(uint64_t copy) {
    return {type_,    memory_.as<char>() + copy * bytes_,   shape_.k,
            shape_.n, device::panel_bytes(type_, shape_.k), scales_.data() + copy * scale_count_};
  }

  device::Device& device_;
  PanelType type_;
  Shape shape_;
  device::Buffer& memory_;
  uint64_t bytes_ = 0, copies_ = 0;
  uint64_t next_ = 0;  // goes on from cell to cell: the copy that was read longest ago is cold
  uint64_t scale_count_ = 0;   // of a copy
  std::vector<float> scales_;  // [copies]
};

/// Products of one type by one set's kernels.
void measure_type(device::Device& device, const KernelSet& set, PanelType type,
                  const Settings& settings, device::Buffer& memory) {
  const std::string suffix = "/" + std::to_string(settings.threads) + "t";
  for (const Shape& shape : kShapes) {
    if (settings.is_quick && (shape.k == 2048 || shape.k == 512)) continue;
    Cell cell(device, type, shape, memory);
    for (const uint64_t rows : rows_of(settings)) {
      const std::string dimensions =
          std::to_string(rows) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k);
      const std::string name =
          std::string("product/") + type_name(type) + "/" + dimensions + suffix;
      const std::string whole = std::string(set.name) + "/" + name;
      std::fprintf(stderr, "%s\n", whole.c_str());
      cell.run(rows, settings, whole, *set.ceiling(type));
    }
  }
}

void measure_all(const Settings& settings) {
  for (const KernelSet& set : kernel_sets_here()) {
    if (!settings.set.empty() && settings.set != set.name) continue;
    device::cpu::CpuDevice device(set.kernels, {settings.threads});
    device::Buffer memory = std::move(device.allocate(kColdBytes)).value();
    std::memset(memory.data(), 1, memory.size());
    for (const PanelType type : {PanelType::kF32, PanelType::kBf16, PanelType::kI8}) {
      if (!set.ceiling(type) || (!settings.type.empty() && settings.type != type_name(type)))
        continue;
      measure_type(device, set, type, settings, memory);
    }
  }
}

std::optional<Settings> read_flags(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      settings.is_quick = true;
    } else if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
      settings.threads = static_cast<uint32_t>(std::clamp(std::atoi(argv[++i]), 1, 256));
    } else if (std::strcmp(argv[i], "--set") == 0 && i + 1 < argc) {
      settings.set = argv[++i];
    } else if (std::strcmp(argv[i], "--type") == 0 && i + 1 < argc) {
      settings.type = argv[++i];
    } else if (std::strcmp(argv[i], "--rows") == 0 && i + 1 < argc) {
      settings.rows = static_cast<uint64_t>(std::clamp(std::atoi(argv[++i]), 1, 4096));
    } else {
      return std::nullopt;
    }
  }
  return settings;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  const auto settings = tessera::bench::read_flags(argc, argv);
  if (!settings) {
    std::fprintf(stderr,
                 "usage: ops_bench [--quick] [--threads N] [--set NAME] [--type NAME] "
                 "[--rows N]\n");
    return 2;
  }
  std::printf("{\"results\": [");
  tessera::bench::measure_all(*settings);
  std::printf("\n]}\n");
  return 0;
}
