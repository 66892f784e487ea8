// The folder of a live catalogue: NUMBER.changes, one log per generation, and DIGEST.snapshot, what
// those follow. A generation exists from the moment its log has its name.
#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "catalogue/eligibility.h"
#include "catalogue/live_catalogue.h"
#include "catalogue/live_files.h"
#include "platform/file.h"

namespace tessera::catalogue {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSnapshotExtension = ".snapshot";

Status check_level_sizes(const Snapshot& seed, const std::vector<uint32_t>& sizes) {
  const auto invalid = [](const std::string& message) {
    return Status(Code::kCatalogueInvalid, "levelSizes" + message);
  };
  if (sizes.empty()) return Status::ok();
  if (sizes.size() < seed.depth() || sizes.size() > kMaxDepth) {
    return invalid(": " + std::to_string(sizes.size()) + " levels, expected " +
                   std::to_string(seed.depth()) + " to " + std::to_string(kMaxDepth));
  }
  for (uint32_t level = 0; level < sizes.size(); ++level) {
    const uint32_t least = level < seed.depth() ? seed.level_size(level) : 1;
    if (sizes[level] >= least && sizes[level] <= kMaxLevelSize) continue;
    return invalid("[" + std::to_string(level) + "]: " + std::to_string(sizes[level]) +
                   ", expected " + std::to_string(least) + " to " + std::to_string(kMaxLevelSize));
  }
  return Status::ok();
}

/// Copies a log of a former version, and the marks of that time, for a release that reads no newer.
Status keep_former(const std::string& log, const std::string& marks, uint32_t version) {
  const std::string suffix = ".v" + std::to_string(version);
  const std::string name = fs::path(log).stem();
  const std::string kept_marks = fs::path(log).replace_filename(name + ".marks" + suffix);
  std::error_code error;
  fs::copy_file(log, log + suffix, fs::copy_options::overwrite_existing, error);
  if (!error && fs::exists(marks)) {
    fs::copy_file(marks, kept_marks, fs::copy_options::overwrite_existing, error);
  }
  if (!error) return Status::ok();
  return {Code::kIoFailed, log + suffix + ": cannot be copied to: " + error.message()};
}

}  // namespace

Result<std::shared_ptr<const View>> replay(const View& view, std::span<const ChangeBatch> batches,
                                           uint64_t sequence_max) {
  ViewEditor editor(view);
  for (const ChangeBatch& batch : batches) {
    if (batch.sequence() > sequence_max) break;
    editor.continue_from(batch.sequence_before);
    TESSERA_RETURN_IF_ERROR(apply_changes(editor, batch.changes));
    TESSERA_RETURN_IF_ERROR(check_mark(batch.mark));
    editor.put_mark(batch.mark);
  }
  return editor.finish();
}

Result<std::unique_ptr<LiveCatalogue>> LiveCatalogue::open(std::shared_ptr<const Snapshot> seed,
                                                           LiveOptions options) {
  TESSERA_RETURN_IF_ERROR(check_level_sizes(*seed, options.level_sizes));
  std::unique_ptr<LiveCatalogue> live(new LiveCatalogue(std::move(seed), std::move(options)));
  const MutexLock lock(live->writer_);
  if (live->options_.folder.empty()) {
    live->head_ = View::of(live->seed_, live->options_.level_sizes);
    live->publish(live->head_);
  } else {
    TESSERA_RETURN_IF_ERROR(live->recover());
  }
  return live;
}

Status LiveCatalogue::recover() {
  std::error_code error;
  fs::create_directories(options_.folder, error);
  if (error) return {Code::kIoFailed, options_.folder + ": cannot create: " + error.message()};
  Result<std::unique_ptr<platform::FolderLock>> lock =
      platform::FolderLock::take(options_.folder + "/lock", Code::kIoFailed);
  if (!lock.is_ok()) return lock.status();
  lock_ = std::move(lock).value();
  const std::vector<uint64_t> numbers = generation_numbers();
  TESSERA_RETURN_IF_ERROR(check_marks(options_.folder));
  const Result<platform::LogMarks::Found> marks = platform::LogMarks::find(marks_path());
  if (!marks.is_ok()) return marks.status();
  for (const platform::LogMark& mark : marks.value().marks) {
    if (!numbers.empty() && mark.log < numbers.back()) closed_.push_back(mark);
  }
  if (numbers.empty()) {
    // Before the log: a log without marks is damage.
    Result<platform::LogMarks> opened = platform::LogMarks::open(marks_path(), {});
    if (!opened.is_ok()) return opened.status();
    marks_ = std::move(opened).value();
    return start(View::of(seed_, options_.level_sizes), {});
  }
  const std::string path = log_path(numbers.back());
  Result<LogContent> content = ChangeLog::read(path);
  if (!content.is_ok()) return content.status();
  if (content.value().header.seed_digest != seed_->digest()) {
    return {Code::kCatalogueInvalid, options_.folder + ": expected changes of catalogue " +
                                         seed_->digest() + " (made by the sources), got those of " +
                                         content.value().header.seed_digest};
  }
  TESSERA_RETURN_IF_ERROR(
      check_whole(options_.folder, numbers.back(), content.value(), marks.value().marks));
  Result<std::shared_ptr<const View>> view = load(content.value(), path, kNoLimit);
  if (!view.is_ok()) return view.status();
  head_ = view.value();
  TESSERA_RETURN_IF_ERROR(adopt_log(path, content.value(), numbers.back()));
  for (const ChangeBatch& batch : content.value().batches) {
    recovery_.replayed_changes += batch.changes.size();
  }
  recovery_.cut_bytes = content.value().cut_bytes();
  publish(head_);
  return Status::ok();
}

/// Goes on with a log that is whole; one of a former version is written anew, in a generation of
/// its own.
Status LiveCatalogue::adopt_log(const std::string& path, const LogContent& content,
                                uint64_t number) {
  Result<ChangeLog> log = ChangeLog::reopen(path, content, options_.sync);
  if (!log.is_ok()) return log.status();
  TESSERA_RETURN_IF_ERROR(log.value().sync());  // before the marks say so
  log_ = std::move(log).value();
  generation_ = number;
  const bool is_former = content.version < kLogVersion;
  if (is_former) TESSERA_RETURN_IF_ERROR(keep_former(path, marks_path(), content.version));
  Result<platform::LogMarks> marks = platform::LogMarks::open(marks_path(), closed_);
  if (!marks.is_ok()) return marks.status();
  marks_ = std::move(marks).value();
  if (is_former) return start(head_, content.batches);
  pending_ = {{}, log_.mark().chain, log_.mark().sequence};
  mark_generation();
  return Status::ok();
}

/// The marks of the logs are on the device. A mark that could not be written is behind, as it may.
void LiveCatalogue::mark_generation() {
  std::vector<platform::LogMark> marks = closed_;
  marks.push_back(log_.mark());
  (void)marks_.put_durably(marks);
}

/// Goes over to `view` with a log of its own. REQUIRES: nothing is being committed.
Status LiveCatalogue::start(std::shared_ptr<const View> view,
                            std::span<const ChangeBatch> batches) {
  const LogHeader header{view->base().digest(), seed_->digest(), view->level_sizes(),
                         generation_ + 1};
  const std::string path = log_path(generation_ + 1);
  Result<ChangeLog> log = ChangeLog::create(path, header, batches, options_.sync);
  if (!log.is_ok()) return log.status();
  adopt({std::move(view), std::move(log).value()});
  return Status::ok();
}

Result<std::shared_ptr<const View>> LiveCatalogue::load(const LogContent& content,
                                                        const std::string& path,
                                                        uint64_t sequence_max) const {
  Result<std::shared_ptr<const Snapshot>> base = open_base(content.header.base_digest);
  if (!base.is_ok()) return base.status();
  std::vector<uint32_t> level_sizes = content.header.level_sizes;
  const std::vector<uint32_t>& wanted = options_.level_sizes;
  if (level_sizes.size() < wanted.size()) level_sizes.resize(wanted.size(), 1);
  for (size_t level = 0; level < wanted.size(); ++level) {
    level_sizes[level] = std::max(level_sizes[level], wanted[level]);
  }
  TESSERA_RETURN_IF_ERROR(check_level_sizes(*base.value(), level_sizes));
  // A beginning stands behind what was carried over to a snapshot.
  uint64_t base_sequence = 0;
  for (const ChangeBatch& batch : content.batches) {
    if (batch.is_beginning) base_sequence = batch.sequence();
  }
  const auto empty = View::of(base.value(), std::move(level_sizes), base_sequence, valuations());
  Result<std::shared_ptr<const View>> view = replay(*empty, content.batches, sequence_max);
  if (view.is_ok()) return view;
  return Status(Code::kCatalogueCorrupt,
                path + ": expected changes that apply to its snapshot: " + view.status().message());
}

Result<std::shared_ptr<const Snapshot>> LiveCatalogue::open_base(const std::string& digest) const {
  if (digest == seed_->digest()) return seed_;
  return Snapshot::open(snapshot_path(digest));
}

std::vector<uint64_t> LiveCatalogue::generation_numbers() const {
  return generations_in(options_.folder);
}

std::string LiveCatalogue::log_path(uint64_t generation) const {
  return log_path_in(options_.folder, generation);
}

std::string LiveCatalogue::snapshot_path(const std::string& digest) const {
  return snapshot_path_in(options_.folder, digest);
}

std::string LiveCatalogue::marks_path() const { return marks_path_in(options_.folder); }

/// Files that cannot be removed now are removed next time.
void LiveCatalogue::drop_old_generations() {
  std::vector<uint64_t> numbers = generation_numbers();
  std::error_code error;
  for (size_t i = 0; i + kGenerationsKept < numbers.size(); ++i) {
    fs::remove(log_path(numbers[i]), error);
  }
  {
    const MutexLock lock(writer_);
    const size_t kept = std::min<size_t>(closed_.size(), kGenerationsKept);
    closed_.erase(closed_.begin(), closed_.end() - static_cast<ptrdiff_t>(kept));
  }
  std::set<std::string> needed;
  for (const uint64_t number : generation_numbers()) {
    const Result<LogContent> content = ChangeLog::read(log_path(number));
    if (content.is_ok()) needed.insert(snapshot_path(content.value().header.base_digest));
  }
  for (const auto& entry : fs::directory_iterator(options_.folder, error)) {
    const bool is_snapshot = entry.path().extension() == kSnapshotExtension;
    if (is_snapshot && needed.count(entry.path()) == 0) fs::remove(entry.path(), error);
  }
}

Result<std::vector<Generation>> LiveCatalogue::generations() const {
  std::vector<Generation> result;
  for (const uint64_t number : generation_numbers()) {
    Result<LogContent> content = ChangeLog::read(log_path(number));
    if (!content.is_ok()) return content.status();
    Generation generation;
    generation.number = number;
    generation.base_digest = content.value().header.base_digest;
    generation.log_bytes = content.value().good_bytes;
    for (const ChangeBatch& batch : content.value().batches) {
      if (batch.is_beginning) generation.first_sequence = batch.sequence();
      generation.last_sequence = batch.sequence();
    }
    result.push_back(std::move(generation));
  }
  return result;
}

/// The log that has a version, up to it, and the log's path.
Result<std::pair<LogContent, std::string>> LiveCatalogue::content_at(uint64_t sequence) const {
  Result<std::vector<Generation>> known = generations();
  if (!known.is_ok()) return known.status();
  const auto found = std::find_if(
      known.value().rbegin(), known.value().rend(), [sequence](const Generation& generation) {
        return generation.first_sequence <= sequence && sequence <= generation.last_sequence;
      });
  const Status unknown(Code::kCatalogueNotFound,
                       "sequence: expected a kept version, got " + std::to_string(sequence));
  if (found == known.value().rend()) return unknown;
  const std::string path = log_path(found->number);
  Result<LogContent> content = read_whole(options_.folder, found->number);
  if (!content.is_ok()) return content.status();
  std::vector<ChangeBatch>& batches = content.value().batches;
  std::erase_if(batches, [&](const ChangeBatch& batch) { return batch.sequence() > sequence; });
  const bool is_version = batches.empty() ? sequence == 0 : batches.back().sequence() == sequence;
  if (!is_version) return unknown;
  return std::pair(std::move(content).value(), path);
}

Result<std::shared_ptr<const View>> LiveCatalogue::view_at(uint64_t sequence) const {
  const std::shared_ptr<const View> newest = view();
  if (newest->sequence() == sequence) return newest;
  if (options_.folder.empty()) {
    return Status(Code::kCatalogueNotFound,
                  "sequence: expected the newest (the catalogue keeps no folder of changes), got " +
                      std::to_string(sequence));
  }
  const MutexLock one(compaction_);
  Result<std::pair<LogContent, std::string>> found = content_at(sequence);
  if (!found.is_ok()) return found.status();
  return load(found.value().first, found.value().second, kNoLimit);
}

Result<uint64_t> LiveCatalogue::roll_back(uint64_t sequence) {
  TESSERA_RETURN_IF_ERROR(check_kept());
  const MutexLock one(compaction_);
  Result<std::pair<LogContent, std::string>> found = content_at(sequence);
  if (!found.is_ok()) return found.status();
  auto& [content, path] = found.value();
  const Result<std::shared_ptr<const View>> old = load(content, path, kNoLimit);
  if (!old.is_ok()) return old.status();
  carry_predicates(this->view()->eligibility_index(), *old.value());
  MutexLock lock(writer_);
  wait_until_committed();
  const ChangeBatch beginning = ChangeBatch::beginning(head_->sequence() + 1, head_->mark());
  const Result<std::shared_ptr<const View>> view = replay(*old.value(), {&beginning, 1}, kNoLimit);
  if (!view.is_ok()) return view.status();
  content.batches.push_back(beginning);
  TESSERA_RETURN_IF_ERROR(start(view.value(), content.batches));
  lock.unlock();
  drop_old_generations();
  forget_old_digest();
  return beginning.sequence();
}

}  // namespace tessera::catalogue
