#include "store/guarded_db.h"

#include <rocksdb/env.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "store/count_commits.h"

namespace tessera::store {
namespace {

using Clock = std::chrono::steady_clock;

/// One block of its log: no part of it can be skipped unseen.
constexpr uint64_t kManifestBytes = 32768;

rocksdb::Slice commit_key() { return {kCommitKey.data(), kCommitKey.size()}; }

}  // namespace

GuardedDb::GuardedDb(DbSettings settings)
    : settings_(std::move(settings)), reserve_(settings_.folder, settings_.reserve_bytes) {}

GuardedDb::~GuardedDb() = default;

Result<std::unique_ptr<GuardedDb>> GuardedDb::open(DbSettings settings) {
  std::unique_ptr<GuardedDb> db(new GuardedDb(std::move(settings)));
  TESSERA_RETURN_IF_ERROR(db->open_first());
  return db;
}

Status GuardedDb::open_first() {
  std::error_code error;
  std::filesystem::create_directories(settings_.folder, error);
  if (error) {
    return {settings_.invalid, settings_.folder + ": cannot be made: " + error.message()};
  }
  Result<std::unique_ptr<platform::FolderLock>> lock =
      platform::FolderLock::take(settings_.folder + "/lock", settings_.invalid);
  if (!lock.is_ok()) return lock.status();
  lock_ = std::move(lock).value();
  if (settings_.is_verified) {
    const Result<CommitCount> count = count_commits(settings_);
    if (!count.is_ok()) return count.status();
    if (!count.value().damage.empty()) {
      return {settings_.corrupt,
              settings_.name + " in " + settings_.folder + " is damaged: " + count.value().damage +
                  "; of its writes the first " + std::to_string(count.value().readable) +
                  " can be read; `npm run repair` shows what would be lost"};
    }
  }
  const MutexLock lock_writer(writer_);
  return reopen();
}

Status GuardedDb::translate(const rocksdb::Status& status, Code otherwise) const {
  if (status.ok()) return Status::ok();
  return {status.IsCorruption() ? settings_.corrupt : otherwise,
          settings_.name + ": " + status.ToString()};
}

Status GuardedDb::refusal(const Freeze& freeze) const {
  return {freeze.is_full() ? Code::kStoreFull : Code::kStoreUnavailable,
          settings_.name + " refuses writes: " + freeze.reason()};
}

Result<GuardedDb::Opened> GuardedDb::open_writable() const {
  Opened opened;
  opened.freeze = std::make_shared<Freeze>();
  const auto files = settings_.files ? settings_.files : rocksdb::FileSystem::Default();
  opened.env = rocksdb::NewCompositeEnv(freezing_files(files, opened.freeze));
  rocksdb::Options options = settings_.options;
  options.env = opened.env.get();
  options.create_if_missing = true;
  options.paranoid_checks = true;
  options.info_log = no_log();
  options.max_bgerror_resume_count = 0;  // it is opened again instead
  options.max_manifest_file_size = kManifestBytes;
  options.verify_sst_unique_id_in_manifest = true;
  options.track_and_verify_wals_in_manifest = true;
  // The writes that must not be missing have been counted before this.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  OnlyWrites only_writes;
  options.wal_filter = &only_writes;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(options, settings_.folder, &db);
  opened.db.reset(db);
  if (opened.freeze->is_on()) return refusal(*opened.freeze);
  if (status.ToString().find(std::strerror(ENOLCK)) != std::string::npos) {
    return platform::lock_refusal(settings_.folder + "/LOCK", ENOLCK, settings_.invalid);
  }
  if (!status.ok()) {
    return Status(is_damage(status) ? settings_.corrupt : settings_.invalid,
                  settings_.name + ": " + status.ToString());
  }
  opened.is_writable = true;
  return opened;
}

Result<GuardedDb::Opened> GuardedDb::open_for_reading() const {
  Opened opened;
  rocksdb::Options options = settings_.options;
  options.create_if_missing = false;
  options.info_log = no_log();
  options.track_and_verify_wals_in_manifest = true;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  OnlyWrites only_writes;
  options.wal_filter = &only_writes;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options, settings_.folder, &db);
  if (!status.ok()) return translate(status, Code::kStoreUnavailable);
  opened.db.reset(db);
  return opened;
}

/// Closes the database and opens what lies on the disk: for reading alone where that takes no
/// writes, which is no error. Errors: it cannot be read either.
Status GuardedDb::reopen() {
  const AloneLock alone(opened_lock_);
  next_attempt_ = Clock::now() + settings_.between_attempts;
  opened_.db.reset();  // uses the rest
  opened_ = Opened{};
  Status refused = reserve_.check(settings_.options.write_buffer_size);
  if (refused.is_ok()) {
    Result<Opened> opened = open_writable();
    if (!opened.is_ok()) refused = opened.status();
    if (opened.is_ok()) opened_ = std::move(opened).value();
  }
  const Code why = refused.code();
  if (!refused.is_ok() && why != Code::kStoreFull && why != Code::kStoreUnavailable) {
    show(Health::kDown, refused);
    return refused;
  }
  if (!refused.is_ok()) {
    Result<Opened> opened = open_for_reading();
    show(opened.is_ok() ? Health::kReadOnly : Health::kDown, refused);
    if (!opened.is_ok()) return refused;
    opened_ = std::move(opened).value();
  }
  std::string value;
  const rocksdb::Status read = opened_.db->Get(rocksdb::ReadOptions(), commit_key(), &value);
  if (!read.ok() && !read.IsNotFound()) return translate(read, Code::kIoFailed);
  commit_ = decode_commit(value);
  if (!opened_.is_writable) return Status::ok();
  if (settings_.is_verified) {
    const platform::LogMark mark{0, commit_, 0, 0};
    Result<platform::LogMarks> marks = platform::LogMarks::open(marks_path(), {&mark, 1});
    if (!marks.is_ok()) {
      opened_.is_writable = false;
      show(Health::kReadOnly, marks.status());
      return Status::ok();
    }
    marks_ = std::move(marks).value();
  }
  show(Health::kOk, Status::ok());
  return Status::ok();
}

Status GuardedDb::make_writable() {
  Opened& opened = opened_to_write();
  const bool is_frozen = opened.freeze && opened.freeze->is_on();
  if (opened.is_writable && !is_frozen) return Status::ok();
  // The first reopening after a failure gives readers what lies on the disk.
  if (!is_frozen && Clock::now() < next_attempt_) {
    const MutexLock lock(state_lock_);
    return {Code::kStoreFull, settings_.name + " refuses writes: " + state_.reason};
  }
  const Status reopened = reopen();
  if (opened.is_writable) return Status::ok();
  if (!reopened.is_ok()) return reopened;
  const MutexLock lock(state_lock_);
  return {Code::kStoreFull, settings_.name + " refuses writes: " + state_.reason};
}

Status GuardedDb::read(const Operation& operation) {
  for (bool is_second : {false, true}) {
    {
      const SharedLock shared(opened_lock_);
      if (!opened_.db) break;
      const rocksdb::Status status = operation(*opened_.db);
      const bool is_frozen = opened_.freeze && opened_.freeze->is_on();
      if (status.ok() || !is_frozen || is_second) return translate(status, Code::kIoFailed);
    }
    const MutexLock lock(writer_);
    const Opened& opened = opened_to_write();
    if (opened.freeze && opened.freeze->is_on()) (void)reopen();
  }
  return {Code::kStoreUnavailable, settings_.name + ": " + state().reason};
}

bool GuardedDb::read_at_once(const Operation& operation) const {
  if (!opened_lock_.try_lock_shared()) return false;
  const bool is_frozen = opened_.freeze && opened_.freeze->is_on();
  const bool is_read = opened_.db && !is_frozen && operation(*opened_.db).ok();
  opened_lock_.unlock_shared();
  return is_read;
}

Status GuardedDb::write(rocksdb::WriteBatch& batch, bool is_durable) {
  const MutexLock lock(writer_);
  Opened& opened = opened_to_write();
  TESSERA_RETURN_IF_ERROR(make_writable());
  TESSERA_RETURN_IF_ERROR(reserve_.check(batch.GetDataSize()));
  const uint64_t number = commit_ + 1;
  batch.Put(commit_key(), encode_commit(number));
  rocksdb::WriteOptions options;
  options.sync = is_durable;
  opened.freeze->write_number = number;
  const rocksdb::Status status = opened.db->Write(options, &batch);
  if (opened.freeze->is_on()) return settle(number);
  opened.freeze->write_number = 0;
  if (!status.ok()) {
    const Status failed = translate(status, Code::kIoFailed);
    show(Health::kReadOnly, failed);
    return failed;
  }
  commit_ = number;
  // A mark that is behind is right; so is one that could not be written.
  const platform::LogMark mark{0, number, 0, 0};
  if (is_durable && settings_.is_verified) (void)marks_.put({&mark, 1});
  return Status::ok();
}

/// The outcome of a write during which the disk failed.
Status GuardedDb::settle(uint64_t number) {
  Opened& opened = opened_to_write();
  const Status refused = refusal(*opened.freeze);
  TESSERA_RETURN_IF_ERROR(reopen());
  if (commit_ < number) return refused;
  if (opened.is_writable) return Status::ok();  // opening has put it into a table
  return {Code::kIoFailed, refused.message()};
}

/// An operation that writes files beside the writers; whoever writes next finds the disk as it is.
Status GuardedDb::on_files(const Operation& operation) {
  const SharedLock shared(opened_lock_);
  if (!opened_.db || !opened_.is_writable) {
    return {Code::kStoreUnavailable, settings_.name + ": " + state().reason};
  }
  const rocksdb::Status status = operation(*opened_.db);
  return opened_.freeze->is_on() ? refusal(*opened_.freeze) : translate(status, Code::kIoFailed);
}

Status GuardedDb::scrub(std::span<const KeyRange> ranges) {
  TESSERA_RETURN_IF_ERROR(recover());
  TESSERA_RETURN_IF_ERROR(reserve_.check(settings_.options.write_buffer_size));
  rocksdb::CompactRangeOptions compact;
  compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  compact.exclusive_manual_compaction = false;
  TESSERA_RETURN_IF_ERROR(on_files([&](rocksdb::DB& db) {
    rocksdb::Status status = db.Flush(rocksdb::FlushOptions());
    if (status.ok() && ranges.empty()) status = db.CompactRange(compact, nullptr, nullptr);
    for (const KeyRange& range : ranges) {
      const rocksdb::Slice from(range.from), to(range.to);
      if (status.ok()) status = db.CompactRange(compact, &from, &to);
    }
    return status;
  }));
  // Opening begins a manifest that names the tables that are there, and removes all others.
  const MutexLock lock(writer_);
  TESSERA_RETURN_IF_ERROR(reopen());
  if (opened_to_write().is_writable) return Status::ok();
  const MutexLock state_lock(state_lock_);
  return {Code::kStoreUnavailable, settings_.name + ": " + state_.reason};
}

Status GuardedDb::recover() {
  const MutexLock lock(writer_);
  return make_writable();
}

void GuardedDb::show(Health health, const Status& why) {
  const MutexLock lock(state_lock_);
  state_ = {health, why.message()};
}

StoreState GuardedDb::state() const {
  if (opened_lock_.try_lock_shared()) {
    const std::shared_ptr<Freeze> freeze = opened_.freeze;
    opened_lock_.unlock_shared();
    if (freeze && freeze->is_on()) return {Health::kReadOnly, freeze->reason()};
  }
  {
    const MutexLock lock(state_lock_);
    if (state_.health != Health::kOk) return state_;
  }
  const Status space = reserve_.check(0);
  return {space.is_ok() ? Health::kOk : Health::kReadOnly, space.message()};
}

uint64_t GuardedDb::commit_number() const { return commit_; }

}  // namespace tessera::store
