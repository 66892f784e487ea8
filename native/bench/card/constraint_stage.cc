#include "card/search_case.h"
#include "card/shapes.h"
#include "card/stages.h"

namespace tessera::bench::card {
namespace {

Status measure(BenchCard& card, const Options& options, SearchCase& search, uint32_t width,
               const std::string& prefix, Report& report) {
  double sum = 0;
  for (uint32_t level = 0; level < kLevels; ++level) {
    TESSERA_RETURN_IF_ERROR(search.prepare(100 + level));
    const Result<double> seconds = median_seconds(
        card, options.rounds, [&] { return search.run(); }, [&] { return search.put_back(); });
    if (!seconds.is_ok()) return seconds.status();
    // The last of the rounds, and so all of them: each began from the same.
    TESSERA_RETURN_IF_ERROR(search.check_and_advance());
    report.add_seconds(prefix + "level " + std::to_string(level), seconds.value());
    sum += seconds.value();
  }
  report.add_seconds(prefix + "step, mean", sum / kLevels);
  TESSERA_RETURN_IF_ERROR(search.prepare_export(width));
  const Result<double> exporting =
      median_seconds(card, options.rounds, [&] { return search.run_export(); });
  if (!exporting.is_ok()) return exporting.status();
  TESSERA_RETURN_IF_ERROR(search.check_export());
  report.add_seconds(prefix + "export", exporting.value());
  return Status::ok();
}

}  // namespace

Status constraint_stage(BenchCard& card, const Options& options, Report& report) {
  const Result<Shape> shape = shape_of(options.shape);
  if (!shape.is_ok()) return shape.status();
  for (const uint32_t items : options.items) {
    const auto snapshot = random_catalogue(items, shape.value().codes, options.cache);
    if (!snapshot.is_ok()) return snapshot.status();
    const auto tokens = level_tokens(shape.value());
    const auto catalogue = engine::cuda::CardCatalogue::open(tokens, {}, card.queue());
    if (!catalogue.is_ok()) return catalogue.status();
    const auto version = catalogue.value()->pin(catalogue::View::of(snapshot.value()));
    if (!version.is_ok()) return version.status();
    for (const uint32_t width : options.widths) {
      SearchCase search(card, snapshot.value(), *catalogue.value(), version.value(), width);
      TESSERA_RETURN_IF_ERROR(search.allocate());
      const std::string prefix =
          "constraint/" + std::to_string(items) + " SIDs/width " + std::to_string(width) + "/";
      TESSERA_RETURN_IF_ERROR(measure(card, options, search, width, prefix, report));
    }
  }
  return Status::ok();
}

}  // namespace tessera::bench::card
