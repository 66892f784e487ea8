// A file mapped read-only: its bytes and their bound. The mapping lives as long as the object; the
// file descriptor is closed at once. The file must not be truncated while it is mapped: our writers
// replace files by rename. Thread-safety: immutable after open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tessera::platform {

class MappedFile {
 public:
  /// Maps the regular file at `path`; an empty file gives an empty span.
  /// Errors: `missing` when nothing is there, or foreign_content in its place; IO_FAILED for
  /// anything else (folder, no permission, no address space).
  static Result<MappedFile> open(const std::string& path, Code missing);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  /// The bytes of a text, without a byte order mark.
  std::string_view text() const;
  /// Gives the memory of the pages that lie wholly in `part` back: they are read from the file
  /// again when touched. REQUIRES: part lies in bytes().
  void release(std::span<const std::byte> part) const;

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace tessera::platform
