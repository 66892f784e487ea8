// The limits of this machine: multiply-adds on registers and bytes read from memory, all
// threads at once. stdout: one JSON document {"results": [{"name", "value", "unit"}]}.
// Flags: --quick, --threads N.
#include <algorithm>
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

void print(const char* name, double value, const char* unit) {
  static const char* separator = "";
  std::printf("%s\n{\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"}", separator, name, value,
              unit);
  separator = ",";
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
    print(probe.name, multiply_add_rate(pool, probe, settings.runs),
          probe.is_integer ? "OP/s" : "FLOP/s");
  }
  const std::vector<char> memory(kMemoryBytes, 1);
  print("memory read", reading_rate(pool, memory.data(), kMemoryBytes, settings.runs), "B/s");
  print("cache read", reading_rate(pool, memory.data(), kCacheBytes, settings.runs), "B/s");
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  std::printf("{\"results\": [");
  tessera::bench::measure(tessera::bench::read_flags(argc, argv));
  std::printf("\n]}\n");
}
