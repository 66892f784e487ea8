#include "store/repair_store.h"

#include <chrono>
#include <filesystem>

#include "store/count_commits.h"
#include "store/ordered_store_options.h"
#include "store/wal_scan.h"

namespace tessera::store {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kUnknownWrites = uint64_t{1} << 20;

/// Replays what comes before the first missing write.
class UpTo final : public rocksdb::WalFilter {
 public:
  explicit UpTo(uint64_t last) : last_(last) {}
  const char* Name() const override { return "TesseraUpTo"; }
  WalProcessingOption LogRecordFound(unsigned long long, const std::string&,
                                     const rocksdb::WriteBatch& batch, rocksdb::WriteBatch*,
                                     bool*) override {
    const std::optional<uint64_t> number = commit_of(batch);
    return !number || *number > last_ ? WalProcessingOption::kStopReplay
                                      : WalProcessingOption::kContinueProcessing;
  }

 private:
  const uint64_t last_;
};

Status failure(const rocksdb::Status& status) {
  return {status.IsCorruption() ? Code::kStoreCorrupt : Code::kIoFailed,
          "repair: " + status.ToString()};
}

/// Tables are never written again: a link is as good as a copy.
Status copy_store(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::remove_all(to, error);
  fs::create_directories(to, error);
  for (const auto& entry : fs::directory_iterator(from, error)) {
    if (error) break;
    if (!entry.is_regular_file() || entry.path().filename() == "lock") continue;
    const fs::path target = to / entry.path().filename();
    const bool is_table = entry.path().extension() == ".sst";
    if (is_table) fs::create_hard_link(entry.path(), target, error);
    if (!is_table || error) fs::copy_file(entry.path(), target, error);
    if (error) break;
  }
  if (!error) return Status::ok();
  const bool is_full = error == std::errc::no_space_on_device;
  return {is_full ? Code::kStoreFull : Code::kIoFailed,
          to.string() + ": cannot be copied: " + error.message()};
}

rocksdb::Options options_for_repair() {
  rocksdb::Options options = ordered_store_options();
  options.create_if_missing = true;
  options.info_log = no_log();
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  return options;
}

/// Opens the copy with what can be read, numbers its writes anew and counts its keys.
Status mend(const fs::path& folder, StoreRepair& repair) {
  UpTo up_to(repair.readable);
  rocksdb::Options options = options_for_repair();
  if (repair.is_gathered) {
    for (const std::string& log : logs_of_other_records(folder)) fs::remove(log);
    const rocksdb::Status gathered = rocksdb::RepairDB(folder.string(), options);
    if (!gathered.ok()) return failure(gathered);
  } else {
    options.wal_filter = &up_to;
  }
  rocksdb::DB* opened = nullptr;
  rocksdb::Status status = rocksdb::DB::Open(options, folder.string(), &opened);
  if (!status.ok()) return failure(status);
  const std::unique_ptr<rocksdb::DB> db(opened);
  // Without marks nothing says how far writes that are lost went.
  const uint64_t unknown = repair.acknowledged == 0 ? kUnknownWrites : 0;
  const uint64_t number = std::max(repair.acknowledged, repair.readable) + 1 + unknown;
  rocksdb::WriteOptions durable;
  durable.sync = true;
  status =
      db->Put(durable, rocksdb::Slice(kCommitKey.data(), kCommitKey.size()), encode_commit(number));
  if (status.ok()) status = db->Flush(rocksdb::FlushOptions());
  if (!status.ok()) return failure(status);
  const std::unique_ptr<rocksdb::Iterator> at(db->NewIterator(rocksdb::ReadOptions()));
  for (at->SeekToFirst(); at->Valid(); at->Next()) ++repair.keys_left;
  if (!at->status().ok()) return failure(at->status());
  --repair.keys_left;  // the number
  const platform::LogMark mark{0, number, 0, 0};
  std::error_code error;
  fs::remove(folder / "marks", error);
  return platform::LogMarks::open((folder / "marks").string(), {&mark, 1}).is_ok()
             ? Status::ok()
             : Status(Code::kIoFailed, folder.string() + "/marks: cannot be written");
}

/// Damage that no number tells: of blocks of tables.
std::string damage_of_tables(const DbSettings& settings) {
  rocksdb::Options options = settings.options;
  options.info_log = no_log();
  options.track_and_verify_wals_in_manifest = true;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  OnlyWrites only_writes;
  options.wal_filter = &only_writes;
  rocksdb::DB* opened = nullptr;
  rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options, settings.folder, &opened);
  const std::unique_ptr<rocksdb::DB> db(opened);
  if (status.ok()) status = db->VerifyChecksum();
  return status.ok() ? "" : status.ToString();
}

Status take_place(const fs::path& folder, const fs::path& mended, StoreRepair& repair) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  const fs::path aside = folder.string() + ".cut-" + std::to_string(seconds);
  std::error_code error;
  fs::rename(folder, aside, error);
  if (!error) fs::rename(mended, folder, error);
  if (error) {
    return {Code::kIoFailed, folder.string() + ": cannot be replaced: " + error.message()};
  }
  repair.aside = aside;
  return Status::ok();
}

}  // namespace

Result<StoreRepair> repair_store(const std::string& folder, RepairMode mode) {
  if (!fs::is_directory(folder)) {
    return Status(Code::kStoreInvalid, folder + ": expected the folder of a store");
  }
  Result<std::unique_ptr<platform::FolderLock>> lock =
      platform::FolderLock::take(folder + "/lock", Code::kStoreInvalid);
  if (!lock.is_ok()) return lock.status();
  DbSettings settings;
  settings.folder = folder;
  settings.options = ordered_store_options();
  const Result<CommitCount> count = count_commits(settings);
  if (!count.is_ok()) return count.status();
  StoreRepair repair;
  repair.damage = count.value().damage;
  repair.acknowledged = count.value().acknowledged;
  repair.readable = count.value().readable;
  if (count.value().is_new) return repair;
  const std::string in_tables = damage_of_tables(settings);
  repair.is_gathered = !in_tables.empty() || count.value().lacks_tables;
  if (!in_tables.empty()) repair.damage += (repair.damage.empty() ? "" : "; ") + in_tables;
  if (repair.damage.empty()) return repair;
  const fs::path mended = folder + ".repairing";
  TESSERA_RETURN_IF_ERROR(copy_store(folder, mended));
  Status status = mend(mended, repair);
  if (status.is_ok() && mode == RepairMode::kApply) status = take_place(folder, mended, repair);
  std::error_code error;
  fs::remove_all(mended, error);
  if (!status.is_ok()) return status;
  return repair;
}

}  // namespace tessera::store
