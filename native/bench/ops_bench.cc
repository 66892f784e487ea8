// Matrix products of the engine beside the machine's own ceilings, in one run: multiply-adds on
// registers, bytes read from memory, and products of the decoders' shapes with weights in the cache
// ("hot") and streamed from memory ("cold", as a model of many layers sees them). A product's share
// is of its floor: computing it at the first ceiling or reading its weights (cold: at the second
// ceiling; hot: at the rate at which weights of this size are read again), whichever takes longer.
// stdout: one JSON document {"results": [{"name", "value", "unit"}]}; stderr: progress. Flags:
// --quick, --set NAME, --threads N.
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
#include "device/backends.h"
#include "onednn_column.h"
#include "ops/matmul.h"
#include "ops/quantise.h"
#include "probes.h"

namespace tessera::bench {
namespace {

using device::InstructionSet;
using device::PanelType;

struct Settings {
  bool is_quick = false;
  uint32_t threads = 2;
  std::optional<InstructionSet> set;  // the widest when absent
};

struct Shape {
  uint64_t k, n;
};
// Projections of a 0.6B and of a 1.7B decoder, and of one with 8 layers of 512.
constexpr Shape kShapes[] = {{1024, 3072}, {2048, 6144}, {3072, 1024}, {512, 1536}};
constexpr uint64_t kRows[] = {1, 4, 8, 32, 64, 128, 256, 512};
constexpr uint64_t kColdBytes = uint64_t{384} << 20;  // several times any cache
constexpr uint64_t kPieceBytes = uint64_t{12} << 20;
constexpr double kSecondsPerCell = 0.4, kQuickSecondsPerCell = 0.05;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void print(const std::string& name, double value, const char* unit) {
  static const char* separator = "";
  std::printf("%s\n  {\"name\": \"%s\", \"value\": %.4g, \"unit\": \"%s\"}", separator,
              name.c_str(), value, unit);
  separator = ",";
}

/// Best and median of repeated runs, seconds.
struct Times {
  double best = 0, median = 0;
};

Times measure(double budget, const auto& work) {
  std::vector<double> seconds;
  const double end = now() + budget;
  do {
    const double start = now();
    work(seconds.size());
    seconds.push_back(now() - start);
  } while (now() < end || seconds.size() < 3);
  std::sort(seconds.begin(), seconds.end());
  return {seconds.front(), seconds[seconds.size() / 2]};
}

/// Operations a second of all threads on registers or tiles; 0 where the set has no probe.
double multiply_add_peak(device::Device& device, const Probe* probe, double budget) {
  constexpr uint64_t kOperations = 40'000'000;  // of one run and thread, about
  if (probe == nullptr) return 0;
  const uint64_t rounds = kOperations / probe->operations;
  const uint32_t threads = device.threads().thread_count();
  volatile float sink = 0;
  const Times times = measure(budget, [&](size_t) {
    device.threads().parallel_for(threads, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) sink = probe->run(rounds);
    });
  });
  return static_cast<double>(rounds * probe->operations * threads) / times.best;
}

/// Bytes per second that all threads together read of the first `bytes` of memory: the best of many
/// pieces, so that what disturbs a run disturbs this and a product alike. A part that fits a cache
/// is read out of it.
double reading_peak(device::Device& device, const device::Buffer& memory, uint64_t bytes,
                    double budget) {
  const uint64_t piece_bytes = std::min(bytes, kPieceBytes);
  const uint64_t pieces = bytes / piece_bytes;
  volatile uint64_t sink = 0;
  const Times times = measure(budget, [&](size_t i) {
    const uint64_t* piece = memory.as<uint64_t>() + i % pieces * (piece_bytes / sizeof(uint64_t));
    device.threads().parallel_for(piece_bytes / 64, [&](uint64_t begin, uint64_t end) {
      uint64_t sum = 0;  // one word per line is enough to fetch it
      for (uint64_t line = begin; line < end; ++line) {
        __builtin_prefetch(piece + (line + 64) * 8);
        sum += piece[line * 8];
      }
      sink = sum;
    });
  });
  return static_cast<double>(piece_bytes) / times.best;
}

/// Random and not zero: products of zeros run faster than real ones.
std::vector<float> random_floats(uint64_t count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(random);
  return values;
}

const char* name_of(PanelType type) {
  if (type == PanelType::kI8) return "INT8";
  return type == PanelType::kF32 ? "F32" : "BF16";
}

/// A second: operations, bytes from memory, bytes of weights that were read just before.
struct Ceilings {
  double flops = 0, bytes = 0, hot_bytes = 0;
};

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
    for (uint64_t i = 0; i < copies_; ++i) {
      write(device, {w.data(), tensor::DType::kF32, 2, {shape.n, shape.k}}, weights(i));
    }
  }

  uint64_t bytes() const { return bytes_; }

  void run(uint64_t rows, double budget, const std::string& name, const Ceilings& ceilings) {
    const std::vector<float> x = random_floats(rows * shape_.k);
    std::vector<float> y(rows * shape_.n);
    const uint64_t bytes = ops::operand_bytes(device_, type_, rows, shape_.k);
    device::Buffer operand_memory = std::move(device_.allocate(bytes)).value();
    std::vector<float> row_scales(rows * device::panel_scales(type_, shape_.k));
    const ops::Operand operand{type_, operand_memory.data(), row_scales.data(), rows, shape_.k};
    ops::write_operand(device_, x.data(), shape_.k, operand);
    const double flops = 2.0 * static_cast<double>(rows * shape_.k * shape_.n);
    for (const bool is_cold : {false, true}) {
      const Times times = measure(budget, [&](size_t) {
        if (is_cold) next_ = (next_ + 1) % copies_;
        const ops::PackedMatrix w = weights(next_);
        const ops::Target target{.w = &w, .y = y.data(), .y_stride = shape_.n};
        ops::matmul(device_, operand, {&target, 1});
      });
      const std::string cell = name + (is_cold ? "/cold" : "/hot");
      print(cell, flops / times.best * 1e-9, "GFLOP/s");
      if (ceilings.flops == 0) continue;
      const uint64_t read = bytes_ + scale_count_ * sizeof(float);
      const double reading =
          static_cast<double>(read) / (is_cold ? ceilings.bytes : ceilings.hot_bytes);
      const double floor = std::max(flops / ceilings.flops, reading);
      print(cell + "/of_floor", floor / times.best, "ratio");
      print(cell + "/of_floor/median", floor / times.median, "ratio");
    }
  }

 private:
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

void measure_all(const Settings& settings) {
  auto opened =
      device::open_cpu_device({.thread_count = settings.threads, .instruction_set = settings.set});
  TESSERA_CHECK(opened.is_ok());
  device::Device& device = *opened.value();
  const InstructionSet set = settings.set.value_or(device::available_instruction_sets().back());
  const double budget = settings.is_quick ? kQuickSecondsPerCell : kSecondsPerCell;
  const std::vector<Probe> probes = probes_here();
  device::Buffer memory = std::move(device.allocate(kColdBytes)).value();
  std::memset(memory.data(), 1, memory.size());
  const std::string suffix = "/" + std::to_string(settings.threads) + "t";
  const std::string prefix = std::string(device::instruction_set_name(set)) + "/";
  Ceilings ceilings{0, reading_peak(device, memory, memory.size(), 5 * budget), 0};
  print("memory/read" + suffix, ceilings.bytes * 1e-9, "GB/s");
  for (const PanelType type : {PanelType::kF32, PanelType::kBf16, PanelType::kI8}) {
    for (const Shape& shape : kShapes) {
      Cell cell(device, type, shape, memory);
      ceilings.hot_bytes = reading_peak(device, memory, cell.bytes(), budget);
      for (const uint64_t rows : kRows) {
        if (settings.is_quick && (shape.k == 2048 || rows > 128)) continue;
        // Anew for every cell: the clock of a shared machine moves.
        ceilings.flops = multiply_add_peak(device, find_probe(probes, type, set), budget);
        const std::string dimensions =
            std::to_string(rows) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k);
        const std::string type_name = name_of(type);
        const std::string name = "product/" + type_name + "/" + dimensions + suffix;
        std::fprintf(stderr, "%s\n", name.c_str());
        cell.run(rows, budget, prefix + name, ceilings);
        if (type == PanelType::kI8) continue;
        const double onednn =
            onednn_flops(type == PanelType::kBf16, rows, shape.n, shape.k, budget);
        if (onednn > 0) print("onednn/" + name + "/hot", onednn * 1e-9, "GFLOP/s");
      }
    }
  }
  for (const PanelType type : {PanelType::kF32, PanelType::kBf16, PanelType::kI8}) {
    const double peak = multiply_add_peak(device, find_probe(probes, type, set), budget);
    if (peak > 0) print(prefix + "multiply-add/" + name_of(type) + suffix, peak * 1e-9, "GFLOP/s");
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
      const std::string name = argv[++i];
      for (const InstructionSet set : device::available_instruction_sets()) {
        if (device::instruction_set_name(set) == name) settings.set = set;
      }
      if (!settings.set) return std::nullopt;
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
    std::fprintf(stderr, "usage: ops_bench [--quick] [--threads N] [--set NAME]\n");
    return 2;
  }
  std::printf("{\"results\": [");
  tessera::bench::measure_all(*settings);
  std::printf("\n]}\n");
  return 0;
}
