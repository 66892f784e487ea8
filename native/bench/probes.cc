#include "probes.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "platform/cpu_features.h"

namespace tessera::bench {
namespace {

constexpr double kRunSeconds = 0.01;
constexpr uint64_t kLineBytes = 64;

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Amount a second at best: `work(times)` is run with as many times as make a run long enough.
double best_rate(double amount_of_one, int runs, const auto& work) {
  uint64_t times = 1;
  double seconds = seconds_of([&] { work(times); });
  while (seconds < kRunSeconds) {
    times *= seconds < kRunSeconds / 4 ? 4 : 2;
    seconds = seconds_of([&] { work(times); });
  }
  for (int i = 1; i < runs; ++i) seconds = std::min(seconds, seconds_of([&] { work(times); }));
  return amount_of_one * static_cast<double>(times) / seconds;
}

/// One word of each line is enough to fetch it. kStreams are read side by side, with kLineAhead
/// lines asked for ahead of each; 0: the processor alone looks ahead.
template <uint64_t kStreams, uint64_t kLineAhead>
uint64_t read_lines(const char* memory, uint64_t lines) {
  const uint64_t part = lines / kStreams;
  uint64_t sum = 0;
  for (uint64_t line = 0; line < part; ++line) {
    for (uint64_t stream = 0; stream < kStreams; ++stream) {
      const char* at = memory + (stream * part + line) * kLineBytes;
      if constexpr (kLineAhead > 0) __builtin_prefetch(at + kLineAhead * kLineBytes);
      sum += *reinterpret_cast<const uint64_t*>(at);
    }
  }
  return sum;
}

}  // namespace

std::vector<Probe> probes_here() {
  const platform::CpuFeatures features = platform::detect_cpu_features();
  std::vector<Probe> probes;
  if (features.avx2_fma) probes.insert(probes.end(), {kF32Avx2, kInt8Avx2});
  if (features.avx_vnni) probes.push_back(kInt8AvxVnni);
  if (features.avx512) probes.push_back(kF32Avx512);
  if (features.avx512_bf16) probes.push_back(kBf16Avx512);
  if (features.avx512_vnni) probes.push_back(kInt8Avx512);
  if (features.amx) probes.insert(probes.end(), {kBf16Amx, kInt8Amx, kScaledInt8Amx});
  return probes;
}

double multiply_add_rate(platform::ThreadPool& pool, const Probe& probe, int runs) {
  constexpr uint64_t kOperations = 4'000'000;  // of one time and thread, about
  const uint64_t rounds = kOperations / probe.operations;
  const uint32_t threads = pool.thread_count();
  return best_rate(static_cast<double>(rounds * probe.operations * threads), runs,
                   [&](uint64_t times) {
                     pool.parallel_for(threads, [&](uint64_t begin, uint64_t end) {
                       for (uint64_t i = begin; i < end; ++i) probe.run(rounds * times);
                     });
                   });
}

const char* type_name(device::PanelType type) {
  if (type == device::PanelType::kI8) return "INT8";
  return type == device::PanelType::kF32 ? "F32" : "BF16";
}

double multiply_add_roof(platform::ThreadPool& pool, device::PanelType type, int runs) {
  double most = 0;
  for (const Probe& probe : probes_here()) {
    const bool is_bf16 = std::strstr(probe.name, "bf16") != nullptr;
    if (probe.is_integer != (type == device::PanelType::kI8)) continue;
    if (is_bf16 && type == device::PanelType::kF32) continue;
    most = std::max(most, multiply_add_rate(pool, probe, runs));
  }
  return most;
}

double reading_rate(platform::ThreadPool& pool, const char* memory, uint64_t bytes, int runs) {
  volatile uint64_t sink = 0;
  // Which of them is the fastest differs between processors, and twice between some of them.
  double best = 0;
  for (const auto read :
       {read_lines<1, 0>, read_lines<2, 0>, read_lines<4, 0>, read_lines<8, 32>}) {
    const auto work = [&](uint64_t times) {
      pool.parallel_for(bytes / kLineBytes, [&](uint64_t begin, uint64_t end) {
        for (uint64_t i = 0; i < times; ++i) sink = read(memory + begin * kLineBytes, end - begin);
      });
    };
    best = std::max(best, best_rate(static_cast<double>(bytes), runs, work));
  }
  return best;
}

}  // namespace tessera::bench
