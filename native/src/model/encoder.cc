#include "model/encoder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "model/numbers_text.h"
#include "model/pass.h"
#include "ops/embed.h"
#include "ops/layer_norm.h"
#include "ops/rms_norm.h"

namespace tessera::model {
namespace {

using attention::kBlockPositions;

uint32_t blocks_of(uint64_t rows) {
  return static_cast<uint32_t>((rows + kBlockPositions - 1) / kBlockPositions);
}

}  // namespace

Status check_static(const std::string& folder, const Recipe& recipe) {
  const std::string path = folder + "/config.json";
  if (recipe.config().family->encoder == nullptr) {
    return {Code::kModelInvalid,
            path +
                ": model_type: expected an encoder (bert, roberta, xlm-roberta, modernbert) for " +
                std::string(compute_type_name(ComputeType::kW8A8Static)) + ", got " +
                std::string(recipe.config().family->model_type)};
  }
  if (recipe.widest_input() <= device::kStaticDepthMax) return Status::ok();
  return {Code::kModelInvalid,
          path + ": expected at most " + std::to_string(device::kStaticDepthMax) +
              " inputs of a product, got " + std::to_string(recipe.widest_input())};
}

Encoder::Encoder(std::string folder, Recipe recipe, ComputeType type, device::Device& device,
                 Weights weights, std::optional<StaticScales> static_scales)
    : folder_(std::move(folder)),
      recipe_(std::move(recipe)),
      type_(type),
      device_(device),
      weights_(std::move(weights)),
      scales_(own_scales(recipe_)),
      static_scales_(std::move(static_scales)),
      digest_(static_scales_ ? content_digest(weights_.digest() + static_scales_->digest())
                             : weights_.digest()),
      numbers_(numbers_text(type, device, nullptr)) {}

Result<std::shared_ptr<Encoder>> Encoder::load(const std::string& folder, ComputeType type,
                                               device::Device& device,
                                               std::span<const Family> known) {
  Result<ModelConfig> config = ModelConfig::load(folder, known);
  if (!config.is_ok()) return config.status();
  Recipe recipe(std::move(config).value(), Purpose::kRows);
  std::optional<StaticScales> scales;
  if (type == ComputeType::kW8A8Static) {
    TESSERA_RETURN_IF_ERROR(check_static(folder, recipe));
    Result<StaticScales> read = StaticScales::load(folder, recipe);
    if (!read.is_ok()) return read.status();
    scales = std::move(read).value();
  }
  Result<Weights> weights =
      Weights::load(folder, recipe, type, device, {}, scales ? &*scales : nullptr);
  if (!weights.is_ok()) return weights.status();
  if (scales) TESSERA_RETURN_IF_ERROR(scales->check_model(weights.value().digest()));
  return std::shared_ptr<Encoder>(new Encoder(folder, std::move(recipe), type, device,
                                              std::move(weights).value(), std::move(scales)));
}

Result<std::unique_ptr<EncoderWorkspace>> Encoder::make_workspace(uint32_t max_rows,
                                                                  uint32_t max_texts) const {
  TESSERA_CHECK(max_rows > 0 && max_texts > 0);
  auto made = std::make_unique<EncoderWorkspace>();
  auto rows = Workspace::allocate(recipe_, type_, max_rows, max_rows, 0, device_);
  if (!rows.is_ok()) return rows.status();
  made->rows_ = std::move(rows).value();
  attention::BlockLayout layout = recipe_.block_layout(type_);
  layout.layers = 1;
  const uint32_t blocks = blocks_of(max_rows) + max_texts;
  Result<device::Buffer> kv = device_.allocate(blocks * layout.bytes());
  if (!kv.is_ok()) return kv.status();
  made->kv_ = std::move(kv).value();
  for (uint32_t i = 0; i < blocks; ++i) {
    made->blocks_.push_back(made->kv_.as<char>() + i * layout.bytes());
  }
  made->chains_.resize(max_texts);
  made->groups_.resize(max_texts);
  made->tokens_.resize(max_rows);
  made->segments_.resize(max_rows);
  return made;
}

/// Gives every text its rows and blocks; returns the rows of all.
uint64_t Encoder::place(std::span<const EncoderText> texts, EncoderWorkspace& workspace) const {
  TESSERA_CHECK(texts.size() <= workspace.max_texts());
  const bool has_second = config().encoder.segments > 1;
  uint32_t row = 0, block = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    const EncoderText& text = texts[i];
    const auto count = static_cast<uint32_t>(text.tokens.size());
    TESSERA_CHECK(count > 0 && count <= config().max_positions);
    TESSERA_CHECK(count <= workspace.max_rows() - row);
    std::copy(text.tokens.begin(), text.tokens.end(), workspace.tokens_.begin() + row);
    // Of a table whose positions begin behind that of the padding, the padding keeps its own.
    const uint32_t first = config().encoder.first_position;
    uint32_t next = first;
    for (uint32_t j = 0; j < count; ++j) {
      const bool is_padding = first > 0 && static_cast<uint32_t>(text.tokens[j]) == first - 1;
      workspace.rows_->positions_[row + j] = is_padding ? first - 1 : next++;
      workspace.segments_[row + j] = has_second && j >= text.second_from ? 1 : 0;
    }
    workspace.chains_[i] = {workspace.blocks_.data() + block, blocks_of(count), 0};
    workspace.groups_[i] = {.prompt = &workspace.chains_[i], .first_row = row, .row_count = count};
    row += count;
    block += blocks_of(count);
  }
  return row;
}

const float* Encoder::forward(std::span<const EncoderText> texts,
                              EncoderWorkspace& workspace) const {
  const uint64_t rows = place(texts, workspace);
  const uint64_t hidden = config().hidden_size;
  Workspace& ws = *workspace.rows_;
  ws.rows_ = static_cast<uint32_t>(rows);
  ws.times_ = {};
  ws.expert_use_ = {};
  const ForwardBatch batch{.tokens = {workspace.tokens_.data(), rows},
                           .groups = {workspace.groups_.data(), texts.size()},
                           .segments = {workspace.segments_.data(), rows},
                           .keeps_layers = false};
  ops::embed(device_, weights_.embedding(), batch.tokens, ws.hidden_);
  Pass pass(recipe_, type_, scales_, device_, batch, ws,
            static_scales_ ? &*static_scales_ : nullptr);
  if (recipe_.entry() != nullptr) recipe_.entry()->forward(weights_.entry(), pass);
  for (size_t i = 0; i < recipe_.layers().size(); ++i) {
    pass.run(recipe_.layers()[i], weights_.layers()[i]);
  }
  const float* norm = weights_.final_norm();
  if (norm == nullptr) return pass.hidden();
  if (config().family->encoder != nullptr) {
    ops::layer_norm(device_, ws.hidden_, rows, hidden, {norm, nullptr, config().encoder.epsilon},
                    ws.normed_);
  } else {
    ops::rms_norm(device_, ws.hidden_, rows, hidden, norm, config().rms_norm_eps, ws.normed_);
  }
  return ws.normed_;
}

}  // namespace tessera::model
