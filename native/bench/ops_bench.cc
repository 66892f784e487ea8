// Matrix products of the engine per instruction set and type, beside the machine's multiply-add
// roof, in one run. stdout: one JSON document {"results": [{"name", "value", "unit"}]}; stderr:
// progress. Flag: --quick.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "base/check.h"
#include "device/backends.h"
#include "fma_probe.h"
#include "ops/gemm.h"

namespace tessera::bench {
namespace {

using device::InstructionSet;
using tensor::DType;

struct Line {
  std::string name;
  double value;
  const char* unit;
};

struct Shape {
  const char* name;
  uint64_t m, n, k;
};
// One row, the beams of a step, a chunk of a prefill, on a 0.6B decoder's projections; and a small
// model.
constexpr Shape kShapes[] = {{"1x3072x1024", 1, 3072, 1024},
                             {"64x3072x1024", 64, 3072, 1024},
                             {"64x1024x3072", 64, 1024, 3072},
                             {"512x1024x1024", 512, 1024, 1024},
                             {"512x256x256", 512, 256, 256}};

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

/// The best of several runs: what the code can do when the machine is left alone.
double best_seconds(int runs, uint32_t threads, const auto& work) {
  double best = seconds_of(threads, work);
  for (int i = 1; i < runs; ++i) best = std::min(best, seconds_of(threads, work));
  return best;
}

/// GFLOP/s of one thread, 0 where the set has no probe.
double roof(InstructionSet set, int runs) {
  constexpr uint64_t kRounds = 200'000;
  volatile float sink = 0;
  if (set == InstructionSet::kAvx2) {
    const double best = best_seconds(runs, 1, [&] { sink = fma_probe_avx2(kRounds); });
    return static_cast<double>(kRounds * kProbeFlopsAvx2) / best * 1e-9;
  }
  if (set == InstructionSet::kAvx512) {
    const double best = best_seconds(runs, 1, [&] { sink = fma_probe_avx512(kRounds); });
    return static_cast<double>(kRounds * kProbeFlopsAvx512) / best * 1e-9;
  }
  return 0;
}

/// Random and not zero: products of zeros run faster than real ones.
std::vector<float> random_floats(uint64_t count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = tensor::f32_of_bf16(tensor::bf16_of_f32(uniform(random)));
  return values;
}

double gemm_rate(device::Device& device, const Shape& s, DType type, int runs) {
  const uint32_t threads = device.threads().thread_count();
  const std::vector<float> x = random_floats(s.m * s.k), w = random_floats(s.n * s.k);
  std::vector<uint16_t> halves;
  for (const float value : w) halves.push_back(tensor::bf16_of_f32(value));
  const void* data = type == DType::kBf16 ? static_cast<const void*>(halves.data()) : w.data();
  std::vector<float> y(s.m * s.n);
  const double best = best_seconds(runs, threads, [&] {
    ops::gemm(device, x.data(), s.m, {data, type, 2, {s.n, s.k}}, y.data(), s.n);
  });
  return 2e-9 * static_cast<double>(s.m * s.n * s.k) / best;
}

void measure(InstructionSet set, uint32_t threads, bool quick, std::vector<Line>& lines) {
  auto opened = device::open_cpu_device({.thread_count = threads, .instruction_set = set});
  TESSERA_CHECK(opened.is_ok());
  const int runs = set == InstructionSet::kPortable ? 2 : quick ? 20 : 100;
  const std::string prefix = std::string(device::instruction_set_name(set)) + "/";
  const double peak = roof(set, quick ? 50 : 200) * threads;
  if (peak > 0) {
    lines.push_back({prefix + "roof/" + std::to_string(threads) + "t", peak, "GFLOP/s"});
  }
  for (const Shape& shape : kShapes) {
    for (const DType type : {DType::kF32, DType::kBf16}) {
      if (quick && set == InstructionSet::kPortable && shape.m > 64) continue;
      const std::string name = prefix + "gemm/" + std::string(tensor::dtype_name(type)) + "/" +
                               shape.name + "/" + std::to_string(threads) + "t";
      std::fprintf(stderr, "%s\n", name.c_str());
      const double rate = gemm_rate(*opened.value(), shape, type, runs);
      lines.push_back({name, rate, "GFLOP/s"});
      if (peak > 0) lines.push_back({name + "/of_roof", rate / peak, "ratio"});
    }
  }
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  using namespace tessera;
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  if (argc > (quick ? 2 : 1)) {
    std::fprintf(stderr, "usage: ops_bench [--quick]\n");
    return 2;
  }
  std::vector<bench::Line> lines;
  for (const device::InstructionSet set : device::available_instruction_sets()) {
    for (const uint32_t threads : {1u, 2u}) bench::measure(set, threads, quick, lines);
  }
  std::printf("{\"results\": [");
  for (size_t i = 0; i < lines.size(); ++i) {
    std::printf("%s\n  {\"name\": \"%s\", \"value\": %.4g, \"unit\": \"%s\"}", i > 0 ? "," : "",
                lines[i].name.c_str(), lines[i].value, lines[i].unit);
  }
  std::printf("\n]}\n");
  return 0;
}
