// Common to the benches of the catalogue: the workload that catalogue_bench.cc describes, and the
// report.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "catalogue/input.h"

namespace tessera {

inline constexpr uint32_t kLevels = 4;
inline constexpr uint32_t kWidths[] = {64, 256, 512};
inline constexpr uint32_t kPoolStride = 997;
inline constexpr float kNorm = 10.0f;

inline uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

struct Options {
  uint32_t items = 10'000'000;
  uint32_t repetitions = 40;
};

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

inline double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1,
                         static_cast<size_t>(share * static_cast<double>(values.size())))];
}

class Report {
 public:
  void add(const std::string& name, double value, const char* unit) {
    std::fprintf(stderr, "  %-52s %14.3f %s\n", name.c_str(), value, unit);
    char text[256];
    std::snprintf(text, sizeof(text), "%s{\"name\":\"%s\",\"value\":%.6g,\"unit\":\"%s\"}",
                  results_.empty() ? "" : ",", name.c_str(), value, unit);
    results_ += text;
  }
  void print() const { std::printf("{\"results\":[%s]}\n", results_.c_str()); }

 private:
  std::string results_;
};

inline catalogue::CatalogueInput make_input(uint32_t items, uint32_t level_size) {
  catalogue::CatalogueInput input;
  input.level_sizes.assign(kLevels, level_size);
  input.codes.reserve(size_t{items} * kLevels);
  input.sid_ends.reserve(items);
  input.item_ids.ends.reserve(items);
  for (uint32_t i = 0; i < items; ++i) {
    for (uint32_t level = 0; level < kLevels; ++level) {
      input.codes.push_back(mix(kLevels * i + level) & (level_size - 1));
    }
    input.sid_ends.push_back(input.codes.size());
    char id[16];
    input.item_ids.add({id, static_cast<size_t>(std::snprintf(id, sizeof(id), "%u", i))});
  }
  return input;
}

inline std::vector<float> make_pool(uint32_t repetitions, uint32_t level_size) {
  std::vector<float> pool(size_t{kPoolStride} * repetitions + 512ull * level_size);
  for (size_t k = 0; k < pool.size(); ++k) {
    pool[k] = static_cast<float>(mix(0x9e3779b9u + static_cast<uint32_t>(k)) >> 8) * 0x1p-21f - 4;
  }
  return pool;
}

}  // namespace tessera
