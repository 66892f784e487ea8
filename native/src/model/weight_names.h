// Names of the tensors in a folder that are of no block. Private to Weights.
#pragma once

#include <string>

#include "model/recipe.h"
#include "model/shards.h"

namespace tessera::model {

/// Of a decoder's head; a tied model may have its embedding under this name alone.
inline constexpr const char* kHeadName = "lm_head.weight";

/// What the names of a folder's tensors begin with, but for the head's.
std::string find_prefix(const Shards& shards, const Recipe& recipe);

/// Tensors that some trainers save beside the weights and nobody needs, and heads where only rows
/// are computed.
bool may_be_ignored(const std::string& name, const std::string& prefix, const Recipe& recipe);

/// As errors spell it: [2,3].
std::string shape_text(const std::vector<uint64_t>& shape);

}  // namespace tessera::model
