// Marks of a store's logs: a small file with the length that each log must at least have. The log's
// writer updates it after each durable commit. A log that is missing or shorter than its mark is
// damaged; a longer one is not.
//
// The file has two slots of 4 KiB, written in turn, each with a checksum: a torn write leaves the
// other slot. A mark may lag behind its log but never leads it, because it is written afterwards.
// Thread-safety: one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace tessera::platform {

struct LogMark {
  uint64_t log = 0;       // its number
  uint64_t sequence = 0;  // of the newest acknowledged record
  uint64_t bytes = 0;     // up to the end of that record
  uint64_t chain = 0;     // hash of all records up to there

  bool operator==(const LogMark&) const = default;
};

class LogMarks {
 public:
  static constexpr uint32_t kMarksMax = 64;

  enum class Presence : uint8_t { kNone, kGood, kDamaged };
  struct Found {
    Presence presence = Presence::kNone;
    std::vector<LogMark> marks;  // of the newest good slot
  };

  /// Errors: IO_FAILED.
  static Result<Found> find(const std::string& path);
  /// Opens or makes the file with these marks, which are on the device on return. Errors:
  /// IO_FAILED, STORE_FULL.
  static Result<LogMarks> open(const std::string& path, std::span<const LogMark> marks);

  LogMarks() = default;
  LogMarks(LogMarks&& other) noexcept;
  LogMarks& operator=(LogMarks&& other) noexcept;
  LogMarks(const LogMarks&) = delete;
  LogMarks& operator=(const LogMarks&) = delete;
  ~LogMarks();

  /// Survives the process. REQUIRES: at most kMarksMax.
  Status put(std::span<const LogMark> marks);
  /// Survives the machine, in both slots.
  Status put_durably(std::span<const LogMark> marks);

 private:
  int descriptor_ = -1;
  uint64_t version_ = 0;  // of the slot written last
  std::string path_;
};

}  // namespace tessera::platform
