// Generated from native/abi by tools/generate.mjs. Do not edit.
// clang-format off
#pragma once

#include <string_view>

namespace tessera::bridge {

inline constexpr std::string_view kAbiDigest = "1f48dd838c4d2eb9";

}  // namespace tessera::bridge
