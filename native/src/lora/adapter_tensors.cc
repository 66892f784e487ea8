#include "lora/adapter_tensors.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "lora/stacked_factors.h"
#include "lora/tensor_names.h"
#include "model/recipe.h"
#include "model/weight_names.h"
#include "platform/file.h"

namespace tessera::lora {
namespace {

using model::ModelConfig;
using model::shape_text;
using model::TensorEntry;

constexpr std::string_view kConfigFile = "adapter_config.json";
constexpr std::string_view kTensorsFile = "adapter_model.safetensors";
constexpr std::string_view kPickleFile = "adapter_model.bin";
constexpr std::string_view kDelta = ".token_adapter.trainable_tokens_delta";

/// Takes the tensors of a file one by one.
class TensorReader {
 public:
  TensorReader(std::string file, const ModelConfig& model, const Limits& limits,
               const PeftConfig& config)
      : file_(std::move(file)), model_(model), limits_(limits), config_(config) {}

  Status read(std::vector<TensorEntry> entries, AdapterTensors& to) {
    TESSERA_RETURN_IF_ERROR(check_tensor_names(file_, entries));
    find_prefix(entries);
    for (TensorEntry& entry : entries) {
      if (!model::is_of_another(entry.name, *model_.family, kAdapterPrefix))
        entries_.emplace(entry.name, std::move(entry));
    }
    const model::Recipe recipe(model_);
    for (uint32_t layer = 0; layer < model_.layer_count; ++layer) {
      const std::vector<const model::WeightSlot*> matrices = recipe.layers()[layer].matrices();
      for (uint32_t i = 0; i < matrices.size(); ++i) {
        TESSERA_RETURN_IF_ERROR(read_factors(layer, i, *matrices[i], to));
      }
      TESSERA_RETURN_IF_ERROR(read_stacked(layer, matrices, to));
    }
    TESSERA_RETURN_IF_ERROR(check_experts());
    const TokenIndices& ids = config_.token_indices;
    TESSERA_RETURN_IF_ERROR(check_saved(recipe));
    TESSERA_RETURN_IF_ERROR(read_rows(prefix_ + "embed_tokens", ids.embedding, to.embedding));
    // PEFT saves rows of both sides of a tied model once.
    const std::string delta = std::string(kAdapterPrefix) + "lm_head" + std::string(kDelta);
    const bool is_once = model_.tie_word_embeddings && ids.head && ids.head == ids.embedding &&
                         !entries_.contains(delta);
    if (!is_once) TESSERA_RETURN_IF_ERROR(read_rows("lm_head", ids.head, to.head));
    TESSERA_RETURN_IF_ERROR(check_sides(to));
    TESSERA_RETURN_IF_ERROR(read_row_factors(prefix_ + "embed_tokens", "embedding_", to.embedding));
    TESSERA_RETURN_IF_ERROR(read_row_factors("lm_head", "", to.head));
    const bool is_tied = model_.tie_word_embeddings;
    const bool has_rows_of_both = is_tied && to.embedding.is_there && !to.embedding.is_whole;
    to.head_is_embedding = has_rows_of_both && !to.head.is_there;
    to.head_adds_to_embedding = has_rows_of_both && to.head.factors.has_value();
    return refuse_rest(to);
  }

 private:
  Status invalid(const std::string& name, const std::string& expected,
                 const std::string& got) const {
    return {Code::kAdapterInvalid, file_ + ": " + name + ": expected " + expected + ", got " + got};
  }

  /// Finds the prefix of a folder of several models: of all of them, or of the decoder alone.
  void find_prefix(const std::vector<TensorEntry>& entries) {
    if (model_.family->is_t5) prefix_.clear();
    for (const std::string_view own : model_.family->names.prefixes) {
      const std::string whole = std::string(kAdapterPrefix) + std::string(own);
      const auto is_own = [&](const TensorEntry& entry) { return entry.name.starts_with(whole); };
      const bool is_longer = own.size() > prefix_.size();
      if (is_longer && std::any_of(entries.begin(), entries.end(), is_own)) prefix_ = own;
    }
  }

  std::string layer_prefix(uint32_t layer) const { return prefix_ + model_.layer_name(layer); }

  /// Null when there is none. An entry that was taken is left over no more.
  Result<TensorEntry> take(const std::string& name, const std::vector<uint64_t>& shape) {
    auto found = entries_.extract(name);
    if (found.empty()) return invalid(name, "a tensor", "nothing");
    TensorEntry& entry = found.mapped();
    if (!entry.type) return invalid(name, "F32, BF16 or F16", entry.dtype);
    if (entry.shape == shape) return std::move(entry);
    return invalid(name, "shape " + shape_text(shape),
                   shape_text(entry.shape) + cause(entry, shape));
  }

  /// Why a tensor may have another shape, where that can be told; the vocabulary is any of sizes.
  std::string cause(const TensorEntry& entry, const std::vector<uint64_t>& shape) const {
    if (entry.bytes.empty()) {
      return " (weights that were sharded have to be gathered before they are saved)";
    }
    const uint64_t base_rows = model_.vocab_size;
    for (size_t i = 0; shape.size() == 2 && i < 2 && entry.shape.size() == 2; ++i) {
      const bool is_of_rows = shape[i] == base_rows && entry.shape[1 - i] == shape[1 - i];
      if (!is_of_rows || entry.shape[i] == base_rows) continue;
      const std::string has = " (the base has " + std::to_string(base_rows) + " rows: ";
      return has + (entry.shape[i] > base_rows
                        ? "extend the base model's vocabulary and serve that first)"
                        : "it was trained on a base of fewer)");
    }
    return "";
  }

  Status read_factors(uint32_t layer, uint32_t matrix, const model::WeightSlot& slot,
                      AdapterTensors& to) {
    const std::string module = layer_prefix(layer) + std::string(slot.module());
    const std::string name = std::string(kAdapterPrefix) + module;
    const std::string a_name = name + ".lora_A.weight", b_name = name + ".lora_B.weight";
    const bool is_there = entries_.contains(a_name) || entries_.contains(b_name);
    const bool is_asked = config_.targets(module, layer);
    if (!is_there && (!is_asked || config_.targets_are_unknown())) return Status::ok();
    if (!is_there && !slot.part.name.empty()) {  // trainers keep experts apart or together
      if (missing_.empty()) missing_ = a_name;
      return Status::ok();
    }
    has_experts_apart_ = has_experts_apart_ || !slot.part.name.empty();
    if (is_there && !is_asked && !config_.targets_are_unknown()) return not_named(name);
    const uint32_t rank = rank_of(module, a_name);
    Factors factors{module, layer, matrix, rank, config_.scale_of(module, rank), {}, {}};
    TESSERA_RETURN_IF_ERROR(check_rank(module, factors.rank));
    Result<TensorEntry> a = take(a_name, {factors.rank, slot.inputs});
    if (!a.is_ok()) return a.status();
    Result<TensorEntry> b = take(b_name, {slot.outputs, factors.rank});
    if (!b.is_ok()) return b.status();
    factors.a = std::move(a).value();
    factors.b = std::move(b).value();
    TESSERA_RETURN_IF_ERROR(read_magnitudes(slot.outputs, factors));
    to.factors.push_back(std::move(factors));
    return Status::ok();
  }

  Status not_named(const std::string& name) const {
    return invalid(name, "no factors (target_modules does not name it)", "a tensor");
  }

  Status read_magnitudes(uint64_t outputs, Factors& to) {
    if (!config_.uses_dora) return Status::ok();
    const std::string name = std::string(kAdapterPrefix) + to.module + ".lora_magnitude_vector";
    Result<TensorEntry> magnitudes = take(name, {outputs});
    if (!magnitudes.is_ok()) return magnitudes.status();
    to.magnitudes = std::move(magnitudes).value();
    return Status::ok();
  }

  /// Factors of parameters that hold the matrices of all experts. PEFT wraps one parameter of a
  /// module around the other: the last stands outside.
  Status read_stacked(uint32_t layer, const std::vector<const model::WeightSlot*>& matrices,
                      AdapterTensors& to) {
    std::vector<const model::WeightSlot*> parameters;  // a slot of each
    for (const model::WeightSlot* slot : matrices) {
      const std::string& name = slot->part.name;
      if (name.empty() || !config_.targets_parameter(layer_prefix(layer) + name)) continue;
      if (std::none_of(parameters.begin(), parameters.end(),
                       [&](const model::WeightSlot* other) { return other->part.name == name; })) {
        parameters.push_back(slot);
      }
    }
    std::string wrappers;
    for (auto slot = parameters.rbegin(); slot != parameters.rend(); ++slot) {
      TESSERA_RETURN_IF_ERROR(read_parameter(layer, (*slot)->part, wrappers, matrices, to));
      wrappers += ".base_layer";
    }
    has_stacked_ = has_stacked_ || !parameters.empty();
    return Status::ok();
  }

  Status read_parameter(uint32_t layer, const model::WeightSlot::Part& part,
                        const std::string& wrappers,
                        const std::vector<const model::WeightSlot*>& matrices, AdapterTensors& to) {
    const std::string parameter = layer_prefix(layer) + part.name;
    const std::string module = parameter.substr(0, parameter.rfind('.')) + wrappers;
    StackedFactors stacked{{}, {}, config_.rank_of(parameter)};
    TESSERA_RETURN_IF_ERROR(check_rank(parameter, stacked.rank));
    Result<TensorEntry> a = take(std::string(kAdapterPrefix) + module + ".lora_A.weight",
                                 StackedFactors::a_shape(part, stacked.rank));
    if (!a.is_ok()) return a.status();
    Result<TensorEntry> b = take(std::string(kAdapterPrefix) + module + ".lora_B.weight",
                                 StackedFactors::b_shape(part, stacked.rank));
    if (!b.is_ok()) return b.status();
    stacked.a = std::move(a).value();
    stacked.b = std::move(b).value();
    for (uint32_t i = 0; i < matrices.size(); ++i) {
      const model::WeightSlot& slot = *matrices[i];
      if (slot.part.name != part.name) continue;
      auto& bytes = *to.copies.emplace_back(std::make_unique<std::vector<std::byte>>());
      to.factors.push_back({layer_prefix(layer) + std::string(slot.module()), layer, i,
                            stacked.rank, config_.scale_of(parameter, stacked.rank),
                            stacked.a_of(slot), stacked.b_of(slot, bytes)});
    }
    return Status::ok();
  }

  /// Experts that the configuration asks for have factors apart or together, all or none.
  Status check_experts() const {
    if (has_experts_apart_ && !missing_.empty()) return invalid(missing_, "a tensor", "nothing");
    if (has_experts_apart_ && has_stacked_) {
      return invalid("target_parameters", "experts with factors of their own or together", "both");
    }
    if (config_.target_parameters.kind != ModuleSet::Kind::kNone &&
        !config_.target_parameters.endings.empty() && !has_stacked_) {
      return invalid("target_parameters", "parameters of the model's experts",
                     config_.target_parameters.endings.front());
    }
    return Status::ok();
  }

  /// Rank as configured; that of the tensor where a pattern of ranks cannot be matched.
  uint32_t rank_of(const std::string& module, const std::string& a_name) const {
    const auto found = entries_.find(a_name);
    const bool has_rank = found != entries_.end() && found->second.shape.size() == 2 &&
                          found->second.shape[0] >= 1 && found->second.shape[0] <= ops::kRankMax;
    if (!config_.ranks_are_unknown || !has_rank) return config_.rank_of(module);
    return static_cast<uint32_t>(found->second.shape[0]);
  }

  Status check_rank(const std::string& module, uint32_t rank) const {
    if (rank <= limits_.rank_max) return Status::ok();
    return invalid(module, "a rank of at most " + std::to_string(limits_.rank_max),
                   std::to_string(rank));
  }

  /// Factors of the embedding (`kind` "embedding_") or of the head, beside no rows of it.
  Status read_row_factors(const std::string& module, const std::string& kind, Rows& to) {
    const std::string name = std::string(kAdapterPrefix) + module;
    const bool is_embedding = !kind.empty();
    const std::string ending = is_embedding ? "" : ".weight";
    const std::string a_name = name + ".lora_" + kind + "A" + ending;
    const std::string b_name = name + ".lora_" + kind + "B" + ending;
    const bool is_there = entries_.contains(a_name) || entries_.contains(b_name);
    const bool is_asked = config_.targets_outside_layers(module);
    // PEFT makes no factors of a module that is saved whole, whatever names it.
    const bool is_needed = is_asked && !config_.targets_are_unknown() && !to.is_whole;
    if (!is_there && !is_needed) return Status::ok();
    if (to.is_there) return invalid(name, "factors or rows of its own", "both");
    if (!is_asked && !config_.targets_are_unknown()) return not_named(a_name);
    if (config_.ties_weights && model_.tie_word_embeddings) {
      return invalid("ensure_weight_tying", "false beside factors of " + module, "true");
    }
    const uint32_t rank = rank_of(module, a_name);
    TESSERA_RETURN_IF_ERROR(check_rank(module, rank));
    const uint64_t inputs = is_embedding ? model_.vocab_size : model_.hidden_size;
    const uint64_t outputs = is_embedding ? model_.hidden_size : model_.vocab_size;
    Result<TensorEntry> a = take(a_name, {rank, inputs});
    if (!a.is_ok()) return a.status();
    Result<TensorEntry> b = take(b_name, {outputs, rank});
    if (!b.is_ok()) return b.status();
    // PEFT saves the matrix that the factors are added to beside them.
    const std::string base_name = name + ".base_layer.weight";
    if (entries_.contains(base_name)) {
      Result<TensorEntry> base = take(base_name, {model_.vocab_size, model_.hidden_size});
      if (!base.is_ok()) return base.status();
      to.entry = std::move(base).value();
    }
    to.is_there = to.is_whole = true;
    to.factors = Factors{module,
                         0,
                         0,
                         rank,
                         config_.scale_of(module, rank),
                         std::move(a).value(),
                         std::move(b).value()};
    return read_magnitudes(outputs, *to.factors);
  }

  /// Names that mean none of the decoder's modules may mean others of the folder, or nothing.
  Status check_saved(const model::Recipe& recipe) const {
    std::vector<std::string> tensors = {prefix_ + std::string(model_.family->names.final_norm)};
    for (uint32_t layer = 0; layer < model_.layer_count; ++layer) {
      for (const auto& block : recipe.layers()[layer].blocks) {
        for (const auto& slot : block->slots()) tensors.push_back(layer_prefix(layer) + slot.name);
      }
    }
    for (const std::string& name : config_.saved_modules.endings) {
      const bool is_of_decoder = std::ranges::any_of(tensors, [&](const std::string& tensor) {
        return tensor.find(name + ".") != std::string::npos;  // it ends a module around that
      });
      if (is_of_decoder) return invalid("modules_to_save", "embed_tokens or lm_head", name);
    }
    return Status::ok();
  }

  /// PEFT loads into the one table of a tied model what modules_to_save does not take apart.
  Status check_sides(const AdapterTensors& found) const {
    const TensorEntry &embedding = found.embedding.entry, &head = found.head.entry;
    const bool are_saved = config_.saves(prefix_ + "embed_tokens") || config_.saves("lm_head");
    const bool are_apart = are_saved && !config_.ties_weights;
    const bool is_whole = found.embedding.is_whole || found.head.is_whole;
    if (!model_.tie_word_embeddings || are_apart || !is_whole) return Status::ok();
    if (embedding.type == head.type && std::ranges::equal(embedding.bytes, head.bytes)) {
      return Status::ok();
    }
    return invalid(config_.ties_weights ? "ensure_weight_tying" : "modules_to_save",
                   "the same rows of embed_tokens and lm_head, or one that it takes apart",
                   "rows that differ");
  }

  Status read_rows(const std::string& module, const std::optional<std::vector<uint32_t>>& ids,
                   Rows& to) {
    const std::string whole = std::string(kAdapterPrefix) + module + ".weight";
    const std::string some = std::string(kAdapterPrefix) + module + std::string(kDelta);
    to.is_whole = entries_.contains(whole) || config_.saves(module);
    const bool has_ids = ids.has_value() && !ids->empty();
    to.is_there = to.is_whole || has_ids || entries_.contains(some);
    if (!to.is_there) return Status::ok();
    if (!to.is_whole && !has_ids) {
      return invalid(some, "trainable_token_indices to name its rows", "none");
    }
    if (!to.is_whole) to.ids = *ids;
    for (const uint32_t id : to.ids) {
      if (id < model_.vocab_size) continue;
      return invalid("trainable_token_indices",
                     "tokens in 0.." + std::to_string(model_.vocab_size - 1), std::to_string(id));
    }
    const uint64_t rows = to.is_whole ? model_.vocab_size : to.ids.size();
    Result<TensorEntry> entry = take(to.is_whole ? whole : some, {rows, model_.hidden_size});
    if (!entry.is_ok()) return entry.status();
    to.entry = std::move(entry).value();
    return Status::ok();
  }

  Status refuse_rest(const AdapterTensors& found) const {
    const TensorEntry* first = nullptr;
    for (const auto& [name, entry] : entries_) {
      if (first == nullptr || name < first->name) first = &entry;
    }
    if (first != nullptr) {
      return invalid(first->name, why_left_over(first->name), "shape " + shape_text(first->shape));
    }
    if (found.factors.empty() && !found.embedding.is_there && !found.head.is_there) {
      return invalid("tensors", "factors or rows of the model", "none");
    }
    return Status::ok();
  }

  const std::string file_;
  const ModelConfig& model_;
  const Limits& limits_;
  const PeftConfig& config_;
  std::string prefix_ = "model.";  // of the decoder's names
  std::unordered_map<std::string, TensorEntry> entries_;
  std::string missing_;  // the first tensor of an expert apart that is asked for; empty: none
  bool has_experts_apart_ = false;
  bool has_stacked_ = false;
};

Status as_adapter_error(const Status& status) {
  return {status.code() == Code::kModelCorrupt ? Code::kAdapterCorrupt : status.code(),
          status.message()};
}

}  // namespace

tensor::TensorView view_of(const model::TensorEntry& entry) {
  const bool is_row = entry.shape.size() == 1;
  return {entry.bytes.data(),
          *entry.type,
          2,
          {is_row ? 1 : entry.shape[0], entry.shape[is_row ? 0 : 1]}};
}

bool AdapterTensors::are_in(const std::string& folder) {
  return platform::exists(folder + "/" + std::string(kConfigFile)) ||
         platform::exists(folder + "/" + std::string(kTensorsFile));
}

Result<AdapterTensors> AdapterTensors::open(const std::string& folder, const ModelConfig& model,
                                            const Limits& limits) {
  const std::string config_path = folder + "/" + std::string(kConfigFile);
  auto config_file = platform::MappedFile::open(config_path, Code::kAdapterNotFound);
  if (!config_file.is_ok()) return config_file.status();
  auto config = PeftConfig::parse(config_file.value().text(), config_path);
  if (!config.is_ok()) return config.status();
  const std::string path = folder + "/" + std::string(kTensorsFile);
  const std::string pickle = folder + "/" + std::string(kPickleFile);
  if (!platform::exists(path) && platform::exists(pickle)) {
    return Status(Code::kAdapterInvalid, pickle + ": expected " + std::string(kTensorsFile) +
                                             " (pickle files are not read), got a pickle file");
  }
  auto file = platform::MappedFile::open(path, Code::kAdapterNotFound);
  if (!file.is_ok()) return file.status();
  auto entries = model::read_safetensors(file.value().bytes(), path);
  if (!entries.is_ok()) return as_adapter_error(entries.status());
  AdapterTensors tensors;
  tensors.is_activated = config.value().is_activated;
  TESSERA_RETURN_IF_ERROR(
      TensorReader(path, model, limits, config.value()).read(std::move(entries).value(), tensors));
  tensors.file = std::move(file).value();
  return tensors;
}

}  // namespace tessera::lora
