#include "card/recalls.h"

#include <algorithm>
#include <cmath>

#include "card/search_case.h"

namespace tessera::bench::card {

Result<std::unique_ptr<Recalls>> Recalls::open(BenchCard& card, const RecallSetting& setting) {
  auto recalls = std::unique_ptr<Recalls>(new Recalls(setting));
  const Shape& shape = setting.shape;
  const Result<std::string> folder = model_folder(shape, setting.cache);
  if (!folder.is_ok()) return folder.status();
  auto snapshot = random_catalogue(setting.items, shape.codes, setting.cache);
  if (!snapshot.is_ok()) return snapshot.status();
  recalls->snapshot_ = std::move(snapshot).value();
  const model::cuda::CardLimits limits{std::max(setting.context, setting.width), setting.context,
                                       setting.width};
  auto decoder = model::cuda::CardDecoder::load(folder.value(), limits, card.queue());
  if (!decoder.is_ok()) return decoder.status();
  recalls->decoder_ = std::move(decoder).value();
  auto catalogue = engine::cuda::CardCatalogue::open(level_tokens(shape), {}, card.queue());
  if (!catalogue.is_ok()) return catalogue.status();
  recalls->catalogue_ = std::move(catalogue).value();
  auto version = recalls->catalogue_->pin(catalogue::View::of(recalls->snapshot_));
  if (!version.is_ok()) return version.status();
  recalls->version_ = std::move(version).value();
  const uint32_t keys_max = candidates_max(recalls->version_->view(), setting.width);
  auto recall =
      engine::cuda::CardRecall::make({setting.context, setting.width, keys_max}, *recalls->decoder_,
                                     *recalls->catalogue_, card.queue());
  if (!recall.is_ok()) return recall.status();
  recalls->recall_ = std::move(recall).value();
  return recalls;
}

Result<std::vector<Paths>> Recalls::run(std::span<const std::vector<int32_t>> prompts) {
  std::vector<Paths> all;
  const uint32_t widths[] = {setting_.width};
  for (const std::vector<int32_t>& prompt : prompts) {
    auto paths = recall_->search({prompt, widths, version_.get()});
    if (!paths.is_ok()) return paths.status();
    all.push_back(std::move(paths).value());
  }
  return all;
}

Status Recalls::check(const Paths& paths) const {
  if (paths.size() != std::min<uint64_t>(setting_.width, snapshot_->path_count())) {
    return wrong("number of paths");
  }
  for (size_t i = 0; i < paths.size(); ++i) {
    if (!std::isfinite(paths[i].score)) return wrong("score");
    if (i > 0 && paths[i].score > paths[i - 1].score) return wrong("order of paths");
    if (snapshot_->items(paths[i].node).count == 0) return wrong("end of a path");
  }
  return Status::ok();
}

}  // namespace tessera::bench::card
