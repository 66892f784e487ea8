// A catalogue bound to the model's vocabulary: which token writes each level-local code. Immutable
// but for the catalogue, whose newest version reach() gives (a request keeps the one it was given),
// and for the rules, which change no answer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "beam/threshold_rule.h"
#include "catalogue/live_catalogue.h"
#include "catalogue/reach.h"
#include "model/head_vocabulary.h"
#include "model/model_config.h"

namespace tessera::engine {

inline constexpr int32_t kNoToken = -1;

class Binding {
 public:
  /// `level_tokens[l][code]` is the token of a code, kNoToken where the vocabulary has none.
  /// Errors: REQUEST_INVALID when a level is missing or too short, a token is outside the
  /// vocabulary or the head's, two codes of a level share a token, or a code that the catalogue
  /// uses has no token.
  static Result<std::shared_ptr<const Binding>> create(
      const model::ModelConfig& config, std::shared_ptr<catalogue::LiveCatalogue> catalogue,
      std::vector<std::vector<int32_t>> level_tokens, std::vector<int32_t> terminal_tokens,
      const model::HeadVocabulary& head = {});

  const catalogue::LiveCatalogue& catalogue() const { return *catalogue_; }
  /// All of the newest version.
  catalogue::Reach reach() const { return catalogue::Reach(catalogue_->view()); }
  /// Levels of the catalogue: the same in all of its versions.
  uint32_t depth() const { return static_cast<uint32_t>(level_tokens_.size()); }
  /// Head rows to multiply for a level: the token of each code, any where there is none (see
  /// codes_without_token).
  std::span<const int32_t> level_tokens(uint32_t level) const { return level_tokens_[level]; }
  /// Codes of the level that no token writes; their logits are never candidates.
  std::span<const uint32_t> codes_without_token(uint32_t level) const {
    return codes_without_token_[level];
  }
  std::span<const int32_t> terminal_tokens() const { return terminal_tokens_; }
  /// Selections until the deepest path has ended.
  uint32_t step_count() const { return depth() + static_cast<uint32_t>(terminal_tokens_.size()); }
  /// Rules that searches teach and later ones guess by. The engine's thread.
  beam::ThresholdRules& rules() const { return rules_; }

 private:
  Binding() = default;

  std::shared_ptr<catalogue::LiveCatalogue> catalogue_;
  std::vector<std::vector<int32_t>> level_tokens_;
  std::vector<std::vector<uint32_t>> codes_without_token_;
  std::vector<int32_t> terminal_tokens_;
  mutable beam::ThresholdRules rules_;
};

}  // namespace tessera::engine
