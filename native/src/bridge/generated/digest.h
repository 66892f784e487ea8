// Generated from native/abi by tools/generate.mjs. Do not edit.
// clang-format off
#pragma once

#include <string_view>

namespace tessera::bridge {

inline constexpr std::string_view kAbiDigest = "d2a8ded051ec76c5";

}  // namespace tessera::bridge
