// The ordered, durable key-value store that holds the heads. RocksDB behind a face: nothing else of
// the folder sees its headers, and tests can make it fail.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tessera::kv {

/// Thread-safety: one thread at a time.
class HeadIndex {
 public:
  struct Entry {
    std::string key;
    std::string value;
  };

  virtual ~HeadIndex() = default;
  /// The value under `key`, empty when there is none.
  virtual Result<std::string> get(std::string_view key) = 0;
  /// Every entry in the order of keys. Errors: KV_STORE_CORRUPT.
  virtual Status scan(
      const std::function<void(std::string_view key, std::string_view value)>& each) = 0;
  /// Erases, then puts, all or nothing; durable on return. Errors: IO_FAILED, after which the
  /// outcome is not known.
  virtual Status commit(std::span<const std::string> erased, std::span<const Entry> put) = 0;
  /// Rewrites the files so that no byte of what was erased under the keys, or of anything that was
  /// erased where none are given, is in one of them.
  virtual Status scrub(std::span<const std::string> keys) = 0;
};

/// Opens or makes the index. Errors: KV_STORE_INVALID (not writable, in use), KV_STORE_CORRUPT.
Result<std::unique_ptr<HeadIndex>> open_rocksdb_index(const std::string& folder);

}  // namespace tessera::kv
