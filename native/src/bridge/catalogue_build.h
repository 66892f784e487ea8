// A catalogue build as a promise with progress: sources are imported, joined and written off the
// JavaScript thread.
#pragma once

#include <napi.h>

#include <string>
#include <vector>

namespace tessera::bridge {

struct BuildRequest {
  std::vector<std::string> sources;
  std::vector<std::string> domains;   // parallel to sources
  std::string titles_path;            // may be empty
  std::vector<uint32_t> level_sizes;  // may be empty: derived
  std::string output_path;
};

/// `on_progress(stage, done, total)` is called on the JavaScript thread.
Napi::Promise start_build(Napi::Env env, BuildRequest request, Napi::Function on_progress);

}  // namespace tessera::bridge
