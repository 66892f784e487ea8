// A file that only grows: what a log is written to. Thread-safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"

namespace tessera::platform {

class AppendFile {
 public:
  /// Opens the file at `path`, which must exist, for this writer alone, and cuts it to `bytes`.
  /// Errors: IO_FAILED, also when another writer has it.
  static Result<AppendFile> open(const std::string& path, uint64_t bytes);

  AppendFile() = default;
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile();

  /// Errors: STORE_FULL, IO_FAILED; how much of the content is in the file is then unknown.
  Status append(std::span<const std::byte> content);
  /// Takes back what lies behind the first `bytes`. Errors: IO_FAILED.
  Status cut(uint64_t bytes);
  /// Returns when all that was appended lies on the device.
  Status sync();

 private:
  AppendFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_ = -1;
  std::string path_;
};

}  // namespace tessera::platform
