// Whole-file writing and reading. A writer here never leaves a half-written file under its final
// name. Thread-safety: free functions; two writers of the same path race for the rename and one
// whole file wins.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "base/status.h"

namespace tessera::platform {

/// Appends bytes to the file being written; an error ends the write.
using Sink = std::function<Status(std::span<const std::byte>)>;

/// Writes `path` through a temporary file beside it, fsync, rename and fsync of the folder.
/// `produce` is called once and streams the content into the sink. On any error the temporary file
/// is removed and `path` is as it was. Errors: IO_FAILED, or what `produce` returned.
Status write_file_atomically(const std::string& path,
                             const std::function<Status(const Sink&)>& produce);

/// Writes content that is already in memory.
Status write_file_atomically(const std::string& path, std::span<const std::byte> content);

/// Gives the file at `from` the name `to` beside it, in place of what had it, and syncs the folder.
/// Errors: IO_FAILED.
Status move_file(const std::string& from, const std::string& to);

/// True if something exists at `path`.
bool exists(const std::string& path);

}  // namespace tessera::platform
