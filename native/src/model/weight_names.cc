#include "model/weight_names.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace tessera::model {

std::string find_prefix(const Shards& shards, const Recipe& recipe) {
  const TensorNames& names = recipe.config().family->names;
  if (recipe.purpose() == Purpose::kRows) {
    for (const std::string_view prefix : names.prefixes) {
      const std::string name = std::string(prefix) + std::string(names.embedding);
      if (shards.find(name) != nullptr) return std::string(prefix);
    }
  }
  return std::string(names.prefixes[0]);
}

bool may_be_ignored(const std::string& name, const std::string& prefix, const Recipe& recipe) {
  if (name.size() > 1 && name.ends_with(".rotary_emb.inv_freq")) return true;
  if (recipe.purpose() == Purpose::kLogits) return name == "lm_head.weight" && recipe.is_tied();
  if (name == "lm_head.weight") return true;
  if (recipe.config().family->encoder == nullptr) return false;
  std::string_view own = name;
  if (own.starts_with(prefix)) own.remove_prefix(prefix.size());
  if (own == "embeddings.position_ids" || own == "embeddings.token_type_ids") return true;
  constexpr std::string_view kHeads[] = {"pooler.",  "classifier.", "cls.",
                                         "lm_head.", "head.",       "decoder."};
  return std::any_of(std::begin(kHeads), std::end(kHeads),
                     [&](std::string_view head) { return own.starts_with(head); });
}

}  // namespace tessera::model
