// The changes since a snapshot, on disk: a file that begins with which snapshot it follows and goes
// on with checksummed records, one per batch. docs/live-catalogue.md tells its layout. A batch is
// in the file whole or not at all: reading ends before the first record that is not whole.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "catalogue/change.h"
#include "platform/append_file.h"

namespace tessera::catalogue {

/// What a log follows.
struct LogHeader {
  std::string base_digest;  // of the snapshot
  std::string seed_digest;  // of the snapshot that the sources of the catalogue make
  std::vector<uint32_t> level_sizes;
};

/// Changes numbered sequence_before + 1 on. Without changes: the numbering goes on from there.
struct ChangeBatch {
  uint64_t sequence_before = 0;
  std::vector<Change> changes;

  uint64_t sequence() const { return sequence_before + changes.size(); }
};

/// What reading a log found.
struct LogContent {
  LogHeader header;
  std::vector<ChangeBatch> batches;
  uint64_t good_bytes = 0;  // up to the end of the last whole record
  uint64_t file_bytes = 0;
  uint64_t cut_bytes() const { return file_bytes - good_bytes; }
};

/// When an acknowledged batch lies on the device.
enum class SyncPolicy : uint8_t {
  kEachCommit = 0,  // before it is acknowledged: survives a loss of power
  kNever = 1,       // when the system pleases: survives the end of the process
};

class ChangeLog {
 public:
  /// Writes a new log, whole or not at all, and opens it. Errors: IO_FAILED.
  static Result<ChangeLog> create(const std::string& path, const LogHeader& header,
                                  std::span<const ChangeBatch> batches, SyncPolicy policy);
  /// Errors: CATALOGUE_NOT_FOUND, CATALOGUE_CORRUPT when the header is not whole, IO_FAILED. A
  /// damaged record and what follows it are left out (cut_bytes).
  static Result<LogContent> read(const std::string& path);
  /// Opens what read() has read, to go on after its last whole record. Errors: IO_FAILED.
  static Result<ChangeLog> reopen(const std::string& path, const LogContent& content,
                                  SyncPolicy policy);

  ChangeLog() = default;

  /// Appends records that encode_batch() has made; on return they are as safe as the policy says.
  Status append(const std::string& records);

 private:
  platform::AppendFile file_;
  SyncPolicy policy_ = SyncPolicy::kEachCommit;
};

/// Appends a batch as a record.
void encode_batch(uint64_t sequence_before, std::span<const Change> changes, std::string& records);

}  // namespace tessera::catalogue
