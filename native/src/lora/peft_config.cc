#include "lora/peft_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "lora/module_pattern.h"
#include "model/json.h"
#include "ops/low_rank.h"

namespace tessera::lora {
namespace {

using model::ObjectReader;
using simdjson::dom::element;

constexpr uint32_t kLayersMax = 1u << 16;
constexpr uint32_t kTokenMax = 0x7FFFFFFF;
constexpr double kAlphaMax = 1e6;

/// Fields that say nothing of what the tensors mean.
constexpr std::array<std::string_view, 19> kIgnored = {
    "auto_mapping",    "base_model_name_or_path",
    "revision",        "inference_mode",
    "task_type",       "peft_version",
    "lora_dropout",    "eva_config",
    "megatron_config", "megatron_core",
    "runtime_config",  "qalora_group_size",
    "loftq_config",    "corda_config",
    "lora_ga_config",  "unsloth_version",
    "lora_dtype",      "lorap_emb_lr",
    "lorap_lr_ratio"};  // the last three: ms-swift, of training
/// Fields that are read.
constexpr std::array<std::string_view, 19> kRead = {"peft_type",
                                                    "modules_to_save",
                                                    "target_parameters",
                                                    "r",
                                                    "lora_alpha",
                                                    "use_rslora",
                                                    "use_dora",
                                                    "rank_pattern",
                                                    "alpha_pattern",
                                                    "target_modules",
                                                    "exclude_modules",
                                                    "layers_to_transform",
                                                    "layers_pattern",
                                                    "bias",
                                                    "init_lora_weights",
                                                    "fan_in_fan_out",
                                                    "trainable_token_indices",
                                                    "ensure_weight_tying",
                                                    "alora_invocation_tokens"};
/// Fields that PEFT has values of, if they are there.
constexpr std::array<std::string_view, 5> kNeverNull = {"r", "lora_alpha", "rank_pattern",
                                                        "alpha_pattern", "bias"};
/// Ways to begin that leave the base model as it is; others need it changed as well.
constexpr std::array<std::string_view, 3> kHarmlessInits = {"gaussian", "eva", "orthogonal"};

template <typename List>
bool is_in(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// True of a field that is not there or switched off.
bool is_nothing(element value) {
  simdjson::dom::array array;
  simdjson::dom::object object;
  bool truth = true;
  double number = 1;
  std::string_view text;
  if (value.is_null()) return true;
  if (value.get_double().get(number) == simdjson::SUCCESS) return number == 0;
  if (value.get_string().get(text) == simdjson::SUCCESS) return text.empty() || text == "none";
  if (value.get_bool().get(truth) == simdjson::SUCCESS) return !truth;
  if (value.get_array().get(array) == simdjson::SUCCESS) return array.size() == 0;
  if (value.get_object().get(object) == simdjson::SUCCESS) return object.size() == 0;
  return false;
}

bool ends_in(const std::string& module, const std::string& ending) {
  if (module == ending) return true;
  return module.size() > ending.size() && module.ends_with(ending) &&
         module[module.size() - ending.size() - 1] == '.';
}

class ConfigReader {
 public:
  ConfigReader(simdjson::dom::object object, const std::string& file)
      : object_(object), reader_(object, file, "", Code::kAdapterInvalid) {}

  Result<PeftConfig> read() {
    refuse_unserved();
    refuse_unknown();
    config_.rank = reader_.whole("r", 1, ops::kRankMax, 8);
    config_.alpha = reader_.number("lora_alpha", 0, kAlphaMax, 8.0);
    config_.uses_rslora = reader_.boolean("use_rslora", false);
    read_ranks();
    read_alphas();
    read_modules("target_modules", config_.target_modules);
    read_modules("exclude_modules", config_.excluded_modules);
    read_names("target_parameters", config_.target_parameters);
    read_names("modules_to_save", config_.saved_modules);
    read_layers();
    read_token_indices();
    read_activation();
    read_dora();
    if (!reader_.status().is_ok()) return reader_.status();
    return std::move(config_);
  }

 private:
  /// An unknown field may change what the tensors mean.
  void refuse_unknown() {
    for (const simdjson::dom::key_value_pair field : object_) {
      if (is_in(kRead, field.key) || is_in(kIgnored, field.key)) continue;
      if (!is_nothing(field.value)) reader_.refuse(field.key, "nothing (it is not supported)");
    }
  }

  void refuse_unserved() {
    if (reader_.text("peft_type", "LORA") != "LORA") {
      return reader_.refuse("peft_type", "\"LORA\": no other method is served");
    }
    for (const std::string_view field : kNeverNull) {
      if (reader_.is_null(field)) reader_.refuse(field, "a value");
    }
    config_.ties_weights = reader_.boolean("ensure_weight_tying", false);
    if (reader_.text("bias", "none") != "none") reader_.refuse("bias", "\"none\"");
    if (reader_.boolean("fan_in_fan_out", false)) reader_.refuse("fan_in_fan_out", "false");
    const auto init = reader_.find("init_lora_weights");
    bool truth = false;
    std::string_view name;
    if (!init || init->get_bool().get(truth) == simdjson::SUCCESS) return;
    if (init->get_string().get(name) != simdjson::SUCCESS || !is_in(kHarmlessInits, name)) {
      reader_.refuse("init_lora_weights",
                     "a way to begin that leaves the base model as it is (convert the adapter)");
    }
  }

  /// Calls use(pattern, value) for each entry of an object from expressions to values; the pattern
  /// is null where RE2 cannot read it.
  template <typename Use>
  void read_patterns(const std::string& field, const Use& use) {
    const auto value = reader_.find(field);
    if (!value) return;
    simdjson::dom::object entries;
    if (value->get_object().get(entries) != simdjson::SUCCESS || entries.size() > kPatternsMax) {
      return reader_.refuse(field, "an object of at most " + std::to_string(kPatternsMax));
    }
    if (const auto nested = reader_.object(field)) reader_.adopt(*nested);  // names twice
    for (const simdjson::dom::key_value_pair entry : entries) {
      if (!fits(field, entry.key)) return;
      const std::string text(entry.key);
      const auto pattern = ModulePattern::compile_ending(text);
      if (pattern && !ModulePattern::is_alike_in_python(text, false)) return refuse_unlike(field);
      use(pattern, entry.value);
    }
  }

  bool fits(const std::string& field, std::string_view expression) {
    if (expression.size() <= kPatternBytesMax) return true;
    reader_.refuse(field, "patterns of at most " + std::to_string(kPatternBytesMax) + " bytes");
    return false;
  }

  void refuse_unlike(const std::string& field) {
    reader_.refuse(field, "expressions that Python's re and RE2 read alike (docs/integrate/"
                          "adapters.md)");
  }

  void read_ranks() {
    read_patterns("rank_pattern", [&](const auto& pattern, element value) {
      uint64_t rank = 0;
      if (value.get_uint64().get(rank) != simdjson::SUCCESS || rank < 1 || rank > ops::kRankMax) {
        return reader_.refuse("rank_pattern", "ranks in 1.." + std::to_string(ops::kRankMax));
      }
      config_.ranks_are_unknown = config_.ranks_are_unknown || pattern == nullptr;
      if (pattern) config_.ranks.push_back({pattern, static_cast<uint32_t>(rank)});
    });
  }

  void read_alphas() {
    read_patterns("alpha_pattern", [&](const auto& pattern, element value) {
      double alpha = 0;
      if (value.get_double().get(alpha) != simdjson::SUCCESS || !(alpha > 0 && alpha <= kAlphaMax))
        return reader_.refuse("alpha_pattern", "numbers above 0 and at most 1e6");
      if (pattern == nullptr) {
        return reader_.refuse("alpha_pattern",
                              "names of modules, or expressions that RE2 reads (no look-around, "
                              "\\Z, possessive or back reference), since no tensor tells a scale");
      }
      config_.alphas.push_back({pattern, alpha});
    });
  }

  void read_modules(const std::string& field, ModuleSet& set) {
    const auto value = reader_.find(field);
    if (!value) return;
    std::string_view text;
    if (value->get_string().get(text) == simdjson::SUCCESS) {
      set.kind = text == "all-linear" ? ModuleSet::Kind::kAllLinear : ModuleSet::Kind::kPattern;
      if (set.kind != ModuleSet::Kind::kPattern || !fits(field, text)) return;
      set.pattern = ModulePattern::compile(std::string(text));
      if (set.pattern == nullptr) set.kind = ModuleSet::Kind::kUnknown;
      const bool is_alike = ModulePattern::is_alike_in_python(std::string(text), true);
      if (set.pattern && !is_alike) refuse_unlike(field);
      return;
    }
    simdjson::dom::array names;
    if (value->get_array().get(names) != simdjson::SUCCESS || names.size() > kPatternsMax) {
      return reader_.refuse(field, "a list of module names or a regular expression");
    }
    set.kind = ModuleSet::Kind::kEndings;
    for (const element name : names) {
      if (name.get_string().get(text) != simdjson::SUCCESS || text.size() > kPatternBytesMax) {
        return reader_.refuse(field, "names of modules");
      }
      set.endings.emplace_back(text);
    }
  }

  void read_names(const std::string& field, ModuleSet& set) {
    read_modules(field, set);
    if (set.kind > ModuleSet::Kind::kEndings) reader_.refuse(field, "a list of names");
  }

  /// Source: huggingface/peft, src/peft/tuners/lora/variants.py (Activated LoRA, arXiv 2504.12397).
  void read_activation() {
    const auto tokens = reader_.find("alora_invocation_tokens");
    if (!tokens || is_nothing(*tokens)) return;
    simdjson::dom::array array;
    config_.is_activated = tokens->get_array().get(array) == simdjson::SUCCESS;
    for (const element token : array) {
      uint64_t number = 0;
      const bool is_token = token.get_uint64().get(number) == simdjson::SUCCESS;
      config_.is_activated = config_.is_activated && is_token && number <= kTokenMax;
    }
    if (!config_.is_activated) reader_.refuse("alora_invocation_tokens", "a list of tokens");
  }

  /// PEFT refuses the same.
  void read_dora() {
    config_.uses_dora = reader_.boolean("use_dora", false);
    if (!config_.uses_dora) return;
    if (config_.is_activated) reader_.refuse("use_dora", "false beside alora_invocation_tokens");
    if (!config_.target_parameters.endings.empty()) {
      reader_.refuse("use_dora", "false beside target_parameters");
    }
  }

  void read_layers() {
    const auto pattern = reader_.find("layers_pattern");
    if (pattern && !is_nothing(*pattern)) {
      const std::string text = simdjson::minify(*pattern);
      if (text != "\"layers\"" && text != "[\"layers\"]") {
        reader_.refuse("layers_pattern", "\"layers\"");
      }
    }
    const auto value = reader_.find("layers_to_transform");
    if (!value) return;
    uint64_t layer = 0;
    if (value->get_uint64().get(layer) == simdjson::SUCCESS && layer < kLayersMax) {
      config_.layers = {static_cast<uint32_t>(layer)};
    } else if (!read_numbers(*value, kLayersMax - 1, kLayersMax, config_.layers)) {
      reader_.refuse("layers_to_transform", "numbers of layers");
    }
  }

  static bool read_numbers(element value, uint64_t highest, size_t count_max,
                           std::vector<uint32_t>& numbers) {
    simdjson::dom::array array;
    if (value.get_array().get(array) != simdjson::SUCCESS) return false;
    for (const element entry : array) {
      uint64_t number = 0;
      if (entry.get_uint64().get(number) != simdjson::SUCCESS || number > highest) return false;
      if (numbers.size() == count_max) return false;
      numbers.push_back(static_cast<uint32_t>(number));
    }
    return true;
  }

  /// A list is of the embedding; an object says of which module.
  void read_token_indices() {
    const char* const field = "trainable_token_indices";
    const auto value = reader_.find(field);
    if (!value) return;
    simdjson::dom::object modules;
    if (value->get_object().get(modules) != simdjson::SUCCESS) {
      read_indices(*value, config_.token_indices.embedding);
      return;
    }
    for (const simdjson::dom::key_value_pair entry : modules) {
      const std::string module(entry.key);
      if (ends_in(module, "embed_tokens")) {
        read_indices(entry.value, config_.token_indices.embedding);
      } else if (ends_in(module, "lm_head")) {
        read_indices(entry.value, config_.token_indices.head);
      } else {
        reader_.refuse(field, "rows of embed_tokens or lm_head");
      }
    }
  }

  void read_indices(element value, std::optional<std::vector<uint32_t>>& indices) {
    const bool is_first = !indices.has_value();
    indices.emplace();
    if (!is_first || !read_numbers(value, kTokenMax, kTokenIndicesMax, *indices)) {
      return reader_.refuse("trainable_token_indices", "lists of token numbers");
    }
    std::vector<uint32_t> sorted = *indices;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      reader_.refuse("trainable_token_indices", "each token once");
    }
  }

  simdjson::dom::object object_;
  ObjectReader reader_;
  PeftConfig config_;
};

}  // namespace

bool ModuleSet::contains(const std::string& module) const {
  switch (kind) {
    case Kind::kNone: return false;
    case Kind::kUnknown: return false;
    case Kind::kAllLinear: return true;
    case Kind::kPattern: return pattern->matches(module);
    case Kind::kEndings:
      return std::any_of(endings.begin(), endings.end(),
                         [&](const std::string& ending) { return ends_in(module, ending); });
  }
  return false;
}

uint32_t PeftConfig::rank_of(const std::string& module) const {
  for (const auto& own : ranks) {
    if (own.pattern->matches(module)) return own.value;
  }
  return rank;
}

double PeftConfig::scale_of(const std::string& module, uint32_t module_rank) const {
  double own_alpha = alpha;
  for (const auto& own : alphas) {
    if (!own.pattern->matches(module)) continue;
    own_alpha = own.value;
    break;
  }
  const auto own_rank = static_cast<double>(module_rank);
  return own_alpha / (uses_rslora ? std::sqrt(own_rank) : own_rank);
}

bool PeftConfig::targets(const std::string& module, uint32_t layer) const {
  if (!target_modules.contains(module) || excluded_modules.contains(module)) return false;
  if (layers.empty() || target_modules.lists(module)) return true;
  return std::find(layers.begin(), layers.end(), layer) != layers.end();
}

bool PeftConfig::targets_outside_layers(const std::string& module) const {
  if (excluded_modules.contains(module)) return false;
  if (!layers.empty()) return target_modules.lists(module);
  return target_modules.kind != ModuleSet::Kind::kAllLinear && target_modules.contains(module);
}

bool PeftConfig::targets_are_unknown() const {
  return target_modules.kind == ModuleSet::Kind::kUnknown ||
         excluded_modules.kind == ModuleSet::Kind::kUnknown;
}

bool PeftConfig::saves(const std::string& module) const {
  return std::ranges::any_of(saved_modules.endings,
                             [&](const std::string& ending) { return module.ends_with(ending); });
}

bool PeftConfig::targets_parameter(const std::string& name) const {
  return target_parameters.contains(name);
}

Result<PeftConfig> PeftConfig::parse(std::string_view text, const std::string& file) {
  if (text.size() > kConfigBytesMax) {
    return Status(Code::kAdapterInvalid, file + ": expected at most " +
                                             std::to_string(kConfigBytesMax) + " bytes, got " +
                                             std::to_string(text.size()));
  }
  simdjson::dom::parser parser;
  Result<element> root = model::parse_json(parser, text, file, Code::kAdapterCorrupt);
  if (!root.is_ok()) return root.status();
  simdjson::dom::object object;
  if (root.value().get_object().get(object) != simdjson::SUCCESS) {
    return Status(Code::kAdapterInvalid,
                  file + ": expected an object, got " + model::describe(root.value()));
  }
  return ConfigReader(object, file).read();
}

}  // namespace tessera::lora
