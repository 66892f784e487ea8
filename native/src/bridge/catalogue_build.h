// A catalogue build as a promise with progress: sources are imported, joined and written off the
// JavaScript thread.
#pragma once

#include <napi.h>

#include "bridge/reports.h"

namespace tessera::bridge {

/// `on_progress(stage, done, total)` is called on the JavaScript thread.
Napi::Promise start_build(Napi::Env env, BuildRequest request, Napi::Function on_progress);

}  // namespace tessera::bridge
