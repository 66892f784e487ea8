// The system's file calls that the disk tier makes, behind a face so that tests can make them fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"

namespace tessera::kv {

/// One open file. Calls do what the system does: they may do less than asked. Thread-safety: as
/// pread and pwrite.
class File {
 public:
  virtual ~File() = default;
  /// Bytes done, at least 1, or 0 at the end of the file, or a negative errno.
  virtual int64_t read_some(uint64_t offset, std::span<std::byte> to) = 0;
  virtual int64_t write_some(uint64_t offset, std::span<const std::byte> from) = 0;
  /// 0 or a negative errno.
  virtual int sync() = 0;
  /// Makes a range read as zeros and gives its space back. 0 or a negative errno.
  virtual int punch(uint64_t offset, uint64_t size) = 0;
  /// Bytes that the file system has left for this file.
  virtual uint64_t space_left() = 0;
  /// True if offsets, sizes and addresses must be multiples of 4096.
  virtual bool is_direct() const = 0;
};

/// Opens or makes the file, `size` bytes long, past the page cache where the file system can.
/// Errors: KV_STORE_INVALID when it cannot be opened for writing.
Result<std::unique_ptr<File>> open_file(const std::string& path, uint64_t size);

}  // namespace tessera::kv
