#include "model/processor_decoder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "device/device.h"
#include "model/numbers_text.h"
#include "model/pass.h"
#include "model/weights.h"
#include "ops/convert.h"
#include "ops/embed.h"
#include "ops/rms_norm.h"

namespace tessera::model {
namespace {

/// Changes when the bytes of a block come to lie elsewhere (attention/block.h).

}  // namespace

struct ProcessorDecoder::Impl {
  Recipe recipe;
  std::span<const Family> known;  // families that an update may be of
  ComputeType type;
  device::Device& device;
  Weights weights;
  std::vector<LayerScales> scales;  // per layer; zeros where rows have scales of their own
  std::string numbers;
  bool has_fixed_scales = false;
  Mutex digest_mutex{};
  std::string digest GUARDED_BY(digest_mutex){};

  void embed(std::span<const int32_t> tokens, float* y) const {
    if (weights.embedding().data == nullptr) {
      ops::embed(device, weights.head(), tokens, y);
    } else {
      ops::embed(device, weights.embedding(), tokens, y);
    }
  }
  /// Rows of tokens, those of adapters in the place of the model's.
  void embed(const ForwardBatch& batch, float* y) const {
    const uint64_t size = recipe.config().hidden_size;
    embed(batch.tokens, y);
    for (const AdapterRows& own : batch.adapters) {
      ops::embed_replaced(device, own.adapter->embedding,
                          batch.tokens.subspan(own.first, own.count), size,
                          y + uint64_t{own.first} * size);
    }
  }
  /// REQUIRES: a workspace, whose arrays these are.
  void normalise(const float* x, uint64_t rows, const float* weight, float* y) const {
    const ModelConfig& config = recipe.config();
    ops::rms_norm(device, x, rows, config.hidden_size, weight, config.rms_norm_eps, y);
  }
};

namespace {

/// Position of every row, and that the groups cover the rows in order.
void place_rows(const ForwardBatch& batch, std::span<uint32_t> positions) {
  uint32_t next = 0;
  for (const attention::RowGroup& group : batch.groups) {
    TESSERA_CHECK(group.first_row == next);
    TESSERA_CHECK(group.row_count <= positions.size() - next);
    for (uint32_t i = 0; i < group.row_count; ++i) {
      positions[next + i] = group.first_position + (group.beam == nullptr ? i : 0);
    }
    next += group.row_count;
  }
  TESSERA_CHECK(next == positions.size());
}

/// All memory of passes is made by make_memory().
Workspace& own(PassMemory& memory) { return static_cast<Workspace&>(memory); }

}  // namespace

ProcessorDecoder::ProcessorDecoder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ProcessorDecoder::~ProcessorDecoder() = default;

Result<std::shared_ptr<ProcessorDecoder>> ProcessorDecoder::load(
    const std::string& folder, ComputeType type, device::Device& device,
    const std::string& scales_path, std::span<const Family> known,
    std::span<const int32_t> head_tokens) {
  if (!scales_path.empty() && type != ComputeType::kW8A8) {
    return Status(Code::kRequestInvalid, "activationScalesPath: expected none for " +
                                             std::string(compute_type_name(type)) + ", got " +
                                             scales_path);
  }
  if (type == ComputeType::kW8A8Static) {
    return Status(Code::kRequestInvalid,
                  "computeType: expected f32, bf16 or w8a8 for a model that is no encoder, got " +
                      std::string(compute_type_name(type)));
  }
  Result<ModelConfig> config = ModelConfig::load(folder, known);
  if (!config.is_ok()) return config.status();
  if (config.value().encodes_prompts() && type == ComputeType::kW8A8) {
    return Status(Code::kRequestInvalid,
                  "computeType: expected f32 or bf16 for a t5 model, got w8a8");
  }
  Recipe recipe(std::move(config).value());
  auto vocabulary = HeadVocabulary::of(head_tokens, recipe.config().vocab_size);
  if (!vocabulary.is_ok()) return vocabulary.status();
  Result<Weights> weights =
      Weights::load(folder, recipe, type, device, std::move(vocabulary).value());
  if (!weights.is_ok()) return weights.status();
  std::vector<LayerScales> scales = own_scales(recipe);
  if (!scales_path.empty()) {
    auto fixed = ActivationScales::load(scales_path, weights.value().digest(), recipe);
    if (!fixed.is_ok()) return fixed.status();
    scales = std::move(fixed.value().layers);
  }
  std::string numbers = numbers_text(type, device, scales_path.empty() ? nullptr : &scales);
  auto impl = std::unique_ptr<Impl>(new Impl{std::move(recipe), known, type, device,
                                             std::move(weights).value(), std::move(scales),
                                             std::move(numbers), !scales_path.empty()});
  {
    const MutexLock lock(impl->digest_mutex);
    impl->digest = impl->weights.digest();
  }
  return std::shared_ptr<ProcessorDecoder>(new ProcessorDecoder(std::move(impl)));
}

const Recipe& ProcessorDecoder::recipe() const { return impl_->recipe; }
ComputeType ProcessorDecoder::compute_type() const { return impl_->type; }
const HeadVocabulary& ProcessorDecoder::head_vocabulary() const {
  return impl_->weights.vocabulary();
}
std::string ProcessorDecoder::digest() const {
  const MutexLock lock(impl_->digest_mutex);
  return impl_->digest;
}
const std::string& ProcessorDecoder::numbers() const { return impl_->numbers; }

Result<WeightsUpdate> ProcessorDecoder::prepare_update(const std::string& folder) const {
  if (impl_->has_fixed_scales) {
    return Status(Code::kModelInvalid,
                  folder +
                      ": expected no update: the activation scales are fixed for the weights that "
                      "serve");
  }
  Result<ModelConfig> config = ModelConfig::load(folder, impl_->known);
  if (!config.is_ok()) return config.status();
  TESSERA_RETURN_IF_ERROR(check_same(folder, config.value()));
  return impl_->weights.prepare(folder, impl_->recipe, impl_->type, impl_->device);
}

Status ProcessorDecoder::update(WeightsUpdate update) {
  Impl& m = *impl_;
  Status status = m.weights.update(std::move(update), m.recipe, m.type, m.device);
  const MutexLock lock(m.digest_mutex);
  m.digest = m.weights.digest();
  return status;
}

bool ProcessorDecoder::is_intact() const { return impl_->weights.is_intact(); }

attention::BlockLayout ProcessorDecoder::block_layout() const {
  return impl_->recipe.block_layout(impl_->type);
}

uint64_t ProcessorDecoder::weight_bytes() const { return impl_->weights.packed_bytes(); }

std::string ProcessorDecoder::device_name() const { return impl_->device.name(); }

device::MemorySpace& ProcessorDecoder::memory() const { return impl_->device; }

Status ProcessorDecoder::clear(const attention::PromptKv& prompt, uint32_t first,
                               uint32_t count) const {
  using attention::kBlockPositions;
  const attention::BlockLayout layout = block_layout();
  const device::PanelType type = layout.panel_type();
  const uint64_t element_bytes = device::panel_element_bytes(type);
  for (uint32_t position = first; position < first + count; ++position) {
    char* block = static_cast<char*>(prompt.blocks[position / kBlockPositions]);
    const uint32_t slot = position % kBlockPositions;
    for (uint32_t layer = 0; layer < layout.layers; ++layer) {
      for (uint32_t head = 0; head < layout.kv_heads; ++head) {
        char* keys = block + layout.key_offset(layer, head);
        char* values = block + layout.value_offset(layer, head);
        for (uint32_t d = 0; d < layout.head_dim; ++d) {
          char* panel = values + d / device::kPanelColumns * layout.value_panel_bytes();
          std::memset(keys + device::panel_offset(type, d, slot), 0, element_bytes);
          std::memset(panel + device::panel_offset(type, slot, d % device::kPanelColumns), 0,
                      element_bytes);
        }
      }
    }
  }
  return Status::ok();
}

void ProcessorDecoder::embedding_row(uint32_t token, float* row) const {
  const auto id = static_cast<int32_t>(token);
  impl_->embed({&id, 1}, row);
}

void ProcessorDecoder::head_row(uint32_t token, float* row) const {
  ops::unpack_column(impl_->weights.head(), token, row);
}

void ProcessorDecoder::visit_in_file(
    uint32_t layer, const WeightSlot& slot,
    const std::function<void(const tensor::TensorView&)>& use) const {
  model::visit_in_file(impl_->weights.shards(),
                       impl_->weights.prefix() + config().layer_name(layer), slot, use);
}

Result<std::unique_ptr<PassMemory>> ProcessorDecoder::make_memory(uint32_t max_rows,
                                                                  uint32_t max_context,
                                                                  uint32_t max_adapters) const {
  TESSERA_CHECK(max_rows > 0);
  Result<std::unique_ptr<Workspace>> workspace = Workspace::allocate(
      impl_->recipe, impl_->type, max_rows, max_context, max_adapters, impl_->device);
  if (!workspace.is_ok()) return workspace.status();
  return std::unique_ptr<PassMemory>(std::move(workspace).value());
}

std::unique_ptr<Workspace> ProcessorDecoder::make_workspace(uint32_t max_rows, uint32_t max_context,
                                                            uint32_t max_adapters) const {
  Result<std::unique_ptr<PassMemory>> memory = make_memory(max_rows, max_context, max_adapters);
  if (!memory.is_ok()) return nullptr;
  return std::unique_ptr<Workspace>(static_cast<Workspace*>(std::move(memory).value().release()));
}

Status ProcessorDecoder::forward(const ForwardBatch& batch, PassMemory& memory) const {
  const Impl& m = *impl_;
  const uint64_t rows = batch.tokens.size();
  Workspace& ws = own(memory);
  TESSERA_CHECK(rows <= ws.max_rows());
  ws.begin(static_cast<uint32_t>(rows));
  const std::span<uint32_t> positions(ws.positions_.data(), rows);
  place_rows(batch, positions);
  if (config().encodes_prompts()) {
    forward_stacks(batch, ws);
    return Status::ok();
  }
  m.embed(batch, ws.hidden_);
  Pass pass(m.recipe, m.type, m.scales, m.device, batch, ws);
  for (size_t i = 0; i < m.recipe.layers().size(); ++i) {
    pass.run(m.recipe.layers()[i], m.weights.layers()[i]);
  }
  m.normalise(ws.hidden_, rows, m.weights.final_norm(), ws.normed_);
  return Status::ok();
}

/// The encoder's rows first, so that a prompt's decoder reads them in the same pass: its keys and
/// values of them take the place of those that the encoder had for itself.
void ProcessorDecoder::forward_stacks(const ForwardBatch& batch, Workspace& ws) const {
  const Impl& m = *impl_;
  const uint64_t hidden = config().hidden_size;
  const uint32_t first = config().t5.encoder_layers;
  const std::vector<Layer>& layers = m.recipe.layers();
  ws.stacks_.divide(batch);
  if (const StackRows& own = ws.stacks_.encoder; own.rows() > 0) {
    const ForwardBatch rows = own.batch();
    m.embed(rows, ws.hidden_);
    Pass pass(m.recipe, m.type, m.scales, m.device, rows, ws);
    for (size_t i = 0; i < first; ++i) pass.run(layers[i], m.weights.layers()[i]);
    m.normalise(ws.hidden_, own.rows(), m.weights.encoder_norm(), ws.hidden_);
    for (size_t i = first; i < layers.size(); ++i)
      pass.keep_encoded(layers[i], m.weights.layers()[i]);
    own.settle(ws.hidden_, hidden, ws.settled_);
  }
  if (const StackRows& own = ws.stacks_.decoder; own.rows() > 0) {
    const ForwardBatch rows = own.batch();
    m.embed(rows, ws.hidden_);
    Pass pass(m.recipe, m.type, m.scales, m.device, rows, ws);
    pass.begin_at(first);
    for (size_t i = first; i < layers.size(); ++i) pass.run(layers[i], m.weights.layers()[i]);
    m.normalise(ws.hidden_, own.rows(), m.weights.final_norm(), ws.normed_);
    if (config().t5.scales_output)
      ops::scale(ws.normed_, own.rows() * hidden, 1 / std::sqrt(static_cast<float>(hidden)));
    own.settle(ws.normed_, hidden, ws.settled_);
  }
  std::copy_n(ws.settled_, batch.tokens.size() * hidden, ws.normed_);
}

Result<std::span<const float>> ProcessorDecoder::hidden(PassMemory& memory, uint32_t first,
                                                        uint32_t count) const {
  const Workspace& workspace = own(memory);
  TESSERA_CHECK(uint64_t{first} + count <= workspace.rows());
  const uint64_t size = config().hidden_size;
  return std::span<const float>{workspace.normed_ + first * size, count * size};
}

Result<bool> ProcessorDecoder::is_finite(PassMemory& memory, uint32_t first, uint32_t count) const {
  const Workspace& workspace = own(memory);
  TESSERA_CHECK(uint64_t{first} + count <= workspace.rows());
  const uint64_t hidden = config().hidden_size;
  const float* values = workspace.normed_ + first * hidden;
  int32_t largest = 0;  // magnitudes compare as their bits do
  for (uint64_t i = 0; i < count * hidden; ++i)
    largest = std::max(largest, std::bit_cast<int32_t>(values[i]) & 0x7FFFFFFF);
  return largest < 0x7F800000;
}

Status ProcessorDecoder::head(std::span<const HeadRequest> requests, PassMemory& memory) const {
  constexpr size_t kRequestsAtOnce = 64;
  const Impl& m = *impl_;
  Workspace& workspace = own(memory);
  const uint64_t hidden = m.recipe.config().hidden_size;
  ops::HeadRows parts[kRequestsAtOnce];
  for (size_t begin = 0, end = 0; begin < requests.size(); begin = end) {
    uint64_t rows = 0;
    for (; end < requests.size() && end - begin < kRequestsAtOnce; ++end) {
      const HeadRequest& request = requests[end];
      for (const uint32_t row : request.rows) TESSERA_CHECK(row < workspace.rows());
      const bool has_columns = request.adapter != nullptr && !request.adapter->head.panels.empty();
      parts[end - begin] = {request.rows.size(), request.tokens, request.log_sum_exp,
                            has_columns ? &request.adapter->head : nullptr};
      rows += request.rows.size();
    }
    TESSERA_CHECK(rows <= workspace.max_rows());
    const ops::Operand x = workspace.operand(head_panels(m.type), rows, hidden);
    uint64_t first = 0;
    for (const HeadRequest& request : requests.subspan(begin, end - begin)) {
      ops::write_operand(m.device, workspace.normed_, hidden, request.rows, first, x);
      first += request.rows.size();
    }
    ops::head(m.device, x, m.weights.head(), {parts, end - begin}, workspace.head_scratch_);
  }
  return Status::ok();
}

}  // namespace tessera::model
