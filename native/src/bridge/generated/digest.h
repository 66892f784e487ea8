// Generated from native/abi by tools/generate.mjs. Do not edit.
// clang-format off
#pragma once

#include <string_view>

namespace tessera::bridge {

inline constexpr std::string_view kAbiDigest = "f53d0b0e9e42f68b";

}  // namespace tessera::bridge
