// Turns the packed requests of engineSubmit into engine requests. Checks the packing; the engine
// checks limits.
#pragma once

#include <napi.h>

#include <span>
#include <vector>

#include "bridge/handles.h"
#include "engine/request.h"

namespace tessera::bridge {

/// `value`: records end to end (native/abi/request.mjs) in the first `count` words.
std::vector<engine::Request> read_requests(const Napi::Value& value, const Napi::Value& count,
                                           EngineHandle& handle);

/// `reaches` of engineSubmit: per request a ReachHandle of its binding's catalogue, or null.
void read_reaches(Napi::Env env, const Napi::Value& value, std::span<engine::Request> requests);

}  // namespace tessera::bridge
