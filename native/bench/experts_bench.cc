// A layer of experts with random weights that come from memory and given choices: its time
// from the rows to what the experts add to them (without router and norm), as a share of reading
// the weights of the experts that are chosen, and of computing, at the ceilings of the same run;
// places of the operand over rows; the share of the products' time in which threads have nothing to
// do; and a gated block without experts that is as large as those that a row chooses.
// stdout: one JSON document {"results": [{"name", "value", "unit"}]}; stderr: progress.
// With --turns SECONDS, as the programs of bench/peers that it takes turns with: {"ready": true},
// then for each line {"rows": N} of the standard input a document of the times alone, at least so
// many seconds each.
// Flags: --quick, --threads N, --set NAME, --rows N[,N ...], --shape HIDDEN,EXPERTS,CHOSEN,SIZE
// (that of Qwen3-30B-A3B when absent), --turns SECONDS.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "busy_threads.h"
#include "device/backends.h"
#include "device/cpu/cpu_device.h"
#include "experts_workload.h"
#include "ops/expert_product.h"
#include "ops/matmul.h"
#include "probes.h"

namespace tessera::bench {
namespace {

using device::PanelType;

constexpr int kRounds = 5;                              // at least
constexpr double kSeconds = 1.0, kQuickSeconds = 0.25;  // of a cell, at least
constexpr double kWarmSeconds = 0.5;                    // of a type, not counted
constexpr uint64_t kReadBytes = uint64_t{256} << 20;    // several times any cache

struct Settings {
  bool is_quick = false;
  uint32_t threads = 2;
  std::optional<device::InstructionSet> set;  // the default when absent
  std::vector<uint64_t> rows = {1, 16, 64, 576};
  ExpertsShape shape;
  double turn_seconds = 0;  // of a routing and type; none when 0
};

/// Results of one document, a comma between them.
class Results {
 public:
  ~Results() {
    std::printf("]}\n");
    std::fflush(stdout);
  }
  void add(const std::string& name, double value, const char* unit) {
    std::printf("%s{\"name\": \"%s\", \"value\": %.5g, \"unit\": \"%s\"}", separator_, name.c_str(),
                value, unit);
    separator_ = ", ";
  }

 private:
  const char* separator_ = "{\"results\": [";
};

double seconds_of(const auto& work) {
  const double begin = seconds_now();
  work();
  return seconds_now() - begin;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Rows of one layer after the other, and the memory that they go through.
class Cell {
 public:
  Cell(device::Device& device, const ExpertsWeights& weights, uint64_t rows)
      : weights_(weights),
        rows_(rows),
        sorted_(rows, shape().experts, shape().chosen),
        y_(rows * shape().hidden),
        inner_(rows * shape().chosen * shape().size) {
    std::mt19937 random(5);
    std::uniform_real_distribution<float> uniform(-1, 1);
    x_.resize(rows * shape().hidden);
    for (float& value : x_) value = uniform(random);
    row_block_ = device.kernels().panel(weights.type()).row_block;
    const uint64_t places =
        ops::ExpertRows::operand_rows(rows, shape().experts, shape().chosen, row_block_);
    const uint64_t sizes = std::max<uint64_t>(shape().size, shape().hidden);
    const uint64_t dense = shape().chosen * shape().size;
    const uint64_t bytes =
        std::max(ops::operand_bytes(device, weights.type(), places, sizes),
                 ops::operand_bytes(device, weights.type(), rows, std::max(dense, sizes)));
    operand_ = std::move(device.allocate(bytes)).value();
    scales_.resize(device::panel_scales(weights.type(), std::max(dense, sizes)) * places);
  }

  /// Chooses experts; other ones in the next draw.
  void draw(Routing routing) {
    draw_ += 1;
    draw_choices(shape(), routing, draw_, sorted_.choices(rows_));
    sorted_.sort(rows_, row_block_);
  }

  void run_experts(device::Device& device) {
    sorted_.sort(rows_, row_block_);
    write_rows(device);
    multiply_gated(device);
    write_gated(device);
    add_products(device);
  }
  ThreadTime run_noting(device::Device& device) {
    const uint32_t threads = device.threads().thread_count();
    write_rows(device);
    ThreadTime time = thread_time(threads, [&] { multiply_gated(device); });
    write_gated(device);
    time += thread_time(threads, [&] { add_products(device); });
    return time;
  }
  void run_dense(device::Device& device) {
    draw_ += 1;
    const ExpertsWeights::Dense dense = weights_.dense(draw_ % weights_.dense_count());
    ops::Operand operand = this->operand(rows_, shape().hidden);
    ops::write_operand(device, x_.data(), operand.k, operand);
    const ops::Target gated{
        .w = &dense.gate, .up = &dense.up, .y = inner_.data(), .y_stride = dense.gate.columns};
    ops::matmul(device, operand, {&gated, 1});
    operand = this->operand(rows_, dense.down.k);
    ops::write_operand(device, inner_.data(), operand.k, operand);
    const ops::Target output{
        .w = &dense.down, .y = y_.data(), .y_stride = shape().hidden, .adds_to_y = true};
    ops::matmul(device, operand, {&output, 1});
  }

  uint64_t bytes() const { return sorted_.groups().size() * weights_.expert_bytes(); }
  double operations() const {
    return 6.0 * static_cast<double>(sorted_.rows().size() * shape().hidden * shape().size);
  }
  double padding() const {
    return static_cast<double>(sorted_.places()) / static_cast<double>(sorted_.rows().size());
  }

 private:
  const ExpertsShape& shape() const { return weights_.shape(); }
  ExpertsWeights::Layer layer() const { return weights_.layer(draw_ % ExpertsWeights::kLayers); }
  ops::Operand operand(uint64_t rows, uint64_t k) {
    return {weights_.type(), operand_.data(), scales_.data(), rows, k};
  }
  void write_rows(device::Device& device) {
    ops::write_expert_rows(device, sorted_, x_.data(), false, {},
                           operand(sorted_.places(), shape().hidden));
  }
  void multiply_gated(device::Device& device) {
    ops::multiply_gated(device, sorted_, operand(sorted_.places(), shape().hidden),
                        {.gates = layer().gates, .ups = layer().ups, .y = inner_.data()});
  }
  void write_gated(device::Device& device) {
    ops::write_expert_rows(device, sorted_, inner_.data(), true, {},
                           operand(sorted_.places(), shape().size));
  }
  void add_products(device::Device& device) {
    ops::add_products(device, sorted_, operand(sorted_.places(), shape().size),
                      {.matrices = layer().downs, .y = y_.data()});
  }

  const ExpertsWeights& weights_;
  const uint64_t rows_;
  ops::ExpertRows sorted_;
  uint64_t row_block_ = 1;
  uint32_t draw_ = 0;
  std::vector<float> x_, y_, inner_;
  device::Buffer operand_;
  std::vector<float> scales_;
};

struct Machine {
  device::Device& device;
  device::Device& noting;  // the same, with products that note their times
  double seconds;          // of a cell
  double operations;       // a second at most
};

/// Ceiling, experts and dense block take turns: the clock of a shared machine moves.
void measure_routing(const Machine& machine, const ExpertsWeights& weights, Routing routing,
                     Cell& cell, const std::string& name, Results& results) {
  std::vector<double> experts, reading, computing, padding;
  ThreadTime threads;
  platform::ThreadPool& pool = machine.device.threads();
  const double end = seconds_now() + machine.seconds;
  for (int round = -1; round < kRounds || seconds_now() < end; ++round) {
    cell.draw(routing);
    const double bandwidth = reading_rate(pool, weights.memory().as<char>(), kReadBytes, 1);
    const double seconds = seconds_of([&] { cell.run_experts(machine.device); });
    if (round < 0) continue;  // the first is not counted
    experts.push_back(seconds);
    reading.push_back(static_cast<double>(cell.bytes()) / bandwidth / seconds);
    computing.push_back(cell.operations() / machine.operations / seconds);
    padding.push_back(cell.padding());
    cell.draw(routing);
    threads += cell.run_noting(machine.noting);
  }
  results.add(name, median(experts) * 1e6, "us");
  results.add(name + "/of_reading", median(reading), "ratio");
  results.add(name + "/of_computing", median(computing), "ratio");
  results.add(name + "/padding", median(padding), "ratio");
  results.add(name + "/idle", threads.idle_share(), "ratio");
}

void measure_dense(const Machine& machine, Cell& cell, const std::string& name, Results& results) {
  std::vector<double> dense;
  const double end = seconds_now() + machine.seconds;
  for (int round = -1; round < kRounds || seconds_now() < end; ++round) {
    const double seconds = seconds_of([&] { cell.run_dense(machine.device); });
    if (round >= 0) dense.push_back(seconds);
  }
  results.add(name, median(dense) * 1e6, "us");
}

/// A disk that is read and memory that is first touched are over before anything is timed.
void warm(const Machine& machine, Cell& cell) {
  const double end = seconds_now() + kWarmSeconds;
  for (int round = 0; round < kRounds || seconds_now() < end; ++round) {
    cell.draw(Routing::kUniform);
    cell.run_experts(machine.device);
  }
}

void measure_type(device::Device& device, PanelType type, const Settings& settings,
                  Results& results) {
  device::cpu::CpuDevice noting(noting_kernels(device.kernels(), type), {settings.threads});
  const Machine machine{device, noting, settings.is_quick ? kQuickSeconds : kSeconds,
                        multiply_add_roof(device.threads(), type, kRounds)};
  const ExpertsWeights weights(device, type, settings.shape);
  const std::string prefix = std::string("experts/") + type_name(type) + "/";
  Cell first(device, weights, settings.rows.front());
  warm(machine, first);
  for (const uint64_t rows : settings.rows) {
    const std::string suffix =
        "/" + std::to_string(rows) + "/" + std::to_string(settings.threads) + "t";
    std::fprintf(stderr, "%s%llu\n", prefix.c_str(), static_cast<unsigned long long>(rows));
    Cell cell(device, weights, rows);
    measure_routing(machine, weights, Routing::kUniform, cell, prefix + "uniform" + suffix,
                    results);
    measure_routing(machine, weights, Routing::kZipf, cell, prefix + "Zipf" + suffix, results);
    measure_dense(machine, cell, prefix + "dense" + suffix, results);
  }
}

/// The median time of experts alone; the first round is not counted.
double microseconds_of(device::Device& device, Cell& cell, Routing routing, double seconds) {
  std::vector<double> times;
  const double end = seconds_now() + seconds;
  for (int round = -1; times.empty() || seconds_now() < end; ++round) {
    cell.draw(routing);
    const double taken = seconds_of([&] { cell.run_experts(device); });
    if (round >= 0) times.push_back(taken);
  }
  return median(times) * 1e6;
}

void take_turns(device::Device& device, const Settings& settings) {
  const ExpertsWeights bf16(device, PanelType::kBf16, settings.shape);
  const ExpertsWeights int8(device, PanelType::kI8, settings.shape);
  std::printf("{\"ready\": true}\n");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    const size_t digits = line.find_first_of("0123456789");
    TESSERA_CHECK(digits != std::string::npos);
    const uint64_t rows = std::strtoull(line.c_str() + digits, nullptr, 10);
    Results results;
    for (const ExpertsWeights* weights : {&bf16, &int8}) {
      Cell cell(device, *weights, rows);
      const std::string prefix = std::string(type_name(weights->type())) + "/tessera/";
      const std::string suffix = "/" + std::to_string(rows);
      for (const auto& [routing, name] :
           {std::pair{Routing::kUniform, "uniform"}, std::pair{Routing::kZipf, "Zipf"}})
        results.add(prefix + name + suffix,
                    microseconds_of(device, cell, routing, settings.turn_seconds), "us");
    }
  }
}

void measure_all(const Settings& settings) {
  auto device =
      device::open_cpu_device({.thread_count = settings.threads, .instruction_set = settings.set});
  TESSERA_CHECK(device.is_ok());
  if (settings.turn_seconds > 0) return take_turns(*device.value(), settings);
  Results results;
  for (const PanelType type : {PanelType::kBf16, PanelType::kI8})
    measure_type(*device.value(), type, settings, results);
}

/// Positive numbers with commas between them; empty where there is anything else.
std::vector<uint64_t> read_numbers(const char* text) {
  std::vector<uint64_t> numbers;
  for (char* end = nullptr;; text = end + 1) {
    numbers.push_back(std::strtoull(text, &end, 10));
    if (end == text || numbers.back() == 0 || (*end != ',' && *end != 0)) return {};
    if (*end == 0) return numbers;
  }
}

std::optional<ExpertsShape> read_shape(const char* text) {
  const std::vector<uint64_t> sizes = read_numbers(text);
  if (sizes.size() != 4 || sizes[1] > ops::kExpertsMax || sizes[2] > sizes[1]) return std::nullopt;
  return ExpertsShape{sizes[0], static_cast<uint32_t>(sizes[1]), static_cast<uint32_t>(sizes[2]),
                      sizes[3]};
}

std::optional<Settings> read_flags(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      settings.is_quick = true;
    } else if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
      settings.threads = static_cast<uint32_t>(std::clamp(std::atoi(argv[++i]), 1, 256));
    } else if (std::strcmp(argv[i], "--shape") == 0 && i + 1 < argc) {
      const std::optional<ExpertsShape> shape = read_shape(argv[++i]);
      if (!shape) return std::nullopt;
      settings.shape = *shape;
    } else if (std::strcmp(argv[i], "--rows") == 0 && i + 1 < argc) {
      settings.rows = read_numbers(argv[++i]);
      if (settings.rows.empty()) return std::nullopt;
    } else if (std::strcmp(argv[i], "--turns") == 0 && i + 1 < argc) {
      settings.turn_seconds = std::atof(argv[++i]);
      if (!(settings.turn_seconds > 0)) return std::nullopt;
    } else if (std::strcmp(argv[i], "--set") == 0 && i + 1 < argc) {
      const std::string_view name = argv[++i];
      const auto sets = device::available_instruction_sets();
      const auto set = std::find_if(sets.begin(), sets.end(), [&](device::InstructionSet one) {
        return device::instruction_set_name(one) == name;
      });
      if (set == sets.end()) return std::nullopt;
      settings.set = *set;
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
                 "usage: experts_bench [--quick] [--threads N] [--set NAME] [--rows N[,N ...]] "
                 "[--shape HIDDEN,EXPERTS,CHOSEN,SIZE] [--turns SECONDS]\n");
    return 2;
  }
  tessera::bench::measure_all(*settings);
  return 0;
}
