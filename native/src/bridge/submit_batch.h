// abi.ts `SubmitBatch` -> engine requests. Shapes are checked here; limits are the engine's.
#pragma once

#include <napi.h>

#include <span>
#include <vector>

#include "bridge/handles.h"
#include "engine/request.h"

namespace tessera::bridge {

std::vector<engine::Request> read_batch(Napi::Env env, const Napi::Value& value,
                                        EngineHandle& handle);

/// `reaches` of engineSubmit: per request a ReachHandle of its binding's catalogue, or null.
void read_reaches(Napi::Env env, const Napi::Value& value, std::span<engine::Request> requests);

}  // namespace tessera::bridge
