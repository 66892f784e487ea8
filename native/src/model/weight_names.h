// Names of the tensors in a folder that are of no block. Private to Weights.
#pragma once

#include <string>
#include <string_view>

#include "model/recipe.h"
#include "model/shards.h"

namespace tessera::model {

/// Name of a decoder's head; a tied model may have its embedding under this name alone.
inline constexpr const char* kHeadName = "lm_head.weight";

/// The common prefix of a folder's tensor names, the head's excepted.
std::string find_prefix(const Shards& shards, const Recipe& recipe);

/// True for tensors of a model in the same folder that is not served: it sees no text.
/// `wrapper` stands before all names.
bool is_of_another(std::string_view name, const Family& family, std::string_view wrapper = {});

/// True for tensors that some trainers save beside the weights although no model reads them, and
/// for heads of a model that computes only rows.
bool may_be_ignored(const std::string& name, const std::string& prefix, const Recipe& recipe);

/// Shape in messages: [2,3].
std::string shape_text(const std::vector<uint64_t>& shape);

}  // namespace tessera::model
