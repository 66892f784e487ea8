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
  const Family& family = *recipe.config().family;
  if (is_of_another(name, family)) return true;
  const auto& copies = family.names.copies;  // empty: none
  if (!name.empty() && std::ranges::find(copies, name) != copies.end()) return true;
  if (recipe.purpose() == Purpose::kLogits) return name == kHeadName && recipe.is_tied();
  if (name == kHeadName || name == "score.weight") return true;
  if (family.encoder == nullptr) return false;
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

Result<WeightsUpdate> WeightsUpdate::look_through(const std::string& folder, const Recipe& recipe,
                                                  ComputeType type, device::Device& device) {
  return Weights().prepare(folder, recipe, type, device);
}

/// Errors: a copy of the embedding that differs from it: transformers does not tie it either.
Status Weights::check_copies(const Shards& shards, const std::string& prefix,
                             const Recipe& recipe) {
  const TensorNames& names = recipe.config().family->names;
  const std::string name = prefix + std::string(names.embedding);
  const TensorEntry* embedding = shards.find(name);
  const auto check = [&](std::string_view copy, const char* why) -> Status {
    const TensorEntry* found = shards.find(std::string(copy));
    if (found == nullptr || embedding == nullptr) return Status::ok();
    const bool is_same =
        found->dtype == embedding->dtype && found->bytes.size() == embedding->bytes.size() &&
        std::memcmp(found->bytes.data(), embedding->bytes.data(), found->bytes.size()) == 0;
    shards.release(*found);
    if (is_same) return Status::ok();
    return {Code::kModelInvalid,
            shards.folder() + ": " + std::string(copy) + ": expected the content of " + name + why};
  };
  for (const std::string_view copy : names.copies) {
    if (copy.empty()) continue;
    TESSERA_RETURN_IF_ERROR(check(copy, ", got another (a table of each stack is not served)"));
  }
  if (!recipe.is_tied()) return Status::ok();
  return check(kHeadName,
               ", as tie_word_embeddings of config.json says, got another (a model with a head of "
               "its own has tie_word_embeddings false)");
}

}  // namespace tessera::model
