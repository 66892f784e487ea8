// A completion as one packed record.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/request.h"

namespace tessera::abi {

std::vector<uint32_t> pack_completion(const engine::Completion& completion);

}  // namespace tessera::abi
