// Generated from native/abi by tools/generate.mjs. Do not edit.
// clang-format off
#pragma once

#include <string_view>

namespace tessera::bridge {

inline constexpr std::string_view kAbiDigest = "f762e8a3e1e01454";

}  // namespace tessera::bridge
