#include "catalogue/live_catalogue.h"

#include <algorithm>
#include <array>
#include <utility>

#include "catalogue/eligibility.h"
#include "platform/file.h"

namespace tessera::catalogue {
namespace {

constexpr uint64_t kChangesUnderLock = 1000;  // that writers wait for as a compaction ends, at most

/// A batch that has a mark alone counts as one.
uint64_t count_changes(std::span<const ChangeBatch> batches) {
  uint64_t count = 0;
  for (const ChangeBatch& batch : batches) count += std::max<size_t>(batch.changes.size(), 1);
  return count;
}

std::vector<std::string> unvalued_of(const View& view, std::span<const Change> changes) {
  std::vector<std::string> found;
  if (view.values() == nullptr) return found;
  const size_t valuations = view.values()->valuations().size();
  for (const Change& change : changes) {
    const bool has_attributes =
        change.kind == ChangeKind::kUpsert || change.kind == ChangeKind::kSetAttributes;
    if (!has_attributes || found.size() == kUnvaluedMax) continue;
    const ItemOrdinal item = view.find_item(change.item_id);
    if (item == kNoItem || view.state(item) != ItemState::kLive) continue;
    for (uint32_t v = 0; v < valuations; ++v) {
      if (view.sum(v, item) != kExcluded) continue;
      found.push_back(change.item_id);
      break;
    }
  }
  return found;
}

}  // namespace

std::shared_ptr<const View> LiveCatalogue::view() const {
  const MutexLock lock(view_mutex_);
  return view_;
}

void LiveCatalogue::publish(std::shared_ptr<const View> view) {
  {
    const MutexLock lock(view_mutex_);
    view_.swap(view);
  }
  // The version before, should this have been its last reference, goes here: outside the lock.
}

Result<Applied> LiveCatalogue::apply(std::span<const GivenChange> changes, std::string_view mark) {
  TESSERA_RETURN_IF_ERROR(check_mark(mark));
  MutexLock lock(writer_);
  TESSERA_RETURN_IF_ERROR(check_codes(changes));
  ViewEditor editor(*head_);
  Result<AppliedChanges> made =
      apply_given(editor, changes, schema().get(), {codebooks_.get(), &forbidden_codes_});
  if (!made.is_ok()) return made.status();
  const uint64_t before = head_->sequence();
  ChangeBatch batch{before, std::move(made.value().changes), std::string(mark)};
  Applied applied{editor.sequence(), static_cast<uint32_t>(batch.changes.size()),
                  std::move(made.value().matched), std::move(made.value().paced),
                  std::move(made.value().placed), {}};
  if (batch.changes.empty() && mark.empty()) return applied;
  editor.put_mark(mark);
  head_ = editor.finish();
  applied.unvalued = unvalued_of(*head_, batch.changes);
  if (!options_.folder.empty()) pending_.add(batch);
  if (journal_) journal_->batches.push_back(std::move(batch));
  const std::shared_ptr<Commit> mine = next_commit_;
  while (!mine->is_over) {
    if (is_committing_) {
      writer_.wait(committed_);
    } else {
      commit();
    }
  }
  if (!mine->status.is_ok()) return mine->status;
  return applied;
}

void LiveCatalogue::Commit::end(const Status& how) {
  is_over = true;
  status = how;
}

/// Logs all that is pending, for every writer that waits, and makes it visible.
void LiveCatalogue::commit() {
  is_committing_ = true;
  const ChangeRecords records = pending_;
  pending_.bytes.clear();
  const size_t journalled = journal_ ? journal_->batches.size() : 0;
  const auto current = std::exchange(next_commit_, std::make_shared<Commit>());
  std::vector<platform::LogMark> marks = closed_;
  std::shared_ptr<const View> head = head_;
  Status status;
  if (!options_.folder.empty()) {
    writer_.unlock();
    status = write(records, std::move(marks));
    writer_.lock();
  }
  is_committing_ = false;
  failure_ = status;
  current->end(status);
  if (status.is_ok()) {
    publish(std::move(head));
    if (journal_) journal_->committed = journalled;
  } else {
    // Batches that arrived meanwhile build on changes that are not there: refused as well.
    std::exchange(next_commit_, std::make_shared<Commit>())->end(status);
    head_ = view_to_write();
    pending_ = {{}, log_.mark().chain, log_.mark().sequence};
    // By number, not by version: batches that have a mark alone are of the version before.
    if (journal_) journal_->batches.resize(journal_->committed);
  }
  committed_.notify_all();
}

/// Appends to the log. The remains of a failed write are cut off, at once or before the next write.
/// REQUIRES: is_committing_ is this thread's.
Status LiveCatalogue::write(const ChangeRecords& records, std::vector<platform::LogMark> marks) {
  TESSERA_RETURN_IF_ERROR(reserve_.check(records.bytes.size()));
  Status status = is_log_torn_ ? log_.take_back() : Status::ok();
  is_log_torn_ = !status.is_ok();
  if (status.is_ok()) {
    status = log_.append(records);
    if (status.is_ok()) {
      marks.push_back(log_.mark());
      // A mark that is behind is right; so is one that could not be written.
      if (options_.sync == SyncPolicy::kEachCommit) (void)marks_.put(marks);
      return status;
    }
    is_log_torn_ = !log_.take_back().is_ok();
  }
  if (status.code() == Code::kStoreFull) return status;
  return {Code::kStoreUnavailable, "changes: the log refuses writes: " + status.message()};
}

Digest LiveCatalogue::digest() {
  const MutexLock lock(digest_mutex_);
  const std::shared_ptr<const View> newest = view();
  return {newest->sequence(), newest->mark(), content_.of(newest)};
}

/// So that a snapshot that was served before is not held until somebody asks again.
void LiveCatalogue::forget_old_digest() {
  const MutexLock lock(digest_mutex_);
  content_.keep_over(view()->base());
}

std::string LiveCatalogue::why_not_written() const {
  {
    const MutexLock lock(writer_);
    if (!failure_.is_ok()) return failure_.message();
  }
  return reserve_.check(0).message();
}

Status LiveCatalogue::recover_writing() {
  MutexLock lock(writer_);
  if (failure_.is_ok()) return Status::ok();
  wait_until_committed();
  if (!failure_.is_ok()) commit();  // of nothing: whether the log takes it
  return failure_;
}

/// ENSURES: head_ is view_ and nothing is pending.
void LiveCatalogue::wait_until_committed() {
  while (is_committing_ || head_ != view_to_write()) {
    if (is_committing_) {
      writer_.wait(committed_);
    } else {
      commit();
    }
  }
}

CatalogueInput input_of(const View& view) {
  CatalogueInput input;
  input.level_sizes = view.level_sizes();
  for (uint32_t level = 0; level < view.base().depth(); ++level) {
    input.level_patterns.emplace_back(view.base().level_pattern(level));
  }
  std::array<uint32_t, kMaxDepth> sid;
  for (ItemOrdinal item = 0; item < view.item_count(); ++item) {
    if (view.state(item) == ItemState::kRemoved) continue;
    const uint32_t depth = view.sid(view.node_of(item), sid);
    input.codes.insert(input.codes.end(), sid.begin(), sid.begin() + depth);
    input.sid_ends.push_back(input.codes.size());
    input.item_ids.add(view.item_id(item));
    input.titles.add(view.title(item));
    const std::string_view attributes = view.attributes(item);
    input.attributes.add(attributes == "{}" ? std::string_view() : attributes);
    input.priorities.push_back(view.priority(item));
  }
  return input;
}

Status LiveCatalogue::check_kept() const {
  if (!options_.folder.empty()) return Status::ok();
  return {Code::kCatalogueInvalid, "catalogue: expected a folder where its changes are kept"};
}

/// Changes that a snapshot does not hold, each under the number it has: pauses and paces.
std::vector<ChangeBatch> unsnapped_changes(const View& view) {
  std::vector<ChangeBatch> batches;
  view.item_changes().for_each([&](ItemOrdinal, const ItemChange& item) {
    if (item.state != ItemState::kPaused) return;
    Change change;
    change.kind = ChangeKind::kPause;
    change.item_id = item.item_id;
    batches.push_back({item.sequence - 1, {std::move(change)}});
  });
  view.paces().for_each([&](uint32_t, const PaceBucket& bucket) {
    for (const Pace& pace : bucket.paces) {
      Change change;
      change.kind = ChangeKind::kSetPace;
      change.item_id = pace.text;
      change.title = pace.attribute;
      change.priority = pace.factor;
      batches.push_back({pace.sequence - 1, {std::move(change)}});
    }
  });
  return batches;
}

Result<LiveCatalogue::NextGeneration> LiveCatalogue::rebase(const View& from, uint64_t number,
                                                            const Progress& progress) const {
  const std::string temporary = options_.folder + "/compaction.tmp";
  Result<BuildReport> report = build_snapshot(input_of(from), temporary, progress);
  if (!report.is_ok()) return report.status();
  const std::string& digest = report.value().digest;
  TESSERA_RETURN_IF_ERROR(platform::move_file(temporary, snapshot_path(digest)));
  Result<std::shared_ptr<const Snapshot>> base = open_base(digest);
  if (!base.is_ok()) return base.status();
  std::vector<ChangeBatch> carried = unsnapped_changes(from);
  carried.push_back(ChangeBatch::beginning(from.sequence(), from.mark()));
  const auto empty = View::of(base.value(), from.level_sizes(), from.sequence(), valuations());
  Result<std::shared_ptr<const View>> view = replay(*empty, carried, kNoLimit);
  if (!view.is_ok()) return view.status();
  NextGeneration next;
  next.view = view.value();
  const LogHeader header{digest, seed_->digest(), from.level_sizes(), number};
  Result<ChangeLog> log = ChangeLog::create(next_log_path(), header, carried, options_.sync);
  if (!log.is_ok()) return log.status();
  next.log = std::move(log).value();
  carry_predicates(from.eligibility_index(), *next.view);
  return next;
}

Status LiveCatalogue::compact(const Progress& progress) {
  TESSERA_RETURN_IF_ERROR(check_kept());
  const MutexLock one(compaction_);
  TESSERA_RETURN_IF_ERROR(reserve_.check(view()->base().file_bytes()));
  MutexLock lock(writer_);
  wait_until_committed();
  const std::shared_ptr<const View> from = head_;
  const uint64_t number = generation_ + 1;
  journal_ = Journal{};
  lock.unlock();
  Result<NextGeneration> next = rebase(*from, number, progress);
  lock.lock();
  const Status status = next.is_ok() ? catch_up(std::move(next).value()) : next.status();
  journal_.reset();
  lock.unlock();
  if (status.is_ok()) drop_old_generations();
  forget_old_digest();
  return status;
}

/// Brings what was changed meanwhile to the next generation, and goes over to it. Writers wait for
/// the last few changes only.
Status LiveCatalogue::catch_up(NextGeneration next) {
  for (uint64_t before = kNoLimit;;) {
    wait_until_committed();
    const std::vector<ChangeBatch> batches = std::exchange(*journal_, {}).batches;
    const uint64_t count = count_changes(batches);
    if (count <= kChangesUnderLock) {
      TESSERA_RETURN_IF_ERROR(bring(batches, false, next));
      break;
    }
    writer_.unlock();
    // Predicates too, while that does not keep this from gaining on the writers.
    const Status status = bring(batches, count <= before / 2, next);
    writer_.lock();
    if (!status.is_ok()) return status;
    before = count;
  }
  TESSERA_RETURN_IF_ERROR(platform::move_file(next_log_path(), log_path(generation_ + 1)));
  adopt(std::move(next));
  return Status::ok();
}

Status LiveCatalogue::bring(std::span<const ChangeBatch> batches, bool takes_predicates,
                            NextGeneration& next) const {
  Result<std::shared_ptr<const View>> replayed = replay(*next.view, batches, kNoLimit);
  if (!replayed.is_ok()) return replayed.status();
  next.view = replayed.value();
  ChangeRecords records{{}, next.log.mark().chain, next.log.mark().sequence};
  for (const ChangeBatch& batch : batches) records.add(batch);
  TESSERA_RETURN_IF_ERROR(next.log.append(records));
  if (takes_predicates) carry_predicates(view()->eligibility_index(), *next.view);
  return Status::ok();
}

/// REQUIRES: its log has its name, and nothing is being committed.
void LiveCatalogue::adopt(NextGeneration next) {
  // A mark is behind what lies on the device, never ahead of it.
  if (log_.mark().log > 0 && log_.sync().is_ok()) closed_.push_back(log_.mark());
  log_ = std::move(next.log);
  pending_ = {{}, log_.mark().chain, log_.mark().sequence};
  is_log_torn_ = false;
  ++generation_;
  mark_generation();
  head_ = std::move(next.view);
  publish(head_);
}

}  // namespace tessera::catalogue
