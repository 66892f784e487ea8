// Names of the tensors of an adapter, as PEFT's save_pretrained() writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "model/safetensors.h"

namespace tessera::lora {

/// Beginning of all names but those of heads.
inline constexpr std::string_view kAdapterPrefix = "base_model.model.";

/// ADAPTER_INVALID for names that nothing would be found by, with what happened to them: no tensor,
/// a raw state with the adapter's name in it, a compiled model's.
Status check_tensor_names(const std::string& file, const std::vector<model::TensorEntry>& entries);

/// Words for the tensor that was expected instead of one that nothing took.
std::string why_left_over(const std::string& name);

}  // namespace tessera::lora
