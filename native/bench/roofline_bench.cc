// What this machine can do at most: multiply-adds on registers and bytes read from memory, all
// threads at once. stdout: one JSON document {"results": [{"name", "value", "unit"}]}.
// Flags: --quick, --threads N.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "platform/thread_pool.h"
#include "probes.h"

namespace tessera::bench {
namespace {

constexpr uint64_t kMemoryBytes = uint64_t{512} << 20;  // several times any cache
constexpr uint64_t kCacheBytes = uint64_t{4} << 20;     // beyond the second level, within the third

struct Settings {
  uint32_t threads = 1;
  int runs = 30;
};

/// The best of several runs, seconds: what the machine can do when it is left alone.
double best_seconds(int runs, const auto& work) {
  double best = 1e30;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count());
  }
  return best;
}

void print(const char* name, double value, const char* unit) {
  static const char* separator = "";
  std::printf("%s\n{\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"}", separator, name, value,
              unit);
  separator = ",";
}

/// Operations a second of all threads together.
double rate(platform::ThreadPool& pool, int runs, const Probe& probe) {
  constexpr uint64_t kOperations = 200'000'000;  // of one run and thread, about
  const uint64_t rounds = kOperations / probe.operations;
  volatile float sink = 0;
  const double seconds = best_seconds(runs, [&] {
    pool.parallel_for(pool.thread_count(), [&](uint64_t, uint64_t) { sink = probe.run(rounds); });
  });
  return static_cast<double>(rounds * probe.operations * pool.thread_count()) / seconds;
}

/// A sum over words on four chains: the loads are the bottleneck.
uint64_t read_words(const uint64_t* words, uint64_t count) {
  uint64_t sums[4] = {};
  for (uint64_t i = 0; i + 32 <= count; i += 32) {
#pragma GCC unroll 8
    for (uint64_t j = 0; j < 32; j += 4) {
#pragma GCC unroll 4
      for (uint64_t k = 0; k < 4; ++k) sums[k] += words[i + j + k];
    }
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
}

/// Bytes a second that all threads together read from `bytes` of memory, each its own part.
double bandwidth(platform::ThreadPool& pool, int runs, uint64_t bytes) {
  std::vector<uint64_t> words(bytes / sizeof(uint64_t));
  pool.parallel_for(words.size(), [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) words[i] = i;
  });
  const uint64_t passes = std::max<uint64_t>(1, (uint64_t{64} << 20) / bytes);
  volatile uint64_t sink = 0;
  const double seconds = best_seconds(runs, [&] {
    pool.parallel_for(words.size(), [&](uint64_t begin, uint64_t end) {
      for (uint64_t pass = 0; pass < passes; ++pass) {
        sink = read_words(words.data() + begin, end - begin);
      }
    });
  });
  return static_cast<double>(bytes * passes) / seconds;
}

Settings read_flags(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) settings.runs = 8;
    if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
      const int threads = std::atoi(argv[++i]);
      const int most = platform::ThreadPool::kMaxThreads;
      settings.threads = static_cast<uint32_t>(std::clamp(threads, 1, most));
    }
  }
  return settings;
}

void measure(const Settings& settings) {
  platform::ThreadPool pool(settings.threads);
  for (const Probe& probe : probes_here()) {
    const char* unit = probe.numbers == device::PanelType::kI8 ? "OP/s" : "FLOP/s";
    print(probe.name, rate(pool, settings.runs, probe), unit);
  }
  print("memory read", bandwidth(pool, settings.runs, kMemoryBytes), "B/s");
  print("cache read", bandwidth(pool, settings.runs, kCacheBytes), "B/s");
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  std::printf("{\"results\": [");
  tessera::bench::measure(tessera::bench::read_flags(argc, argv));
  std::printf("\n]}\n");
}
