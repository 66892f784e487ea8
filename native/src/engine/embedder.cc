#include "engine/embedder.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "device/backends.h"
#include "engine/elapsed.h"
#include "engine/foreground.h"
#include "engine/options.h"
#include "platform/file.h"

namespace tessera::engine {
namespace {

constexpr double kNanosecondsPerMicrosecond = 1e3;

Status pass_fault(const std::string& field, const std::string& expected, const std::string& got) {
  return {Code::kRequestInvalid, field + ": expected " + expected + ", got " + got};
}

Status in_range(const char* field, uint32_t value, uint32_t max) {
  if (value >= 1 && value <= max) return Status::ok();
  return pass_fault("embedderOpen.options." + std::string(field), "1.." + std::to_string(max),
                    std::to_string(value));
}

}  // namespace

Result<std::unique_ptr<Embedder>> Embedder::open(const EmbedderOptions& options) {
  TESSERA_RETURN_IF_ERROR(in_range("threadCount", options.thread_count, kThreadCountMax));
  TESSERA_RETURN_IF_ERROR(in_range("rowsMax", options.rows_max, kEmbedRowsMax));
  TESSERA_RETURN_IF_ERROR(in_range("textsMax", options.texts_max, kEmbedTextsMax));
  auto given = std::make_unique<std::atomic<int64_t>>(0);
  auto device = device::open_cpu_device(
      {.thread_count = options.thread_count,
       .instruction_set = {},
       .before_part = [given = given.get()] { given->fetch_add(give_way_for_share().count()); }});
  if (!device.is_ok()) return device.status();
  auto model = model::TextModel::load(options.model_path, options.compute_type, *device.value());
  if (!model.is_ok()) return model.status();
  auto workspace = model.value().make_workspace(options.rows_max, options.texts_max);
  if (!workspace.is_ok()) return workspace.status();
  return std::unique_ptr<Embedder>(new Embedder(std::move(device).value(), std::move(model).value(),
                                                std::move(workspace).value(), std::move(given),
                                                options));
}

uint32_t Embedder::tokens_max() const {
  return std::min(options_.rows_max, model_.encoder().config().max_positions);
}

Status Embedder::check_texts(std::span<const int32_t> tokens,
                             std::span<const uint32_t> offsets) const {
  const bool is_whole = offsets.size() > 1 && offsets.front() == 0 &&
                        offsets.back() == tokens.size() &&
                        std::is_sorted(offsets.begin(), offsets.end());
  if (!is_whole) {
    return pass_fault("embedderEmbed.offsets", "ascending offsets from 0 to tokens.length",
                      "others");
  }
  const size_t texts = offsets.size() - 1;
  for (size_t i = 0; i < texts; ++i) {
    const uint32_t count = offsets[i + 1] - offsets[i];
    if (count >= 1 && count <= tokens_max()) continue;
    return pass_fault("embedderEmbed.texts[" + std::to_string(i) + "]",
                      "1.." + std::to_string(tokens_max()) + " tokens", std::to_string(count));
  }
  const uint32_t vocabulary = model_.encoder().config().vocab_size;
  const auto wrong = std::find_if(tokens.begin(), tokens.end(), [&](int32_t token) {
    return token < 0 || static_cast<uint32_t>(token) >= vocabulary;
  });
  if (wrong == tokens.end()) return Status::ok();
  return pass_fault("embedderEmbed.tokens", "0.." + std::to_string(vocabulary - 1),
                    std::to_string(*wrong));
}

Status Embedder::check(std::span<const int32_t> tokens, std::span<const uint32_t> offsets) const {
  TESSERA_RETURN_IF_ERROR(check_texts(tokens, offsets));
  const size_t texts = offsets.size() - 1;
  if (texts > options_.texts_max) {
    return pass_fault("embedderEmbed.offsets",
                      "at most " + std::to_string(options_.texts_max) + " texts",
                      std::to_string(texts));
  }
  if (tokens.size() > options_.rows_max) {
    return pass_fault("embedderEmbed.tokens", "at most " + std::to_string(options_.rows_max),
                      std::to_string(tokens.size()));
  }
  return Status::ok();
}

Result<EmbeddedPass> Embedder::embed(std::span<const int32_t> tokens,
                                     std::span<const uint32_t> offsets,
                                     std::span<const uint32_t> seconds) {
  TESSERA_RETURN_IF_ERROR(check(tokens, offsets));
  if (!seconds.empty() && seconds.size() + 1 != offsets.size()) {
    return pass_fault("embedderEmbed.seconds", "one per text or none",
                      std::to_string(seconds.size()));
  }
  std::vector<model::EncoderText> texts;
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    texts.push_back({.tokens = tokens.subspan(offsets[i], offsets[i + 1] - offsets[i])});
    if (!seconds.empty()) texts.back().second_from = seconds[i];
  }
  EmbeddedPass pass;
  pass.vectors.resize(texts.size() * model_.dimension());
  const MutexLock lock(mutex_);
  const Clock::time_point began = Clock::now();
  given_ns_->store(0);
  TESSERA_RETURN_IF_ERROR(model_.embed(texts, *workspace_, pass.vectors.data()));
  const double given_us = static_cast<double>(given_ns_->load()) / kNanosecondsPerMicrosecond;
  pass.compute_us = std::max(
      0.0, static_cast<double>(microseconds_since(began)) - given_us / options_.thread_count);
  return pass;
}

Result<MeasuredTexts> Embedder::measure(std::span<const int32_t> tokens,
                                        std::span<const uint32_t> offsets) {
  const model::Encoder& encoder = model_.encoder();
  if (options_.compute_type != model::ComputeType::kF32) {
    return pass_fault("embedderMeasure.computeType", "f32",
                      std::string(model::compute_type_name(options_.compute_type)));
  }
  TESSERA_RETURN_IF_ERROR(model::check_static(encoder.folder(), encoder.recipe()));
  TESSERA_RETURN_IF_ERROR(check_texts(tokens, offsets));
  model::InputRanges ranges(encoder.recipe());
  const MutexLock lock(mutex_);
  workspace_->measure(&ranges);
  Status status = Status::ok();
  std::vector<float> vectors(size_t{options_.texts_max} * model_.dimension());
  for (size_t first = 0, end = 0; status.is_ok() && first + 1 < offsets.size(); first = end) {
    std::vector<model::EncoderText> texts;
    for (end = first; end + 1 < offsets.size() && end - first < options_.texts_max; ++end) {
      if (offsets[end + 1] - offsets[first] > options_.rows_max) break;
      texts.push_back({.tokens = tokens.subspan(offsets[end], offsets[end + 1] - offsets[end])});
    }
    status = model_.embed(texts, *workspace_, vectors.data());
  }
  workspace_->measure(nullptr);
  TESSERA_RETURN_IF_ERROR(status);
  const std::string content = ranges.file(encoder.recipe(), encoder.digest());
  const std::string path = encoder.folder() + "/" + std::string(model::kStaticScalesFile);
  TESSERA_RETURN_IF_ERROR(platform::write_file_atomically(path, std::as_bytes(std::span(content))));
  return MeasuredTexts{path, ranges.rows()};
}

}  // namespace tessera::engine
