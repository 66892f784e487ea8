#include "cuda/model/card_decoder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "cuda/kernels/forward_kernels.h"
#include "cuda/model/card_head.h"
#include "cuda/model/card_layers.h"
#include "cuda/model/card_plan.h"
#include "ops/convert.h"

namespace tessera::model::cuda {
namespace {

using attention::cuda::kBlockPositions;
using device::cuda::LaunchShape;
using device::cuda::Queue;

/// Changes when the bytes of a block come to lie elsewhere (cuda/kernels/attend_kernels.h).
/// Changes when our kernels round at other places.
constexpr char kKernelNumbers[] = "card.2";

/// Inputs that share a scale are named, as in numbers_text.cc.
std::string numbers_of(ComputeType type, const Queue& queue) {
  return (type == ComputeType::kBf16 ? "bf16 " : "w8a8-64 ") + std::string(kKernelNumbers) + " " +
         queue.numbers();
}

/// All memory of passes is made by make_memory().
CardPass& own(PassMemory& memory) { return static_cast<CardPass&>(memory); }

}  // namespace

CardDecoder::CardDecoder(Recipe recipe, ComputeType type, HeadVocabulary vocabulary,
                         device::Device& processor, std::unique_ptr<Queue> passes,
                         std::unique_ptr<Queue> copies, std::string device_name)
    : recipe_(std::move(recipe)),
      type_(type),
      vocabulary_(std::move(vocabulary)),
      processor_(processor),
      queue_(std::move(passes)),
      adapters_(std::make_shared<CardAdapters>(recipe_.config(), std::move(copies))),
      device_name_(std::move(device_name)),
      numbers_(numbers_of(type, *queue_)),
      space_(queue_) {}

/// Nothing that was asked for reads the weights any more.
CardDecoder::~CardDecoder() { (void)queue_->finish(); }

Result<std::shared_ptr<CardDecoder>> CardDecoder::load(const std::string& folder, ComputeType type,
                                                       std::span<const int32_t> head_tokens,
                                                       device::Device& processor,
                                                       std::unique_ptr<Queue> passes,
                                                       std::unique_ptr<Queue> copies,
                                                       std::string device_name) {
  if (type != ComputeType::kBf16 && type != ComputeType::kW8A8) {
    return Status(Code::kRequestInvalid, "computeType: expected bf16 or w8a8 on a card, got " +
                                             std::string(compute_type_name(type)));
  }
  Result<ModelConfig> config = ModelConfig::load(folder);
  if (!config.is_ok()) return config.status();
  Recipe recipe(std::move(config).value());
  TESSERA_RETURN_IF_ERROR(check_shape(folder, recipe));
  auto vocabulary = HeadVocabulary::of(head_tokens, recipe.config().vocab_size);
  if (!vocabulary.is_ok()) return vocabulary.status();
  auto decoder = std::shared_ptr<CardDecoder>(
      new CardDecoder(std::move(recipe), type, std::move(vocabulary).value(), processor,
                      std::move(passes), std::move(copies), std::move(device_name)));
  TESSERA_RETURN_IF_ERROR(decoder->fill(folder));
  return decoder;
}

Status CardDecoder::fill(const std::string& folder) {
  Result<CardWeights> weights = CardWeights::allocate(recipe_, type_, *queue_);
  if (!weights.is_ok()) return weights.status();
  weights_ = std::move(weights).value();
  auto files = WeightsUpdate::look_through(folder, recipe_, type_, processor_);
  if (!files.is_ok()) return files.status();
  files_ = std::move(files).value();
  const MutexLock lock(digest_mutex_);
  digest_ = files_.digest();
  return weights_.stream(recipe_, files_, processor_, *queue_);
}

std::string CardDecoder::digest() const {
  const MutexLock lock(digest_mutex_);
  return digest_;
}

attention::BlockLayout CardDecoder::block_layout() const {
  const ModelConfig& config = recipe_.config();
  return {config.layer_count, config.kv_head_count, config.head_dim, tensor::DType::kBf16, true};
}

Status CardDecoder::clear(const attention::PromptKv& prompt, uint32_t first, uint32_t count) const {
  const uint32_t end = first + count;
  TESSERA_CHECK(end <= uint64_t{prompt.block_count} * kBlockPositions);
  for (uint32_t position = first, next = 0; position < end; position = next) {
    next = std::min(end, (position / kBlockPositions + 1) * kBlockPositions);
    const attention::cuda::ClearedRows cleared{
        static_cast<uint16_t*>(prompt.blocks[position / kBlockPositions]),
        position % kBlockPositions, next - position, config().head_dim};
    const LaunchShape shape{{config().layer_count, 2 * config().kv_head_count, 1},
                            {attention::cuda::kBlockThreads, 1, 1}};
    TESSERA_RETURN_IF_ERROR(device::cuda::launch(*queue_, kClear, shape, cleared));
  }
  return queue_->finish();
}

Result<std::unique_ptr<PassMemory>> CardDecoder::make_memory(uint32_t max_rows,
                                                             uint32_t max_context,
                                                             uint32_t max_adapters) const {
  auto pass = CardPass::allocate(config(), type_, max_rows, max_context, max_adapters, queue_);
  if (!pass.is_ok()) return pass.status();
  return std::unique_ptr<PassMemory>(std::move(pass).value());
}

void CardDecoder::table_row(bool is_head, uint32_t token, float* row) const {
  const TensorEntry& entry = table_of(files_, recipe_, is_head);
  const uint64_t size = config().hidden_size, element = tensor::dtype_size(*entry.type);
  const std::byte* from = entry.bytes.data() + token * size * element;
  std::vector<uint16_t> rounded(std::min(size, ops::kConvertPiece));
  for (uint64_t i = 0; i < size; i += rounded.size()) {
    const uint64_t count = std::min<uint64_t>(rounded.size(), size - i);
    ops::convert_piece(processor_.kernels(), from + i * element, *entry.type, count,
                       tensor::DType::kBf16, rounded.data());
    processor_.kernels().widen_bf16(rounded.data(), count, row + i);
  }
}

void CardDecoder::embedding_row(uint32_t token, float* row) const {
  TESSERA_CHECK(token < config().vocab_size);
  table_row(false, token, row);
}

void CardDecoder::head_row(uint32_t token, float* row) const {
  TESSERA_CHECK(token < config().vocab_size && vocabulary_.has(token));
  table_row(true, token, row);
}

void CardDecoder::visit_in_file(uint32_t layer, const WeightSlot& slot,
                                const std::function<void(const tensor::TensorView&)>& use) const {
  model::visit_in_file(files_.shards(), files_.prefix() + config().layer_name(layer), slot, use);
}

Result<std::unique_ptr<HeldAdapter>> CardDecoder::hold(const Adapter& adapter) const {
  return adapters_->hold(adapter);
}

Result<WeightsUpdate> CardDecoder::prepare_update(const std::string& folder) const {
  Result<ModelConfig> config = ModelConfig::load(folder);
  if (!config.is_ok()) return config.status();
  TESSERA_RETURN_IF_ERROR(check_same(folder, config.value()));
  return WeightsUpdate::look_through(folder, recipe_, type_, processor_);
}

Status CardDecoder::update(WeightsUpdate update) {
  const Status status = weights_.stream(recipe_, update, processor_, *queue_);
  if (!status.is_ok()) {
    is_intact_ = weights_.stream(recipe_, files_, processor_, *queue_).is_ok();
    return status;
  }
  files_ = std::move(update);
  is_intact_ = true;
  const MutexLock lock(digest_mutex_);
  digest_ = files_.digest();
  return status;
}

Status CardDecoder::forward(const ForwardBatch& batch, PassMemory& memory) const {
  CardPass& pass = own(memory);
  TESSERA_CHECK(batch.tokens.size() <= pass.max_rows());
  // The plan's memory may still be read from.
  TESSERA_RETURN_IF_ERROR(pass.finish());
  pass.rows_ = static_cast<uint32_t>(batch.tokens.size());
  if (pass.rows_ == 0) return Status::ok();
  CardPlanner planner(config(), weights_, *adapters_, pass);
  const Result<CardPlan> laid_out = planner.lay_out(batch);
  if (!laid_out.is_ok()) return laid_out.status();
  const CardPlan& plan = laid_out.value();
  pass.is_pending_ = true;
  TESSERA_RETURN_IF_ERROR(queue_->copy_in(pass.plan_, pass.host_plan_, plan.bytes));
  const CardLayers layers(config(), weights_, pass);
  if (plan.layers.empty()) {
    const device::cuda::ChainShape shape = {plan.rows, plan.groups_max, plan.mirror_count,
                                            plan.splits, plan.group_rows_max};
    TESSERA_RETURN_IF_ERROR(pass.graphs_.run(shape, [&] { return layers.launch(plan); }));
  } else {
    TESSERA_RETURN_IF_ERROR(layers.launch(plan));
  }
  TESSERA_RETURN_IF_ERROR(layers.check(pass.rows_));
  return queue_->copy_to_pinned(pass.host_.struck, pass.card_.struck,
                                pass.rows_ * sizeof(uint32_t));
}

Result<bool> CardDecoder::is_finite(PassMemory& memory, uint32_t first, uint32_t count) const {
  CardPass& pass = own(memory);
  TESSERA_CHECK(uint64_t{first} + count <= pass.rows());
  TESSERA_RETURN_IF_ERROR(pass.finish());
  const uint32_t* const struck = pass.host_.struck + first;
  return std::all_of(struck, struck + count, [](uint32_t row) { return row == 0; });
}

Result<std::span<const float>> CardDecoder::hidden(PassMemory& memory, uint32_t first,
                                                   uint32_t count) const {
  CardPass& pass = own(memory);
  TESSERA_CHECK(uint64_t{first} + count <= pass.rows());
  const uint64_t size = config().hidden_size;
  pass.is_pending_ = true;
  TESSERA_RETURN_IF_ERROR(queue_->copy_to_pinned(
      pass.host_.rows, pass.card_.final_rows + first * size, count * size * sizeof(float)));
  TESSERA_RETURN_IF_ERROR(pass.finish());
  return std::span<const float>{pass.host_.rows, count * size};
}

Status CardDecoder::head(std::span<const HeadRequest> requests, PassMemory& memory) const {
  CardPass& pass = own(memory);
  uint64_t rows = 0;
  for (const HeadRequest& request : requests) {
    rows += request.rows.size();
    for (const uint32_t row : request.rows) TESSERA_CHECK(row < pass.rows());
    TESSERA_CHECK(request.log_sum_exp == nullptr || vocabulary_.is_whole());
    for (const ops::HeadTokens& tokens : request.tokens) {
      for (const int32_t id : tokens.ids) {
        TESSERA_CHECK(id >= 0 && static_cast<uint32_t>(id) < config().vocab_size);
        TESSERA_CHECK(vocabulary_.has(static_cast<uint32_t>(id)));
      }
    }
  }
  TESSERA_CHECK(rows <= pass.max_rows());
  return CardHead(config(), weights_, *adapters_, pass).run(requests);
}

}  // namespace tessera::model::cuda
