#include "catalogue/repair_changes.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "catalogue/live_files.h"
#include "catalogue/snapshot.h"
#include "platform/folder_lock.h"
#include "platform/log_marks.h"

namespace tessera::catalogue {
namespace {

namespace fs = std::filesystem;

/// Changes that a lost log of unknown length is taken to have had: numbers go on beyond them.
constexpr uint64_t kUnknownChanges = uint64_t{1} << 20;

struct ReadableLog {
  uint64_t number = 0;
  LogContent content;
};

bool has_beginning(const LogContent& content) {
  return std::any_of(content.batches.begin(), content.batches.end(),
                     [](const ChangeBatch& batch) { return batch.is_beginning; });
}

/// The newest log whose head can be read and whose snapshot is there, be it that of the sources.
std::optional<ReadableLog> newest_readable(const std::string& folder, std::string& damage) {
  const std::vector<uint64_t> numbers = generations_in(folder);
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
    Result<LogContent> content = ChangeLog::read(log_path_in(folder, *number));
    Status status = content.is_ok() ? Status::ok() : content.status();
    if (status.is_ok()) {
      const LogHeader& header = content.value().header;
      if (header.generation != *number) {
        status = {Code::kCatalogueCorrupt, log_path_in(folder, *number) + ": expected log " +
                                               std::to_string(*number) + ", got log " +
                                               std::to_string(header.generation)};
      } else if (header.base_digest != header.seed_digest) {
        const auto base = Snapshot::open(snapshot_path_in(folder, header.base_digest));
        if (!base.is_ok()) status = base.status();
        if (base.is_ok() && !has_beginning(content.value())) {
          status = {
              Code::kCatalogueCorrupt,
              log_path_in(folder, *number) + ": expected the version of its snapshot, got none"};
        }
      }
    }
    if (status.is_ok()) return ReadableLog{*number, std::move(content).value()};
    damage += (damage.empty() ? "" : "; ") + status.message();
  }
  return std::nullopt;
}

/// Number of the newest change that marks or any log speak of.
uint64_t acknowledged_in(const std::string& folder, const platform::LogMarks::Found& marks) {
  uint64_t newest = 0;
  for (const platform::LogMark& mark : marks.marks) newest = std::max(newest, mark.sequence);
  for (const uint64_t number : generations_in(folder)) {
    const Result<LogContent> content = ChangeLog::read(log_path_in(folder, number));
    if (content.is_ok()) newest = std::max(newest, content.value().ends.back().sequence);
  }
  return newest;
}

/// Copies the logs and the marks, so that nothing is lost by what follows.
Status keep_aside(const std::string& folder, std::string& aside) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  aside = folder + "/cut-" + std::to_string(seconds);
  std::error_code error;
  fs::create_directories(aside, error);
  std::vector<std::string> files;
  for (const uint64_t number : generations_in(folder)) {
    files.push_back(log_path_in(folder, number));
  }
  if (fs::exists(marks_path_in(folder))) files.push_back(marks_path_in(folder));
  for (const std::string& file : files) {
    if (error) break;
    const fs::path target = fs::path(aside) / fs::path(file).filename();
    fs::copy_file(file, target, fs::copy_options::overwrite_existing, error);
  }
  if (!error) return Status::ok();
  return {error == std::errc::no_space_on_device ? Code::kStoreFull : Code::kIoFailed,
          aside + ": cannot be copied to: " + error.message()};
}

/// A log of a new number with what can be read, in place of those that cannot.
Status write_anew(const std::string& folder, const ReadableLog& log, uint64_t acknowledged,
                  const platform::LogMarks::Found& marks) {
  const std::vector<uint64_t> numbers = generations_in(folder);
  uint64_t number = numbers.back();
  for (const platform::LogMark& mark : marks.marks) number = std::max(number, mark.log);
  LogHeader header = log.content.header;
  header.generation = ++number;
  std::vector<ChangeBatch> batches = log.content.batches;
  // The mark stays that of what can be read: who gave it goes on from there.
  if (acknowledged > 0) batches.push_back(ChangeBatch::beginning(acknowledged, {}));
  const Result<ChangeLog> made =
      ChangeLog::create(log_path_in(folder, number), header, batches, SyncPolicy::kEachCommit);
  if (!made.is_ok()) return made.status();
  std::error_code error;
  for (const uint64_t other : numbers) {
    const bool is_readable = ChangeLog::read(log_path_in(folder, other)).is_ok();
    if (other > log.number || !is_readable) fs::remove(log_path_in(folder, other), error);
  }
  fs::remove(marks_path_in(folder), error);
  const platform::LogMark mark = made.value().mark();
  const auto marked = platform::LogMarks::open(marks_path_in(folder), {&mark, 1});
  return marked.is_ok() ? Status::ok() : marked.status();
}

}  // namespace

Result<ChangesRepair> repair_changes(const std::string& folder, ChangesRepairMode mode) {
  if (!fs::is_directory(folder)) {
    return Status(Code::kIoFailed, folder + ": expected a folder of changes");
  }
  const auto lock = platform::FolderLock::take(folder + "/lock", Code::kIoFailed);
  if (!lock.is_ok()) return lock.status();
  for (const uint64_t number : generations_in(folder)) {
    const Result<LogContent> content = ChangeLog::read(log_path_in(folder, number));
    // A format that this release does not read is not damage.
    const Code code = content.is_ok() ? Code::kOk : content.status().code();
    if (code == Code::kStoreNewer || code == Code::kCatalogueInvalid) return content.status();
  }
  const Result<platform::LogMarks::Found> marks = platform::LogMarks::find(marks_path_in(folder));
  if (!marks.is_ok()) return marks.status();
  ChangesRepair repair;
  if (generations_in(folder).empty() && marks.value().marks.empty()) return repair;
  const Status found = check_marks(folder);
  if (!found.is_ok()) repair.damage = found.message();
  const std::optional<ReadableLog> log = newest_readable(folder, repair.damage);
  if (!log) {
    return Status(Code::kCatalogueCorrupt,
                  folder + ": no log of it can be read, restore a backup: " + repair.damage);
  }
  const Status whole = check_whole(folder, log->number, log->content, marks.value().marks);
  if (!whole.is_ok()) repair.damage += (repair.damage.empty() ? "" : "; ") + whole.message();
  repair.log = log_path_in(folder, log->number);
  repair.readable = log->content.ends.back().sequence;
  repair.acknowledged = acknowledged_in(folder, marks.value());
  const bool is_newest = log->number == generations_in(folder).back();
  if (marks.value().marks.empty() && !is_newest) repair.acknowledged += kUnknownChanges;
  if (repair.damage.empty() || mode == ChangesRepairMode::kLook) return repair;
  TESSERA_RETURN_IF_ERROR(keep_aside(folder, repair.aside));
  TESSERA_RETURN_IF_ERROR(write_anew(folder, *log, repair.acknowledged, marks.value()));
  return repair;
}

}  // namespace tessera::catalogue
