#include <chrono>
#include <random>

#include "card/search_case.h"
#include "card/shapes.h"
#include "card/stages.h"
#include "catalogue/live_catalogue.h"

namespace tessera::bench::card {
namespace {

constexpr uint32_t kChangesTogether = 100;

Status measure(BenchCard& card, const Options& options, SearchCase& search,
               const std::string& prefix, Report& report) {
  double sum = 0;
  for (uint32_t level = 0; level < kLevels; ++level) {
    TESSERA_RETURN_IF_ERROR(search.prepare(100 + level));
    const Result<double> seconds = median_chain_seconds(
        card, options.rounds, [&] { return search.run(); }, [&] { return search.put_back(); });
    if (!seconds.is_ok()) return seconds.status();
    // The last of the rounds, and so all of them: each began from the same.
    TESSERA_RETURN_IF_ERROR(search.check_and_advance());
    report.add_seconds(prefix + "level " + std::to_string(level), seconds.value());
    sum += seconds.value();
  }
  report.add_seconds(prefix + "step, mean", sum / kLevels);
  return Status::ok();
}

/// Pauses and later items in turn, all of them different.
std::vector<catalogue::Change> make_changes(uint32_t items, uint32_t codes, uint32_t first,
                                            uint32_t count) {
  std::mt19937_64 random(first);
  std::vector<catalogue::Change> changes(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t number = first + i;
    catalogue::Change& change = changes[i];
    if (number % 2 == 0) {
      change.kind = catalogue::ChangeKind::kPause;
      change.item_id = std::to_string(number % items);
      continue;
    }
    change.item_id = "later-" + std::to_string(number);
    for (uint32_t level = 0; level < kLevels; ++level) {
      change.sid.push_back(static_cast<uint32_t>(random() % codes));
    }
  }
  return changes;
}

/// A catalogue of the host and on the card.
class BothCatalogues {
 public:
  BothCatalogues(BenchCard& card, const Shape& shape, uint32_t items)
      : card_(card), shape_(shape), items_(items) {}

  Status open(const std::string& cache) {
    const auto snapshot = random_catalogue(items_, shape_.codes, cache);
    if (!snapshot.is_ok()) return snapshot.status();
    auto live = catalogue::LiveCatalogue::open(snapshot.value(), {});
    if (!live.is_ok()) return live.status();
    live_ = std::move(live).value();
    auto catalogue = engine::cuda::CardCatalogue::open(level_tokens(shape_), {}, card_.queue());
    if (!catalogue.is_ok()) return catalogue.status();
    catalogue_ = std::move(catalogue).value();
    return Status::ok();
  }
  Status change(uint32_t count) {
    const auto applied =
        live_->apply(catalogue::given(make_changes(items_, shape_.codes, changed_, count)));
    changed_ += count;
    return applied.is_ok() ? Status::ok() : applied.status();
  }
  /// Seconds of the host's clock until the newest version is on the card.
  Result<double> pin() {
    const auto start = std::chrono::steady_clock::now();
    auto version = catalogue_->pin(live_->view());
    if (!version.is_ok()) return version.status();
    version_ = std::move(version).value();
    TESSERA_RETURN_IF_ERROR(card_.queue().finish());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  SearchCase search(uint32_t width) const {
    return {card_, live_->view(), *catalogue_, version_, width};
  }

 private:
  BenchCard& card_;
  const Shape& shape_;
  uint32_t items_, changed_ = 0;
  std::unique_ptr<catalogue::LiveCatalogue> live_;
  std::unique_ptr<engine::cuda::CardCatalogue> catalogue_;
  std::shared_ptr<const engine::cuda::CardVersion> version_;
};

/// Some changes at a time, each time a version: how long until the card has it.
Status measure_pins(const Options& options, BothCatalogues& both, const std::string& prefix,
                    Report& report) {
  std::vector<double> seconds;
  for (uint32_t round = 0; round < options.rounds.counted; ++round) {
    TESSERA_RETURN_IF_ERROR(both.change(kChangesTogether));
    const Result<double> taken = both.pin();
    if (!taken.is_ok()) return taken.status();
    seconds.push_back(taken.value());
  }
  report.add_seconds(prefix + std::to_string(kChangesTogether) + " changes onto the card",
                     quantile(std::move(seconds), 0.5));
  return Status::ok();
}

Status measure_widths(BenchCard& card, const Options& options, BothCatalogues& both,
                      const std::string& prefix, Report& report) {
  for (const uint32_t width : options.widths) {
    SearchCase search = both.search(width);
    TESSERA_RETURN_IF_ERROR(search.allocate());
    TESSERA_RETURN_IF_ERROR(
        measure(card, options, search, prefix + "width " + std::to_string(width) + "/", report));
  }
  return Status::ok();
}

}  // namespace

Status constraint_stage(BenchCard& card, const Options& options, Report& report) {
  const Result<Shape> shape = shape_of(options.shape);
  if (!shape.is_ok()) return shape.status();
  for (const uint32_t items : options.items) {
    BothCatalogues both(card, shape.value(), items);
    TESSERA_RETURN_IF_ERROR(both.open(options.cache));
    const Result<double> copying = both.pin();
    if (!copying.is_ok()) return copying.status();
    const std::string name = "constraint/" + std::to_string(items) + " SIDs";
    report.add_seconds(name + "/snapshot onto the card", copying.value());
    TESSERA_RETURN_IF_ERROR(measure_widths(card, options, both, name + "/", report));
    TESSERA_RETURN_IF_ERROR(measure_pins(options, both, name + "/", report));
    for (const uint32_t changes : options.changes) {
      TESSERA_RETURN_IF_ERROR(both.change(changes));
      const Result<double> pinned = both.pin();
      if (!pinned.is_ok()) return pinned.status();
      const std::string changed = name + " and " + std::to_string(changes) + " changes more/";
      TESSERA_RETURN_IF_ERROR(measure_widths(card, options, both, changed, report));
    }
  }
  return Status::ok();
}

}  // namespace tessera::bench::card
