// Settings of config.json for layers whose rows choose experts. Values only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::model {

class ObjectReader;

inline constexpr uint32_t kMaxExperts = 1024;
inline constexpr uint32_t kMaxChosenExperts = 64;

/// How a family spells its mixture of experts, and what transformers takes where config.json is
/// silent.
struct MixtureFields {
  std::string_view expert_size;  // the field of an expert's inner numbers
  uint32_t experts = 0;
  uint32_t chosen = 0;
  uint32_t size = 0;
  uint32_t shared_size = 0;       // 0: it has no expert that all rows go through
  bool has_dense_layers = false;  // decoder_sparse_step and mlp_only_layers are read
  bool normalises = false;        // norm_topk_prob where config.json is silent
};

struct MixtureConfig {
  uint32_t experts = 0;  // of a layer that has them; 0: no layer has
  uint32_t chosen = 0;   // of them, by a row
  uint32_t size = 0;     // inner numbers of an expert
  uint32_t shared_size = 0;
  bool normalises = false;   // norm_topk_prob
  std::vector<bool> layers;  // which of them choose experts

  bool chooses(uint32_t layer) const { return layer < layers.size() && layers[layer]; }
  /// Every field that changes a result, as text; empty where no layer has experts.
  std::string canonical_text() const;
};

/// Errors are the reader's. `size_max` bounds the inner numbers.
MixtureConfig read_mixture(ObjectReader& reader, const MixtureFields& fields, uint32_t layer_count,
                           uint32_t size_max);

}  // namespace tessera::model
