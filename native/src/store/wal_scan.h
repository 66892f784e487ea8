// Where a write-ahead log of RocksDB breaks off, for messages and for what no number tells: a
// record that is whole after one that is not. The format: github.com/facebook/rocksdb/wiki/
// Write-Ahead-Log-File-Format (blocks of 32 KiB; checksum, length, type, payload).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::store {

struct WalScan {
  /// File, first byte that cannot be read, and how much follows; empty where all is whole.
  std::string place;
  /// A whole later write follows that place: a crash does not leave this.
  bool is_middle = false;
};

/// Looks through the logs of a folder, oldest first, up to the first place. `readable`: number of
/// the newest write that a start would find.
WalScan scan_wals(const std::string& folder, uint64_t readable);

/// Logs that cannot be read, or hold a record that is no write: what must not be replayed.
std::vector<std::string> logs_of_other_records(const std::string& folder);

}  // namespace tessera::store
