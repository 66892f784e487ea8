// Measures a catalogue by value: the memory of one valuation, changes of bids beside recalls by
// value, a pace of a large campaign, a shock of bids. Prints one JSON document like
// catalogue_bench, whose workload it shares: recalls are beams of 64 by value over drawn logits.
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/check.h"
#include "beam/lazy_search.h"
#include "catalogue/builder.h"
#include "catalogue/eligibility.h"
#include "catalogue/live_catalogue.h"
#include "catalogue_workload.h"
#include "live_workload.h"

namespace tessera {
namespace {

using catalogue::Appraiser;
using catalogue::Change;
using catalogue::ChangeKind;
using catalogue::LiveCatalogue;
using catalogue::View;

constexpr uint32_t kWidth = 64;
constexpr uint32_t kResults = 10;
constexpr uint32_t kBatchesPerSecond = 100;
constexpr uint32_t kSecondsQuick = 3, kSeconds = 10;
constexpr uint32_t kInCampaign = 100'000;  // items of the campaign that is paced

double drawn_bid(uint32_t random) {
  const double u = (static_cast<double>(random) + 0.5) / 4294967296.0;
  const double v = (static_cast<double>(mix(random)) + 0.5) / 4294967296.0;
  return std::exp(std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v));
}

class ValueBench {
 public:
  ValueBench(const Options& options, bool is_quick, Report& report)
      : options_(options),
        seconds_(is_quick ? kSecondsQuick : kSeconds),
        report_(report),
        pool_(make_pool(options.repetitions, kLiveLevelSize)),
        folder_(std::filesystem::temp_directory_path() /
                ("tessera-value-bench-" + std::to_string(::getpid()))) {}
  ~ValueBench() { std::filesystem::remove_all(folder_); }

  void run() {
    open();
    const double alone = recalls("alone", 0);
    for (const uint32_t rate : {1000u, 10'000u}) {
      const std::string name = std::to_string(rate) + " bids a second";
      add("recall by value, " + name + ", over alone", recalls(name, rate) / alone, "");
    }
    pace();
    shock();
  }

 private:
  void add(const std::string& name, double value, const char* unit) {
    report_.add("value " + std::to_string(options_.items) + " SIDs: " + name, value, unit);
  }

  void open() {
    std::filesystem::create_directories(folder_);
    catalogue::CatalogueInput input = make_input(options_.items, kLiveLevelSize);
    for (uint32_t i = 0; i < options_.items; ++i) {
      char json[96];
      const char* campaign = i % options_.items < kInCampaign ? "large" : "other";
      const int size = std::snprintf(json, sizeof(json), R"({"campaign":"%s","bid":%.4f})",
                                     campaign, drawn_bid(mix(i)));
      input.attributes.add({json, static_cast<size_t>(size)});
    }
    const std::string path = folder_ / "seed";
    TESSERA_CHECK(catalogue::build_snapshot(input, path, {}).is_ok());
    input = {};
    auto live = LiveCatalogue::open(catalogue::Snapshot::open(path).value(),
                                    {folder_ / "changes", catalogue::SyncPolicy::kNever, {}});
    TESSERA_CHECK(live.is_ok());
    live_ = std::move(live).value();
    live_->view()->eligibility_index().attributes();
    catalogue::Valuation valuation;
    valuation.name = "ecpm";
    valuation.terms = {{"bid", "bid", catalogue::TermFunction::kLog}};
    valuation.bid = "bid";
    valuation.pace = "campaign";
    const Clock::time_point start = Clock::now();
    TESSERA_CHECK(live_->value_by({valuation}).is_ok());
    add("one valuation made", seconds_since(start), "s");
    add("memory of one valuation",
        static_cast<double>(live_->view()->values()->bytes()) / (1 << 20), "MiB");
  }

  /// Milliseconds of a recall.
  double recall(uint32_t r) {
    const std::shared_ptr<const View> view = live_->view();
    const Clock::time_point start = Clock::now();
    beam::LazyOptions options;
    options.widths.assign(kLevels, kWidth);
    options.answer = {kResults + 1, 0, nullptr};
    options.certified_items = kResults;
    options.keys.appraiser =
        Appraiser::compile(view, {"ecpm", catalogue::kAsNamed, catalogue::kAsNamed, {}}).value();
    beam::LazySearch search{catalogue::Reach(view), options};
    const auto logits = [&](size_t rows) {
      return beam::StepLogits{
          std::span(pool_).subspan(size_t{kPoolStride} * r, rows * kLiveLevelSize),
          kLiveLevelSize,
          {},
          std::span(log_sum_exp_).first(rows)};
    };
    search.take(0, 0, {{0.0F}, {catalogue::kRoot}, {0}}, logits(1), *scratch_);
    beam::Rows rows;
    for (uint32_t slot = 0;; slot += static_cast<uint32_t>(rows.size())) {
      search.next(kWidth, nullptr, 8, rows);
      if (rows.size() == 0) break;
      for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
        beam::Beams beams;
        for (end = begin; end < rows.size() && rows.steps[end] == rows.steps[begin]; ++end) {
          beams.scores.push_back(rows.beams.scores[end]);
          beams.nodes.push_back(rows.beams.nodes[end]);
          beams.ended.push_back(0);
        }
        search.take(rows.steps[begin], slot + static_cast<uint32_t>(begin), beams,
                    logits(end - begin), *scratch_);
      }
    }
    TESSERA_CHECK(search.items(nullptr).size() >= kResults);
    return seconds_since(start) * 1e3;
  }

  std::vector<Change> bids(uint32_t count) {
    std::vector<Change> changes(count);
    for (Change& change : changes) {
      const uint32_t number = changed_++;
      change.kind = ChangeKind::kSetAttributes;
      change.item_id = std::to_string(mix(number * 2'654'435'761u) % options_.items);
      char json[96];
      std::snprintf(json, sizeof(json), R"({"campaign":"other","bid":%.4f})",
                    drawn_bid(mix(number)));
      change.attributes = json;
    }
    name_items_once(changes);
    return changes;
  }

  /// The median recall of some seconds beside a writer at a steady rate; 0: without one.
  double recalls(const std::string& name, uint32_t per_second) {
    std::atomic<bool> stop{false};
    std::vector<double> visible;
    std::thread writer([&] {
      Clock::time_point next = Clock::now();
      while (!stop && per_second > 0) {
        const std::vector<Change> changes = bids(per_second / kBatchesPerSecond);
        const Clock::time_point start = std::min(next, Clock::now());
        TESSERA_CHECK(live_->apply(catalogue::given(changes)).is_ok());
        visible.push_back(seconds_since(start) * 1e3);
        next += std::chrono::milliseconds(1000 / kBatchesPerSecond);
        std::this_thread::sleep_until(next);
      }
    });
    std::vector<double> all;
    const Clock::time_point start = Clock::now();
    for (uint32_t r = 0; seconds_since(start) < seconds_; r = (r + 1) % options_.repetitions) {
      all.push_back(recall(r));
    }
    stop = true;
    writer.join();
    add("recall by value, " + name + ", median", median(all), "ms");
    if (per_second == 0) return median(all);
    add("bid to visible, " + name + ", 99th percentile", percentile(visible, 0.99), "ms");
    return median(all);
  }

  void pace() {
    Change change;
    change.kind = ChangeKind::kSetPace;
    change.item_id = "large";
    change.title = "campaign";
    std::vector<double> all;
    for (uint32_t i = 0; i < 100; ++i) {
      change.priority = 0.5 + 0.001 * i;
      const Clock::time_point start = Clock::now();
      TESSERA_CHECK(live_->apply(catalogue::given(std::vector<Change>{change})).is_ok());
      all.push_back(seconds_since(start) * 1e3);
    }
    add("pace of a campaign of 100,000 to visible, worst", percentile(all, 1), "ms");
    add("recall by value under a pace", recall(0), "ms");
  }

  /// Ten times the bid of a tenth of the items, in one batch.
  void shock() {
    const uint32_t count = std::min(options_.items / 10, catalogue::kBatchChangesMax);
    std::vector<Change> changes(count);
    for (uint32_t i = 0; i < count; ++i) {
      changes[i].kind = ChangeKind::kSetAttributes;
      changes[i].item_id = std::to_string(i);
      char json[96];
      std::snprintf(json, sizeof(json), R"({"campaign":"large","bid":%.4f})",
                    10 * drawn_bid(mix(i)));
      changes[i].attributes = json;
    }
    const Clock::time_point start = Clock::now();
    TESSERA_CHECK(live_->apply(catalogue::given(changes)).is_ok());
    add("ten times the bids of " + std::to_string(count) + ", to visible", seconds_since(start),
        "s");
  }

  const Options options_;
  const double seconds_;
  Report& report_;
  const std::vector<float> pool_;
  const std::filesystem::path folder_;
  const std::vector<float> log_sum_exp_ = std::vector<float>(kWidth, kNorm);
  std::unique_ptr<LiveCatalogue> live_;
  std::unique_ptr<beam::Scratch, beam::ScratchDeleter> scratch_ = beam::make_scratch();
  uint32_t changed_ = 0;
};

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  tessera::Options options;
  options.items = 1'000'000;
  bool is_quick = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      is_quick = true;
    } else if (std::strcmp(argv[i], "--items") == 0 && i + 1 < argc) {
      options.items = static_cast<uint32_t>(std::strtoul(argv[++i], nullptr, 10));
    } else {
      std::fprintf(stderr, "usage: value_bench [--quick] [--items N]\n");
      return 2;
    }
  }
  if (options.items < 200'000 || options.items > 50'000'000) {
    std::fprintf(stderr, "value_bench: --items: expected 200000 to 50000000\n");
    return 2;
  }
  tessera::Report report;
  tessera::ValueBench(options, is_quick, report).run();
  report.print();
  return 0;
}
