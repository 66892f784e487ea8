// Finished requests as the structure of arrays of abi.ts `Completions`.
#pragma once

#include <napi.h>

#include <span>

#include "engine/request.h"

namespace tessera::bridge {

Napi::Object to_javascript(Napi::Env env, std::span<const engine::Completion> completions);

}  // namespace tessera::bridge
