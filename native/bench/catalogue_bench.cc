// The costs of catalogue and beam at size: build, open, constraint step, export. Prints one
// JSON document {"results": [{"name", "value", "unit"}, ...]} on stdout, progress on stderr.
//
// The workload can be repeated in any language with 32-bit integers:
//   mix(x)         x ^= x >> 16; x *= 0x7feb352d; x ^= x >> 15; x *= 0x846ca68b; x ^= x >> 16
//   item i         ID: decimal i; code of level l: mix(4 * i + l) & (level_size - 1), four levels
//   logit pool     pool[k] = (mix(0x9e3779b9 + k) >> 8) / 2^24 * 8 - 4, as 32-bit floats
//   repetition r   logit of code c for beam b: pool[997 * r + b * level_size + c], at every level
//   score          beam score + (logit - 10); beams start at the root with score 0
//   step           all children of all beams are candidates, the best `width` go on
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/check.h"
#include "beam/export.h"
#include "beam/select.h"
#include "catalogue/builder.h"
#include "catalogue/reach.h"
#include "catalogue_workload.h"
#include "platform/thread_pool.h"

namespace tessera {
namespace {

void bench_build(const Options& options, uint32_t level_size, const std::string& path,
                 const std::string& prefix, Report& report) {
  const catalogue::CatalogueInput input = make_input(options.items, level_size);
  std::map<std::string, Clock::time_point> stage_starts;
  const Clock::time_point start = Clock::now();
  const auto built =
      catalogue::build_snapshot(input, path, [&](std::string_view stage, uint64_t, uint64_t) {
        if (stage_starts.emplace(stage, Clock::now()).second) {
          std::fprintf(stderr, "  %s...\n", std::string(stage).c_str());
        }
      });
  TESSERA_CHECK(built.is_ok());
  const double total = seconds_since(start);
  const double before_write =
      std::chrono::duration<double>(stage_starts.at("write") - start).count();
  report.add(prefix + "build", total, "s");
  report.add(prefix + "build without writing", before_write, "s");
  report.add(prefix + "file", static_cast<double>(built.value().file_bytes), "bytes");
  report.add(prefix + "file per item",
             static_cast<double>(built.value().file_bytes) / options.items, "bytes");
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  report.add(prefix + "peak memory", static_cast<double>(usage.ru_maxrss) * 1024, "bytes");
}

void bench_steps(const Options& options, const catalogue::Reach& reach, uint32_t width,
                 beam::ScoreNorm norm, const std::string& prefix, Report& report) {
  const uint32_t level_size = reach.view().level_size(0);
  const std::vector<float> pool = make_pool(options.repetitions, level_size);
  const std::vector<float> log_sum_exp(512, kNorm);
  const auto scratch = beam::make_scratch();
  std::vector<std::vector<double>> times(kLevels);
  beam::Beams beams;
  beam::Step step;
  for (uint32_t r = 0; r < options.repetitions; ++r) {
    beams.scores.assign(1, 0.0f);
    beams.nodes.assign(1, catalogue::kRoot);
    beams.ended.assign(1, 0);
    for (uint32_t level = 0; level < kLevels; ++level) {
      const std::span<const float> codes =
          std::span(pool).subspan(size_t{kPoolStride} * r, beams.nodes.size() * level_size);
      const Clock::time_point start = Clock::now();
      beam::select(beams, {codes, level_size, {}, log_sum_exp}, reach, {width, 0, norm}, *scratch,
                   step);
      times[level].push_back(seconds_since(start) * 1e6);
      std::swap(beams, step.next);
    }
  }
  double sum = 0;
  for (uint32_t level = 0; level < kLevels; ++level) {
    const double time = median(times[level]);
    sum += time;
    report.add(prefix + " level " + std::to_string(level), time, "us");
  }
  report.add(prefix + " all levels", sum, "us");
}

/// Paths that end all over the catalogue: no two near each other in memory.
void bench_export(const Options& options, const catalogue::Reach& reach, const std::string& prefix,
                  Report& report) {
  for (const uint32_t path_count : {64u, 512u, 4096u, 32768u}) {
    for (const uint32_t thread_count : {1u, 2u}) {
      platform::ThreadPool threads(thread_count);
      std::vector<double> times;
      for (uint32_t r = 0; r < options.repetitions; ++r) {
        std::vector<beam::Finished> finished;
        for (uint32_t p = 0; p < path_count; ++p) {
          const uint32_t item = mix(r * path_count + p) % options.items;
          finished.push_back(
              {-static_cast<float>(mix(p) >> 8) * 0x1p-20f, reach.view().node_of(item)});
        }
        const Clock::time_point start = Clock::now();
        const beam::Exported exported =
            beam::export_items(finished, reach, {path_count, 0}, threads);
        times.push_back(seconds_since(start) * 1e6 / path_count);
        TESSERA_CHECK(!exported.item_ordinals.empty());
      }
      report.add(prefix + "export " + std::to_string(path_count) + " paths, threads " +
                     std::to_string(thread_count),
                 median(times), "us/path");
    }
  }
}

void bench_level_size(const Options& options, uint32_t level_size, Report& report) {
  const std::string prefix = "catalogue " + std::to_string(options.items) + " SIDs of 4 x " +
                             std::to_string(level_size) + ": ";
  std::fprintf(stderr, "%s\n", prefix.c_str());
  const std::string path = std::filesystem::temp_directory_path() /
                           ("tessera-catalogue-bench-" + std::to_string(::getpid()));
  bench_build(options, level_size, path, prefix, report);
  const Clock::time_point start = Clock::now();
  const auto opened = catalogue::Snapshot::open(path);
  TESSERA_CHECK(opened.is_ok());
  report.add(prefix + "open", seconds_since(start), "s");
  std::filesystem::remove(path);
  const catalogue::Snapshot& snapshot = *opened.value();
  report.add(prefix + "nodes", static_cast<double>(snapshot.node_count()), "nodes");
  const catalogue::Reach reach(catalogue::View::of(opened.value()));
  for (const uint32_t width : kWidths) {
    bench_steps(options, reach, width, beam::ScoreNorm::kFull,
                prefix + "step, width " + std::to_string(width) + ",", report);
  }
  bench_steps(options, reach, 512, beam::ScoreNorm::kLevel, prefix + "step, width 512, level norm,",
              report);
  bench_export(options, reach, prefix, report);
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  tessera::Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      options.items = 1'000'000;
      options.repetitions = 15;
    } else if (std::strcmp(argv[i], "--items") == 0 && i + 1 < argc) {
      options.items = static_cast<uint32_t>(std::strtoul(argv[++i], nullptr, 10));
    } else {
      std::fprintf(stderr, "usage: catalogue_bench [--quick] [--items N]\n");
      return 2;
    }
  }
  if (options.items == 0 || options.items > 200'000'000) {
    std::fprintf(stderr, "catalogue_bench: --items: expected 1 to 200000000\n");
    return 2;
  }
  tessera::Report report;
  for (const uint32_t level_size : {256u, 4096u}) {
    tessera::bench_level_size(options, level_size, report);
  }
  report.print();
  return 0;
}
