#include "model/weight_names.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

#include "model/weights.h"

namespace tessera::model {

std::string find_prefix(const Shards& shards, const Recipe& recipe) {
  const Family& family = *recipe.config().family;
  const TensorNames& names = family.names;
  if (recipe.purpose() == Purpose::kRows || family.is_hybrid) {
    for (const std::string_view prefix : names.prefixes) {
      const std::string name = std::string(prefix) + std::string(names.embedding);
      if (shards.find(name) != nullptr) return std::string(prefix);
    }
    // A tied model may have its embedding under the head's name.
    for (const std::string_view prefix : names.prefixes) {
      const std::string name = std::string(prefix) + std::string(names.final_norm);
      if (shards.find(name) != nullptr) return std::string(prefix);
    }
  }
  return std::string(names.prefixes[0]);
}

bool is_of_another(std::string_view name, const Family& family, std::string_view wrapper) {
  if (!name.starts_with(wrapper)) return false;
  const auto& others = family.names.others;
  return std::any_of(others.begin(), others.end(), [&](std::string_view other) {
    return !other.empty() && name.substr(wrapper.size()).starts_with(other);
  });
}

bool may_be_ignored(const std::string& name, const std::string& prefix, const Recipe& recipe) {
  if (name.size() > 1 && name.ends_with(".rotary_emb.inv_freq")) return true;
  if (is_of_another(name, *recipe.config().family)) return true;
  if (recipe.purpose() == Purpose::kLogits) return name == kHeadName && recipe.is_tied();
  if (name == kHeadName || name == "score.weight") return true;
  if (recipe.config().family->encoder == nullptr) return false;
  std::string_view own = name;
  if (own.starts_with(prefix)) own.remove_prefix(prefix.size());
  if (own == "embeddings.position_ids" || own == "embeddings.token_type_ids") return true;
  constexpr std::string_view kHeadNames[] = {"pooler.",  "classifier.", "cls.",
                                             "lm_head.", "head.",       "decoder."};
  return std::any_of(std::begin(kHeadNames), std::end(kHeadNames),
                     [&](std::string_view head) { return own.starts_with(head); });
}

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text = "[";
  for (const uint64_t size : shape) text += (text.size() > 1 ? "," : "") + std::to_string(size);
  return text + "]";
}

/// Errors: a tied model whose file has a head that differs: transformers does not tie it either.
Status Weights::check_tied_head(const Shards& shards, const std::string& prefix,
                                const Recipe& recipe) {
  if (!recipe.is_tied()) return Status::ok();
  const TensorEntry* head = shards.find(kHeadName);
  const std::string name = prefix + std::string(recipe.config().family->names.embedding);
  const TensorEntry* embedding = shards.find(name);
  if (head == nullptr || embedding == nullptr) return Status::ok();
  const bool is_same =
      head->dtype == embedding->dtype && head->bytes.size() == embedding->bytes.size() &&
      std::memcmp(head->bytes.data(), embedding->bytes.data(), head->bytes.size()) == 0;
  shards.release(*head);
  if (is_same) return Status::ok();
  return {Code::kModelInvalid,
          shards.folder() + ": lm_head.weight: expected the content of " + name +
              ", as tie_word_embeddings of config.json says, got another (a model "
              "with a head of its own has tie_word_embeddings false)"};
}

}  // namespace tessera::model
