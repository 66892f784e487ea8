// Contents that stand in the place of a file: what a download, a version control system or a packer
// left there. The same table: libs/ops/files/src/model-file.ts.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tessera::platform {

/// The kind of file that begins so, with a way out; empty where no such kind does. No header
/// of a safetensors file that is aligned, or shorter than 64 MiB, begins with any of these.
std::string_view foreign_content(std::span<const std::byte> bytes);

}  // namespace tessera::platform
