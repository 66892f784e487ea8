// adapter_config.json as PEFT writes it: the fields that change what the tensors mean, and a typed
// refusal of those that ask for something else than LoRA as it is served here.
// Source: huggingface/peft, src/peft/tuners/lora/config.py and src/peft/tuners/tuners_utils.py.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tessera::lora {

inline constexpr uint64_t kConfigBytesMax = 4u << 20;
inline constexpr size_t kPatternsMax = 4096;
inline constexpr size_t kPatternBytesMax = 1024;
inline constexpr size_t kTokenIndicesMax = 1u << 22;

/// A regular expression on the names of modules; matching takes time linear in the name.
class ModulePattern;

/// A value of a module whose name ends in what the pattern describes.
template <typename T>
struct Patterned {
  std::shared_ptr<const ModulePattern> pattern;
  T value;
};

/// Names of modules: a list of endings, a regular expression, every linear layer, or those of an
/// expression that cannot be matched here, which the tensors alone tell.
struct ModuleSet {
  enum class Kind : uint8_t { kNone, kEndings, kPattern, kAllLinear, kUnknown };
  Kind kind = Kind::kNone;
  std::vector<std::string> endings;
  std::shared_ptr<const ModulePattern> pattern;

  bool contains(const std::string& module) const;
  /// True if the list has the whole name.
  bool lists(const std::string& module) const {
    return std::find(endings.begin(), endings.end(), module) != endings.end();
  }
};

/// Rows of the embedding or the head that the adapter replaces, as the configuration lists them.
struct TokenIndices {
  std::optional<std::vector<uint32_t>> embedding;
  std::optional<std::vector<uint32_t>> head;
};

struct PeftConfig {
  /// Rank and scale of a module, e.g. model.layers.0.self_attn.q_proj.
  uint32_t rank_of(const std::string& module) const;
  double scale_of(const std::string& module) const { return scale_of(module, rank_of(module)); }
  double scale_of(const std::string& module, uint32_t module_rank) const;
  /// True if the configuration gives this module of this layer factors.
  bool targets(const std::string& module, uint32_t layer) const;
  /// True if the module targets the embedding or the head.
  bool targets_outside_layers(const std::string& module) const;
  /// True if only the tensors say which modules have factors.
  bool targets_are_unknown() const;
  /// True if the adapter has this module whole: PEFT looks at the end of its name, dots or not.
  bool saves(const std::string& module) const;
  /// True if it gives this parameter factors, e.g. model.layers.0.mlp.experts.down_proj.
  bool targets_parameter(const std::string& name) const;

  uint32_t rank = 8;
  double alpha = 8;
  bool uses_rslora = false;
  bool uses_dora = false;
  bool ties_weights = false;
  bool is_activated = false;       // from tokens within a prompt on: it has invocation tokens
  bool ranks_are_unknown = false;  // of modules that a pattern names which cannot be matched here
  std::vector<Patterned<uint32_t>> ranks;
  std::vector<Patterned<double>> alphas;
  ModuleSet target_modules;
  ModuleSet excluded_modules;
  ModuleSet target_parameters;  // endings
  ModuleSet saved_modules;      // endings
  /// Layers with factors, but of modules whose whole name target_modules has; empty: all.
  std::vector<uint32_t> layers;
  TokenIndices token_indices;

  /// Errors: ADAPTER_CORRUPT for what is no JSON, ADAPTER_INVALID naming the field, what was
  /// expected and what it got.
  static Result<PeftConfig> parse(std::string_view text, const std::string& file);
};

}  // namespace tessera::lora
