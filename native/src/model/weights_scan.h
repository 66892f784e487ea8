// One pass over the bytes of all weights, on all threads: looks for NaN and infinity and computes
// the content digest. Private to model.
#pragma once

#include <span>
#include <string>

#include "base/status.h"
#include "device/device.h"
#include "model/safetensors.h"

namespace tessera::model {

/// The digest, as 32 hex digits, of `config_text` and of each entry's name, type, shape and bytes,
/// in the given order. REQUIRES: every entry has a computed type. Errors: MODEL_CORRUPT naming the
/// first tensor with a NaN or infinity.
Result<std::string> scan_weights(device::Device& device, const std::string& folder,
                                 const std::string& config_text,
                                 std::span<const TensorEntry* const> entries);

}  // namespace tessera::model
