#include "model/weights.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "model/weight_names.h"
#include "model/weights_scan.h"
#include "ops/convert.h"
#include "ops/quantise.h"

namespace tessera::model {

using device::PanelType;
using tensor::DType;
using tensor::TensorView;

namespace {
/// How a tensor is kept: a vector copied as F32, a matrix packed, the embedding as rows.
struct Vector {
  const float** target;
  bool adds_one = false;    // to each number
  bool transposes = false;  // of channels by taps
};
struct Matrix {
  ops::PackedMatrix* target;
  PanelType type;
  uint32_t input = 0;  // that it reads, among Layer::inputs(), where its scales are static
  /// Side by side with the matrix of the slot before, panel by panel.
  bool beside_previous = false;
  const HeadVocabulary* vocabulary = nullptr;  // of the head
};
struct Table {
  TensorView* target;
  DType type;
};

constexpr uint64_t kBatchBytes = 64u << 20;    // of the file, scanned and then packed at a time
constexpr uint64_t kPreparedBytes = 4u << 20;  // scanned at a time while the decoder serves

uint64_t aligned(uint64_t bytes) {
  constexpr uint64_t kAlignment = device::Device::kAlignment;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

/// A tensor that the decoder needs: where it comes from and where it goes.
struct Weights::Slot {
  std::string name;
  std::vector<uint64_t> shape;
  std::variant<Vector, Matrix, Table> kind;
  uint32_t layer = 0;          // 0 for those of none as well
  WeightSlot::Part part = {};  // where it may be instead
  const TensorEntry* entry = nullptr;
  uint64_t first_row = 0;      // of the entry's rows
  bool begins_entry = true;    // no slot before it is of the same entry
  bool ends_entry = true;      // likewise behind it
  bool is_in_place = false;    // read where the file has it
  uint64_t offset = 0;         // in the weights' memory
  uint64_t scales_offset = 0;  // likewise, where it is quantised

  uint64_t columns() const { return shape.size() > 1 ? shape.back() : 0; }
  TensorView view() const {
    return {static_cast<const char*>(static_cast<const void*>(entry->bytes.data())) +
                first_row * columns() * tensor::dtype_size(*entry->type),
            *entry->type,
            std::min(static_cast<uint32_t>(shape.size()), 2u),
            {shape[0], columns()}};
  }
  bool may_be_in_place() const {
    const Table* table = std::get_if<Table>(&kind);
    if (table == nullptr || *entry->type != table->type) return false;
    return reinterpret_cast<uintptr_t>(entry->bytes.data()) % tensor::dtype_size(table->type) == 0;
  }
  /// Bytes of the weights' memory that it takes.
  uint64_t bytes() const {
    if (const Matrix* matrix = std::get_if<Matrix>(&kind)) {
      if (matrix->vocabulary == nullptr || matrix->vocabulary->is_whole()) {
        return ops::packed_bytes(matrix->type, shape[1], shape[0]);
      }
      return matrix->vocabulary->panels().size() * device::panel_bytes(matrix->type, shape[1]);
    }
    if (const Table* table = std::get_if<Table>(&kind)) {
      return is_in_place ? 0 : aligned(shape[0] * shape[1] * tensor::dtype_size(table->type));
    }
    return aligned(shape[0] * std::max<uint64_t>(1, columns()) * sizeof(float));
  }
  /// Bytes of its scales, which lie behind all matrices.
  uint64_t scale_bytes() const {
    const Matrix* matrix = std::get_if<Matrix>(&kind);
    if (matrix == nullptr) return 0;
    return aligned(ops::scale_count(shape[1], shape[0], matrix->type) * sizeof(float));
  }
};

void Weights::block_slots(const LayerBlock& block, const std::string& prefix, ComputeType type,
                          Place place, BlockWeights& weights, std::vector<Slot>& slots) {
  for (const WeightSlot& slot : block.slots()) {
    Slot& added = slots.emplace_back(
        Slot{prefix + slot.name, slot.shape(), Vector{nullptr}, place.layer, slot.part});
    if (!slot.part.name.empty()) added.part.name = prefix + slot.part.name;
    if (slot.kind == WeightSlot::Kind::kMatrix) {
      const bool is_static = type == ComputeType::kW8A8Static;
      added.kind = Matrix{&weights.matrices[slot.number], layer_panels(type),
                          is_static ? place.first_input + block.input_of(slot.number) : 0,
                          slot.beside_previous};
    } else {
      added.kind = Vector{&weights.vectors[slot.number], slot.adds_one, slot.taps > 0};
    }
  }
}

void Weights::make_layers(const Recipe& recipe) {
  if (!layers_.empty()) return;
  if (recipe.entry() != nullptr) entry_ = recipe.entry()->empty_weights();
  for (const Layer& layer : recipe.layers()) {
    LayerWeights& weights = layers_.emplace_back();
    for (const auto& block : layer.blocks) weights.push_back(block->empty_weights());
  }
}

std::vector<Weights::Slot> Weights::slots(const Recipe& recipe, ComputeType type) {
  const ModelConfig& config = recipe.config();
  const TensorNames& names = config.family->names;
  const std::vector<uint64_t> table = {config.vocab_size, config.hidden_size};
  const Matrix head{&head_, head_panels(type), 0, false, &vocabulary_};
  const std::string embedding = prefix_ + std::string(names.embedding);
  const WeightSlot::Part as_head =
      config.tie_word_embeddings ? WeightSlot::Part{kHeadName, table, 0} : WeightSlot::Part{};
  std::vector<Slot> slots;
  make_layers(recipe);
  // A head that is cut has not the rows of all tokens that prompts are made of.
  if (!recipe.is_tied() || !vocabulary_.is_whole()) {
    slots.push_back({embedding, table, Table{&embedding_, storage_type(type)}, 0, as_head});
  }
  if (recipe.is_tied()) slots.push_back({embedding, table, head, 0, as_head});
  if (recipe.entry() != nullptr) block_slots(*recipe.entry(), prefix_, type, {}, entry_, slots);
  for (uint32_t i = 0; i < config.layer_count; ++i) {
    const std::string prefix = prefix_ + config.layer_name(i);
    const Layer& layer = recipe.layers()[i];
    uint32_t inputs = 0;  // of the blocks before
    for (size_t j = 0; j < layer.blocks.size(); ++j) {
      block_slots(*layer.blocks[j], prefix, type, {i, inputs}, layers_[i][j], slots);
      inputs += static_cast<uint32_t>(layer.blocks[j]->inputs().size());
    }
  }
  const auto add_norm = [&](std::string_view name, const Vector& norm) {
    if (!name.empty()) slots.push_back({prefix_ + std::string(name), {config.hidden_size}, norm});
  };
  add_norm(names.encoder_norm, {&encoder_norm_});
  add_norm(names.final_norm, {&final_norm_, config.family->norm_adds_one});
  if (recipe.purpose() == Purpose::kLogits && !recipe.is_tied()) {
    slots.push_back({kHeadName, table, head});
  }
  return slots;
}

/// An entry of many slots is looked through with the first and given back with the last.
void Weights::mark_entries(std::vector<Slot>& slots) {
  std::unordered_map<const TensorEntry*, Slot*> last;
  for (Slot& slot : slots) {
    const auto [found, is_new] = last.try_emplace(slot.entry, &slot);
    slot.begins_entry = is_new;
    slot.ends_entry = true;
    if (!is_new) std::exchange(found->second, &slot)->ends_entry = false;
  }
}

Status Weights::check(const Shards& shards, const std::string& prefix, const Recipe& recipe,
                      std::vector<Slot>& slots) {
  const ModelConfig& config = recipe.config();
  const auto invalid = [&](const std::string& name, const std::string& expected,
                           const std::string& got) {
    return Status(Code::kModelInvalid,
                  shards.folder() + ": " + name + ": expected " + expected + ", got " + got);
  };
  std::unordered_set<std::string_view> needed;
  for (Slot& slot : slots) {
    slot.entry = shards.find(slot.name);
    const bool is_part =
        slot.entry == nullptr && !slot.part.name.empty() && shards.find(slot.part.name) != nullptr;
    if (is_part) slot.entry = shards.find(slot.part.name);
    slot.first_row = is_part ? slot.part.first_row : 0;
    const std::string& name = is_part ? slot.part.name : slot.name;
    const std::vector<uint64_t>& shape = is_part ? slot.part.shape : slot.shape;
    needed.insert(name);
    if (slot.entry == nullptr) {
      const bool has_parts = !slot.part.name.empty();
      return invalid(has_parts ? name + " or " + slot.part.name : name, "a tensor", "nothing");
    }
    if (!slot.entry->type) return invalid(name, "F32, BF16 or F16", slot.entry->dtype);
    if (slot.entry->shape != shape) {
      return invalid(name, "shape " + shape_text(shape), shape_text(slot.entry->shape));
    }
  }
  mark_entries(slots);
  for (const auto& [name, entry] : shards.tensors()) {
    if (needed.count(name) == 0 && !may_be_ignored(name, prefix, recipe)) {
      return invalid(name,
                     "no such tensor in a " + std::string(config.family->model_type) + " model",
                     "shape " + shape_text(entry.shape));
    }
  }
  return Status::ok();
}

uint64_t Weights::place(std::vector<Slot>& slots) {
  uint64_t bytes = 0;
  for (Slot& slot : slots) {
    slot.offset = bytes;
    bytes += slot.bytes();
  }
  for (Slot& slot : slots) {
    slot.scales_offset = bytes;
    bytes += slot.scale_bytes();
  }
  return bytes;
}

Status Weights::reserve(std::vector<Slot>& slots, ComputeType type, device::Device& device) {
  for (Slot& slot : slots) slot.is_in_place = slot.may_be_in_place();
  const uint64_t bytes = place(slots);
  const uint64_t available = device.available_bytes();
  if (bytes > available) {
    return {Code::kEngineOverloaded,
            "modelPath: expected weights of at most " + std::to_string(available) + " bytes as " +
                std::string(compute_type_name(type)) +
                ", the memory that the machine or its cgroup has left, got " + shards_.folder() +
                " with " + std::to_string(bytes)};
  }
  Result<device::Buffer> memory = device.allocate(bytes);
  if (!memory.is_ok()) {
    return {memory.status().code(), shards_.folder() + ": " + memory.status().message()};
  }
  memory_ = std::move(memory).value();
  char* base = memory_.as<char>();
  ops::PackedMatrix* previous = nullptr;
  for (const Slot& slot : slots) {
    if (const Vector* vector = std::get_if<Vector>(&slot.kind)) {
      *vector->target = reinterpret_cast<const float*>(base + slot.offset);
    } else if (const Table* table = std::get_if<Table>(&slot.kind)) {
      const void* data = slot.is_in_place ? slot.view().data : base + slot.offset;
      *table->target = {data, table->type, 2, {slot.shape[0], slot.shape[1]}};
    } else {
      const Matrix& matrix = std::get<Matrix>(slot.kind);
      const uint64_t panel = device::panel_bytes(matrix.type, slot.shape[1]);
      *matrix.target = {matrix.type,
                        base + slot.offset,
                        slot.shape[1],
                        slot.shape[0],
                        panel,
                        nullptr,
                        matrix.vocabulary == nullptr ? nullptr : matrix.vocabulary->places()};
      if (slot.scale_bytes() > 0) {
        matrix.target->scales = reinterpret_cast<float*>(base + slot.scales_offset);
      }
      if (matrix.beside_previous) {
        matrix.target->panels = static_cast<char*>(previous->panels) + panel;
        matrix.target->panel_stride = previous->panel_stride = 2 * panel;
      }
      previous = matrix.target;
    }
  }
  return Status::ok();
}

void Weights::write_matrix(const Slot& slot, device::Device& device, const StaticScales* scales) {
  const Matrix& matrix = std::get<Matrix>(slot.kind);
  if (matrix.type == PanelType::kStaticI8) {
    const StaticInput& input = scales->input(slot.layer, matrix.input);
    ops::quantise_static(device, slot.view(), input.input_scales(), *matrix.target);
  } else {
    const auto write = matrix.type == PanelType::kI8 ? ops::quantise : ops::pack;
    write(device, slot.view(), *matrix.target);
  }
}

/// Scans and then packs some tensors at a time; returns the digest of all. The caller handles
/// tensors that are read in place.
Result<std::string> Weights::stream(const std::vector<Slot>& slots, const Shards& shards,
                                    const Recipe& recipe, device::Device& device,
                                    const StaticScales* scales) {
  WeightsScan scan(device, shards.folder(), recipe.config().canonical_text());
  for (size_t begin = 0, end = 0; begin < slots.size(); begin = end) {
    std::vector<const TensorEntry*> entries;
    for (uint64_t bytes = 0; end < slots.size() && bytes < kBatchBytes; ++end) {
      if (slots[end].layer != slots[begin].layer) break;
      if (!slots[end].begins_entry) continue;
      entries.push_back(slots[end].entry);
      bytes += slots[end].entry->bytes.size();
    }
    TESSERA_RETURN_IF_ERROR(scan.add(entries));
    for (size_t i = begin; i < end; ++i) {
      const Slot& slot = slots[i];
      char* to = memory_.as<char>() + slot.offset;
      if (std::holds_alternative<Matrix>(slot.kind)) {
        write_matrix(slot, device, scales);
      } else if (const Vector* vector = std::get_if<Vector>(&slot.kind)) {
        ops::convert(device, slot.view(), DType::kF32, to);
        float* const x = reinterpret_cast<float*>(to);
        if (vector->adds_one) ops::add_one(x, slot.shape[0]);
        if (vector->transposes) ops::transpose(x, slot.shape[0], slot.columns());
      } else if (!slot.is_in_place) {
        ops::convert(device, slot.view(), std::get<Table>(slot.kind).type, to);
      }
      if (slot.ends_entry) shards.release(*slot.entry);
    }
  }
  return scan.digest();
}

Result<Weights> Weights::load(const std::string& folder, const Recipe& recipe, ComputeType type,
                              device::Device& device, HeadVocabulary vocabulary,
                              const StaticScales* scales) {
  TESSERA_CHECK((scales != nullptr) == (type == ComputeType::kW8A8Static));
  Result<Shards> shards = Shards::open(folder);
  if (!shards.is_ok()) return shards.status();
  Weights weights;
  weights.shards_ = std::move(shards).value();
  weights.vocabulary_ = std::move(vocabulary);
  weights.prefix_ = find_prefix(weights.shards_, recipe);
  std::vector<Slot> slots = weights.slots(recipe, type);
  TESSERA_RETURN_IF_ERROR(check(weights.shards_, weights.prefix_, recipe, slots));
  TESSERA_RETURN_IF_ERROR(weights.reserve(slots, type, device));
  TESSERA_RETURN_IF_ERROR(check_copies(weights.shards_, weights.prefix_, recipe));
  Result<std::string> digest = weights.stream(slots, weights.shards_, recipe, device, scales);
  if (!digest.is_ok()) return digest.status();
  weights.digest_ = std::move(digest).value();
  return weights;
}

bool Weights::reads_in_place() const {
  const char* data = static_cast<const char*>(embedding_.data);
  const char* begin = memory_.as<char>();
  return data != nullptr && (data < begin || data >= begin + memory_.size());
}

Result<WeightsUpdate> Weights::prepare(const std::string& folder, const Recipe& recipe,
                                       ComputeType type, device::Device& device) const {
  Result<Shards> shards = Shards::open(folder);
  if (!shards.is_ok()) return shards.status();
  WeightsUpdate update;
  update.shards_ = std::move(shards).value();
  Weights shape;  // whose slots have the names and shapes; it holds no bytes
  shape.prefix_ = update.prefix_ = find_prefix(update.shards_, recipe);
  shape.vocabulary_ = vocabulary_;
  std::vector<Slot> slots = shape.slots(recipe, type);
  TESSERA_RETURN_IF_ERROR(check(update.shards_, update.prefix_, recipe, slots));
  TESSERA_RETURN_IF_ERROR(check_copies(update.shards_, update.prefix_, recipe));
  WeightsScan scan(device, folder, recipe.config().canonical_text(), kPreparedBytes);
  for (const Slot& slot : slots) {
    if (std::holds_alternative<Table>(slot.kind) && reads_in_place() && !slot.may_be_in_place()) {
      return Status(Code::kModelInvalid,
                    folder + ": " + slot.name + ": expected " +
                        std::string(tensor::dtype_name(embedding_.type)) +
                        " at an aligned place, as in the weights that serve, got " +
                        slot.entry->dtype);
    }
    if (slot.begins_entry) TESSERA_RETURN_IF_ERROR(scan.add({&slot.entry, 1}));
    if (slot.ends_entry) update.shards_.release(*slot.entry);
  }
  update.digest_ = scan.digest();
  return update;
}

Status Weights::update(WeightsUpdate update, const Recipe& recipe, ComputeType type,
                       device::Device& device) {
  std::vector<Slot> slots;
  const bool in_place = reads_in_place();
  const auto write = [&](const Shards& shards, const std::string& expected) -> Status {
    slots = this->slots(recipe, type);
    TESSERA_RETURN_IF_ERROR(check(shards, prefix_, recipe, slots));
    for (Slot& slot : slots)
      slot.is_in_place = in_place && std::holds_alternative<Table>(slot.kind);
    place(slots);
    const Result<std::string> digest = stream(slots, shards, recipe, device);
    if (!digest.is_ok()) return digest.status();
    if (digest.value() == expected) return Status::ok();
    return {Code::kModelCorrupt, shards.folder() + ": expected the content " + expected +
                                     " that was looked through, got " + digest.value()};
  };
  std::swap(prefix_, update.prefix_);
  const Status status = write(update.shards_, update.digest_);
  if (!status.is_ok()) {
    std::swap(prefix_, update.prefix_);
    is_intact_ = write(shards_, digest_).is_ok();
    return status;
  }
  for (const Slot& slot : slots) {
    if (slot.is_in_place) *std::get<Table>(slot.kind).target = slot.view();
  }
  shards_ = std::move(update.shards_);
  digest_ = std::move(update.digest_);
  return Status::ok();
}

}  // namespace tessera::model
