#include "store/count_commits.h"

#include <cstring>
#include <filesystem>

#include "store/wal_scan.h"

namespace tessera::store {
namespace {

namespace fs = std::filesystem;

class CommitReader final : public rocksdb::WriteBatch::Handler {
 public:
  uint64_t number = 0;

  rocksdb::Status PutCF(uint32_t, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    if (key == rocksdb::Slice(kCommitKey.data(), kCommitKey.size())) {
      number = decode_commit({value.data(), value.size()});
    }
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice&) override {
    return rocksdb::Status::OK();
  }
};

/// Counts what the logs have, and lets none of it be replayed.
class Counter final : public rocksdb::WalFilter {
 public:
  uint64_t first = 0;
  uint64_t last = 0;
  std::string gap;

  const char* Name() const override { return "TesseraCommitCounter"; }
  WalProcessingOption LogRecordFound(unsigned long long log, const std::string&,
                                     const rocksdb::WriteBatch& batch, rocksdb::WriteBatch*,
                                     bool*) override {
    const std::optional<uint64_t> found = commit_of(batch);
    if (!found && gap.empty()) {
      gap = "log " + std::to_string(log) + ": expected writes, got another record";
    }
    const uint64_t number = found.value_or(0);
    if (number > 0) {
      if (last > 0 && number > last + 1 && gap.empty()) {
        gap = "log " + std::to_string(log) + ": expected write " + std::to_string(last + 1) +
              ", got " + std::to_string(number);
      }
      if (first == 0) first = number;
      if (gap.empty()) last = number;
    }
    return WalProcessingOption::kIgnoreCurrentRecord;
  }
};

class NoLog final : public rocksdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

bool is_of_rocksdb(const fs::path& file) {
  const std::string name = file.filename();
  return name == "CURRENT" || name.starts_with("MANIFEST-") || file.extension() == ".sst" ||
         file.extension() == ".log";
}

bool has_files(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (is_of_rocksdb(entry.path())) return true;
  }
  return false;
}

using Presence = platform::LogMarks::Presence;

/// Why what was counted is not all; empty where it is.
std::string damage_of(const Counter& counted, uint64_t in_tables, const CommitCount& count,
                      Presence marks) {
  if (!counted.gap.empty()) return counted.gap;
  if (counted.first > in_tables + 1) {
    return "write-ahead logs: expected write " + std::to_string(in_tables + 1) +
           " after those in tables, got " + std::to_string(counted.first);
  }
  if (count.readable < count.acknowledged) {
    return "expected " + std::to_string(count.acknowledged) + " writes (file marks), got " +
           std::to_string(count.readable);
  }
  // The file appears whole, before the first write: where it is not, what it said is lost, however
  // empty the rest looks.
  const bool is_expected = count.readable > 0 || marks == Presence::kDamaged;
  if (is_expected && marks != Presence::kGood) {
    return "marks: expected this file, got none that is whole";
  }
  return "";
}

}  // namespace

bool is_damage(const rocksdb::Status& status) {
  return status.IsCorruption() || status.IsNotFound() || status.IsInvalidArgument() ||
         status.IsNotSupported() || status.IsPathNotFound();
}

std::optional<uint64_t> commit_of(const rocksdb::WriteBatch& batch) {
  CommitReader reader;
  return batch.Iterate(&reader).ok() ? std::optional(reader.number) : std::nullopt;
}

rocksdb::WalFilter::WalProcessingOption OnlyWrites::LogRecordFound(unsigned long long,
                                                                   const std::string&,
                                                                   const rocksdb::WriteBatch& batch,
                                                                   rocksdb::WriteBatch*, bool*) {
  return commit_of(batch) ? WalProcessingOption::kContinueProcessing
                          : WalProcessingOption::kCorruptedRecord;
}

std::string encode_commit(uint64_t number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

uint64_t decode_commit(std::string_view value) {
  uint64_t number = 0;
  if (value.size() == sizeof(number)) std::memcpy(&number, value.data(), sizeof(number));
  return number;
}

std::shared_ptr<rocksdb::Logger> no_log() { return std::make_shared<NoLog>(); }

Result<CommitCount> count_commits(const DbSettings& settings) {
  CommitCount count;
  const Result<platform::LogMarks::Found> found =
      platform::LogMarks::find(settings.folder + "/marks");
  if (!found.is_ok()) return found.status();
  const Presence marks = found.value().presence;
  if (marks == Presence::kGood && !found.value().marks.empty()) {
    count.acknowledged = found.value().marks.front().sequence;
  }
  if (!fs::exists(settings.folder + "/CURRENT")) {
    count.is_new = !has_files(settings.folder) && count.acknowledged == 0;
    if (!count.is_new) count.damage = "CURRENT: expected this file, got none";
    return count;
  }
  Counter counter;
  rocksdb::Options options = settings.options;
  options.create_if_missing = false;
  options.info_log = no_log();
  options.track_and_verify_wals_in_manifest = true;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  options.wal_filter = &counter;
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options, settings.folder, &opened);
  if (!status.ok() && !is_damage(status)) {
    return Status(settings.invalid, settings.name + ": " + status.ToString());
  }
  if (!status.ok()) {
    count.damage = status.ToString();
    return count;
  }
  const std::unique_ptr<rocksdb::DB> db(opened);
  std::string value;
  const rocksdb::Slice key(kCommitKey.data(), kCommitKey.size());
  const rocksdb::Status read = db->Get(rocksdb::ReadOptions(), key, &value);
  if (!read.ok() && !read.IsNotFound()) {
    count.damage = read.ToString();
    return count;
  }
  const uint64_t in_tables = decode_commit(value);
  count.lacks_tables = counter.first > in_tables + 1;
  count.readable = count.lacks_tables ? in_tables : std::max(in_tables, counter.last);
  count.damage = damage_of(counter, in_tables, count, marks);
  const WalScan logs = scan_wals(settings.folder, count.readable);
  if (count.damage.empty()) {
    count.damage = logs.is_middle ? logs.place : "";
  } else if (!logs.place.empty()) {
    count.damage += "; " + logs.place;
  }
  return count;
}

}  // namespace tessera::store
