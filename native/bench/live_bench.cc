// Measures changes and eligibility on a large catalogue: steps under predicates and with pending or
// arriving changes, new predicates, the delay from change to visible, compaction, memory, and two
// alternatives: rebuilding the catalogue, and filtering after the search. Prints one JSON document
// like catalogue_bench, whose workload it shares. A search has four steps, one per level.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/check.h"
#include "beam/export.h"
#include "beam/select.h"
#include "catalogue/builder.h"
#include "catalogue/eligibility.h"
#include "catalogue/live_catalogue.h"
#include "catalogue_workload.h"
#include "live_workload.h"

namespace tessera {
namespace {

using catalogue::Change;
using catalogue::ChangeKind;
using catalogue::LiveCatalogue;
using catalogue::Reach;
using catalogue::View;

constexpr uint32_t kResults = 512;

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

class LiveBench {
 public:
  LiveBench(const Options& options, Report& report)
      : options_(options),
        report_(report),
        pool_(make_pool(options.repetitions, kLiveLevelSize)),
        folder_(std::filesystem::temp_directory_path() /
                ("tessera-live-bench-" + std::to_string(::getpid()))) {}
  ~LiveBench() { std::filesystem::remove_all(folder_); }

  void run() {
    open();
    predicates();
    changes_outstanding();
    changes_coming_in();
    visible();
    compaction();
    large_batch();
  }

 private:
  void add(const std::string& name, double value, const char* unit) {
    report_.add("live " + std::to_string(options_.items) + " SIDs: " + name, value, unit);
  }

  void open() {
    std::filesystem::create_directories(folder_);
    catalogue::CatalogueInput input = make_input(options_.items, kLiveLevelSize);
    for (uint32_t i = 0; i < options_.items; ++i) {
      char json[96];
      const uint32_t mixed = mix(i);
      const int size =
          std::snprintf(json, sizeof(json), R"({"decile":"%u","shard":"%u","bid":%u,"rank":%u})",
                        mixed % 10, mixed % 10000, mixed % 1000, mixed % 10000);
      input.attributes.add({json, static_cast<size_t>(size)});
    }
    const std::string path = folder_ / "seed";
    const Clock::time_point build = Clock::now();
    TESSERA_CHECK(catalogue::build_snapshot(input, path, {}).is_ok());
    add("building anew", seconds_since(build), "s");
    input = {};
    auto live = LiveCatalogue::open(catalogue::Snapshot::open(path).value(),
                                    {folder_ / "changes", catalogue::SyncPolicy::kNever, {}});
    TESSERA_CHECK(live.is_ok());
    live_ = std::move(live).value();
    const double items = options_.items;
    add("snapshot, per item", static_cast<double>(std::filesystem::file_size(path)) / items, "B");
    const Clock::time_point start = Clock::now();
    const double before = resident_bytes();
    live_->view()->eligibility_index().attributes();
    add("attribute index", seconds_since(start), "s");
    add("attribute index, per item", (resident_bytes() - before) / items, "B");
  }

  std::vector<beam::Finished> search(const Reach& reach, uint32_t width, uint32_t r) {
    return search_with(*scratch_, reach, width, r);
  }

  /// All levels of one search; the paths that finished.
  std::vector<beam::Finished> search_with(beam::Scratch& scratch, const Reach& reach,
                                          uint32_t width, uint32_t r) const {
    beam::Beams beams{{0.0f}, {catalogue::kRoot}, {0}};
    beam::Step step;
    std::vector<beam::Finished> finished;
    for (uint32_t level = 0; level < kLevels && !beams.nodes.empty(); ++level) {
      const std::span<const float> codes =
          std::span(pool_).subspan(size_t{kPoolStride} * r, beams.nodes.size() * kLiveLevelSize);
      beam::select(beams, {codes, kLiveLevelSize, {}, log_sum_exp_}, reach,
                   {width, 0, beam::ScoreNorm::kFull}, scratch, step);
      finished.insert(finished.end(), step.finished.begin(), step.finished.end());
      std::swap(beams, step.next);
    }
    return finished;
  }

  std::vector<double> times(const Reach& reach, uint32_t width) {
    std::vector<double> result;
    for (uint32_t r = 0; r < options_.repetitions; ++r) {
      const Clock::time_point start = Clock::now();
      search(reach, width, r);
      result.push_back(seconds_since(start) * 1e6);
    }
    return result;
  }

  void steps(const std::string& name, const Reach& reach) {
    for (const uint32_t width : {64u, 512u}) {
      add("step, width " + std::to_string(width) + ", " + name,
          median(times(reach, width)) / kLevels, "us");
    }
  }

  Reach reach(const catalogue::EligibilityRequest& request) {
    const auto view = live_->view();
    TESSERA_CHECK(check_eligibility(*view, request).is_ok());
    return Reach(view, compile_eligibility(*view, request));
  }

  double compile_ms(const catalogue::EligibilityRequest& request) {
    const Clock::time_point start = Clock::now();
    reach(request);
    return seconds_since(start) * 1e3;
  }

  void predicates() {
    steps("no predicate", Reach(live_->view()));
    for (const Named& named : kPredicates) {
      add(std::string("predicate not seen before, ") + named.name, compile_ms(named.make()), "ms");
      steps(std::string("predicate ") + named.name, reach(named.make()));
    }
    add("a predicate seen before", compile_ms(kPredicates[0].make()) * 1e3, "us");
    catalogue::EligibilityRequest seen;
    for (uint32_t i = 0; i < 1000; ++i) {
      seen.seen.push_back(std::to_string(mix(i) % options_.items));
    }
    compile_ms(seen);
    add("1,000 items seen already", compile_ms(seen), "ms");
    for (const Named& named : kPredicates) filter_afterwards(named.name, named.make());
  }

  /// Share of the paths that the exact search finds which a search without the predicate has.
  void filter_afterwards(const std::string& name, const catalogue::EligibilityRequest& request) {
    double wanted = 0;
    double found = 0;
    const Reach exact = reach(request);
    for (uint32_t r = 0; r < options_.repetitions; ++r) {
      std::vector<catalogue::NodeIndex> all;
      for (const auto& path : search(Reach(live_->view()), kResults, r)) all.push_back(path.node);
      std::sort(all.begin(), all.end());
      for (const auto& path : search(exact, kResults, r)) {
        wanted += 1;
        found += std::binary_search(all.begin(), all.end(), path.node) ? 1 : 0;
      }
    }
    add("filtering afterwards keeps, " + name, wanted > 0 ? 100 * found / wanted : 0, "%");
  }

  void apply(uint32_t count) {
    const std::vector<Change> changes = make_changes(options_.items, applied_, count);
    applied_ += count;
    TESSERA_CHECK(live_->apply(catalogue::given(changes)).is_ok());
  }

  void changes_outstanding() {
    const double before = resident_bytes();
    for (const uint32_t outstanding : {1000u, 10000u}) {
      while (applied_ < outstanding) apply(1000);
      const std::string name = std::to_string(outstanding) + " outstanding";
      steps(name, Reach(live_->view()));
      add("predicate 10 %, text on a new version, " + name, compile_ms(kPredicates[0].make()),
          "ms");
      steps("predicate 10 %, text, " + name, reach(kPredicates[0].make()));
    }
    add("memory per change", (resident_bytes() - before) / applied_, "B");
  }

  /// A writer at a steady rate, a hundred batches a second, beside the searches.
  template <typename Body>
  void beside_changes(uint32_t per_second, const Body& body) {
    std::atomic<bool> stop{false};
    std::thread writer([&] {
      Clock::time_point next = Clock::now();
      while (!stop) {
        apply(per_second / 100);
        next += std::chrono::milliseconds(10);
        std::this_thread::sleep_until(next);
      }
    });
    body();
    stop = true;
    writer.join();
  }

  /// The newest version, once it is another than `last`.
  std::shared_ptr<const View> next_version(uint64_t last) const {
    for (;;) {
      std::shared_ptr<const View> view = live_->view();
      if (view->sequence() != last) return view;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

  /// Searches, each of a version of its own, and how long compiling its eligibility took before.
  void newest(const std::string& name, const catalogue::EligibilityRequest& request) {
    for (const uint32_t width : {64u, 512u}) {
      std::vector<double> searches;
      std::vector<double> compilations;
      uint64_t last = 0;
      for (uint32_t r = 0; r < options_.repetitions; ++r) {
        const std::shared_ptr<const View> view = next_version(last);
        last = view->sequence();
        const Clock::time_point start = Clock::now();
        const Reach reached(view, compile_eligibility(*view, request));
        compilations.push_back(seconds_since(start) * 1e3);
        const Clock::time_point search_start = Clock::now();
        search(reached, width, r);
        searches.push_back(seconds_since(search_start) * 1e6);
      }
      add("step, width " + std::to_string(width) + ", " + name, median(searches) / kLevels, "us");
      if (width == 64 && (request.predicate || request.has_lists())) {
        add("to a new version, " + name + ", median", median(compilations), "ms");
        add("to a new version, " + name + ", worst", percentile(compilations, 1), "ms");
      }
    }
  }

  void changes_coming_in() {
    for (const uint32_t rate : {1000u, 10000u}) {
      // So that what is outstanding is what has come in since.
      TESSERA_CHECK(live_->compact({}).is_ok());
      beside_changes(rate, [&] {
        const std::string name = std::to_string(rate) + "/s";
        newest("no predicate, " + name, {});
        for (const Named& named : {kPredicates[0], kPredicates[1]}) {
          newest(std::string("predicate ") + named.name + ", " + name, named.make());
        }
      });
    }
  }

  void visible() {
    changes_one_by_one("change to visible, alone");
    std::atomic<bool> stop{false};
    std::thread searcher([&] {
      const auto scratch = beam::make_scratch();
      for (uint32_t r = 0; !stop; r = (r + 1) % options_.repetitions) {
        search_with(*scratch, Reach(live_->view()), kResults, r);
      }
    });
    changes_one_by_one("change to visible, beside searches without a pause");
    stop = true;
    searcher.join();
    const Clock::time_point start = Clock::now();
    for (uint32_t i = 0; i < 20; ++i) apply(1000);
    add("changes in batches of 1,000", 20000 / seconds_since(start), "changes/s");
  }

  void large_batch() {
    const uint32_t large = std::min(options_.items / 10, catalogue::kBatchChangesMax);
    const Clock::time_point start = Clock::now();
    apply(large);
    add("changes in a batch of " + std::to_string(large), large / seconds_since(start),
        "changes/s");
  }

  void changes_one_by_one(const std::string& name) {
    std::vector<double> all;
    for (uint32_t i = 0; i < 1000; ++i) {
      const std::vector<Change> changes = make_changes(options_.items, applied_++, 1);
      const Clock::time_point start = Clock::now();
      TESSERA_CHECK(live_->apply(catalogue::given(changes)).is_ok());
      TESSERA_CHECK(live_->view()->sequence() > 0);
      all.push_back(seconds_since(start) * 1e6);
    }
    add(name + ", median", percentile(all, 0.5), "us");
    add(name + ", 99th percentile", percentile(all, 0.99), "us");
  }

  void compaction() {
    const std::vector<double> before = times(Reach(live_->view()), kResults);
    std::atomic<bool> stop{false};
    double seconds = 0;
    std::thread compactor([&] {
      const Clock::time_point start = Clock::now();
      TESSERA_CHECK(live_->compact({}).is_ok());
      seconds = seconds_since(start);
      stop = true;
    });
    std::vector<double> during;
    for (uint32_t r = 0; !stop; r = (r + 1) % options_.repetitions) {
      const Reach newest(live_->view());
      const Clock::time_point start = Clock::now();
      search(newest, kResults, r);
      during.push_back(seconds_since(start) * 1e6);
    }
    compactor.join();
    add("compaction", seconds, "s");
    for (const double share : {0.5, 0.99}) {
      const std::string name = share == 0.5 ? "median" : "99th percentile";
      add("search, width 512, before compaction, " + name, percentile(before, share), "us");
      add("search, width 512, during compaction, " + name, percentile(during, share), "us");
    }
  }

  const Options options_;
  Report& report_;
  const std::vector<float> pool_;
  const std::filesystem::path folder_;
  const std::vector<float> log_sum_exp_ = std::vector<float>(kResults, kNorm);
  std::unique_ptr<LiveCatalogue> live_;
  std::unique_ptr<beam::Scratch, beam::ScratchDeleter> scratch_ = beam::make_scratch();
  uint32_t applied_ = 0;
};

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
      std::fprintf(stderr, "usage: live_bench [--quick] [--items N]\n");
      return 2;
    }
  }
  if (options.items < 1000 || options.items > 50'000'000) {
    std::fprintf(stderr, "live_bench: --items: expected 1000 to 50000000\n");
    return 2;
  }
  tessera::Report report;
  tessera::LiveBench(options, report).run();
  report.print();
  return 0;
}
