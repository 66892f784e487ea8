#include "model/text_model.h"

#include <utility>

namespace tessera::model {

Result<TextModel> TextModel::load(const std::string& folder, ComputeType type,
                                  device::Device& device) {
  Result<TextHeadConfig> config = TextHeadConfig::load(folder);
  if (!config.is_ok()) return config.status();
  auto encoder = Encoder::load(config.value().encoder_folder, type, device);
  if (!encoder.is_ok()) return encoder.status();
  const uint32_t hidden_size = encoder.value()->config().hidden_size;
  Result<TextHead> head = TextHead::load(std::move(config).value(), hidden_size, device);
  if (!head.is_ok()) return head.status();
  return TextModel(std::move(encoder).value(), std::move(head).value(), device);
}

Result<std::unique_ptr<TextWorkspace>> TextModel::make_workspace(uint32_t max_rows,
                                                                 uint32_t max_texts) const {
  auto made = std::make_unique<TextWorkspace>();
  auto rows = encoder_->make_workspace(max_rows, max_texts);
  if (!rows.is_ok()) return rows.status();
  made->encoder_ = std::move(rows).value();
  auto head = head_.make_scratch(max_texts, *device_);
  if (!head.is_ok()) return head.status();
  made->head_ = std::move(head).value();
  made->counts_.resize(max_texts);
  return made;
}

Status TextModel::embed(std::span<const EncoderText> texts, TextWorkspace& workspace,
                        float* vectors) const {
  const float* rows = encoder_->forward(texts, *workspace.encoder_);
  for (size_t i = 0; i < texts.size(); ++i) {
    workspace.counts_[i] = static_cast<uint32_t>(texts[i].tokens.size());
  }
  head_.apply(*device_, rows, {workspace.counts_.data(), texts.size()}, workspace.head_, vectors);
  const uint64_t numbers = texts.size() * dimension();
  if (device_->kernels().find_non_finite_f32(vectors, numbers) == numbers) return Status::ok();
  return {Code::kModelNotFinite, "expected finite vectors, got NaN or infinity"};
}

}  // namespace tessera::model
