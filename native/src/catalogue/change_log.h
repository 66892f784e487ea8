// The changes since a snapshot, on disk: a file that begins with which snapshot it follows and goes
// on with records, one per batch, each with a hash of itself and of the hash before it.
// docs/concepts/live-catalogue.md describes its layout. A batch is in the file whole or not at all:
// reading ends before the first record that is not whole. The caller tells from the marks
// (platform/log_marks.h) whether a crash cut a write off there, or the file is damaged.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "catalogue/change.h"
#include "platform/append_file.h"
#include "platform/log_marks.h"

namespace tessera::catalogue {

inline constexpr uint32_t kLogVersion = 3;
inline constexpr size_t kMarkBytesMax = 4096;

/// The snapshot and change that a log follows.
struct LogHeader {
  std::string base_digest;  // of the snapshot
  std::string seed_digest;  // of the snapshot that the sources of the catalogue make
  std::vector<uint32_t> level_sizes;
  uint64_t generation = 0;  // number of the log
};

/// Changes numbered sequence_before + 1 on.
struct ChangeBatch {
  uint64_t sequence_before = 0;
  std::vector<Change> changes;
  std::string mark = {};      // of who asked for them; "": that of the batch before stays
  bool is_beginning = false;  // no changes: what version the snapshot, with what is before, is

  /// Says that the log goes on from version `sequence`.
  static ChangeBatch beginning(uint64_t sequence, std::string mark) {
    ChangeBatch batch{sequence, {}, std::move(mark)};
    batch.is_beginning = true;
    return batch;
  }
  uint64_t sequence() const { return sequence_before + changes.size(); }
};

/// Checks a batch's mark. Errors: CATALOGUE_INVALID.
Status check_mark(std::string_view mark);

/// The findings of reading a log.
struct LogContent {
  LogHeader header;
  std::vector<ChangeBatch> batches;
  uint32_t version = 0;     // of the format: 2 has no marks of batches
  uint64_t good_bytes = 0;  // up to the end of the last whole record
  uint64_t file_bytes = 0;
  bool has_later_records = false;       // behind what is not whole: no crash leaves that
  uint64_t chain = 0;                   // at good_bytes
  std::vector<platform::LogMark> ends;  // of the header and of each record
  uint64_t cut_bytes() const { return file_bytes - good_bytes; }
  /// The log that a mark is of has all that it says.
  bool reaches(const platform::LogMark& mark) const;
};

/// When an acknowledged batch lies on the device.
enum class SyncPolicy : uint8_t {
  kEachCommit = 0,  // before it is acknowledged: survives a loss of power
  kNever = 1,       // when the system pleases: survives the end of the process
};

/// Records to be appended to a log.
struct ChangeRecords {
  std::string bytes;
  uint64_t chain = 0;     // behind them; before: of what they are appended to
  uint64_t sequence = 0;  // of the last

  void add(const ChangeBatch& batch);
};

class ChangeLog {
 public:
  /// Writes a new log, whole or not at all, and opens it. Errors: IO_FAILED.
  static Result<ChangeLog> create(const std::string& path, const LogHeader& header,
                                  std::span<const ChangeBatch> batches, SyncPolicy policy);
  /// Errors: CATALOGUE_NOT_FOUND, CATALOGUE_CORRUPT when the header is not whole, CATALOGUE_INVALID
  /// for a version older than the release before wrote, STORE_NEWER, IO_FAILED. A
  /// damaged record and what follows it are left out (cut_bytes).
  static Result<LogContent> read(const std::string& path);
  /// Opens what read() has read, to go on after its last whole record. Errors: IO_FAILED.
  static Result<ChangeLog> reopen(const std::string& path, const LogContent& content,
                                  SyncPolicy policy);

  ChangeLog() = default;

  /// Appends records that go on from mark(); on return they are as safe as the policy says. Errors:
  /// STORE_FULL, IO_FAILED: then take_back() must succeed before the next append.
  Status append(const ChangeRecords& records);
  /// Cuts what a failed append may have left. Errors: IO_FAILED.
  Status take_back();
  /// Whatever the policy is.
  Status sync() { return file_.sync(); }
  /// The mark behind the last appended change.
  const platform::LogMark& mark() const { return mark_; }

 private:
  platform::AppendFile file_;
  SyncPolicy policy_ = SyncPolicy::kEachCommit;
  platform::LogMark mark_;
};

}  // namespace tessera::catalogue
