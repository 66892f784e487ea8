// Generated from native/abi by tools/generate.mjs. Do not edit.
// clang-format off
#pragma once

#include <string_view>

namespace tessera::bridge {

inline constexpr std::string_view kAbiDigest = "82eb8f7c14f072a6";

}  // namespace tessera::bridge
