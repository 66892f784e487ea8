// A catalogue that changes while it serves: views of it for readers, changes from writers, a log
// that keeps what was acknowledged, and compaction into a new snapshot in the background.
//
// Thread-safety: every function may be called from any thread. view() waits for no writer's work,
// only for the copying of a pointer. Writers are put in one order; those that come while one
// commits share the next commit. Owner: the binding; views outlive it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "catalogue/builder.h"
#include "catalogue/change_log.h"
#include "catalogue/content_digest.h"
#include "catalogue/given_change.h"
#include "catalogue/view.h"
#include "catalogue/view_editor.h"
#include "platform/disk_reserve.h"
#include "platform/folder_lock.h"
#include "platform/log_marks.h"

namespace tessera::catalogue {

inline constexpr uint32_t kUnvaluedMax = 100;  // that an answer to changes names
inline constexpr uint32_t kGenerationsKept = 4;  // logs, and the snapshots they follow

struct LiveOptions {
  /// Folder of the changes; empty: none, they end with the process.
  std::string folder;
  SyncPolicy sync = SyncPolicy::kEachCommit;
  /// Codes per level that changes may use beyond the snapshot's; empty: as the snapshot.
  std::vector<uint32_t> level_sizes;
  /// Free bytes of the file system of `folder` below which no change is taken.
  uint64_t reserve_bytes = 0;
};

/// A snapshot and the log of the changes since.
struct Generation {
  uint64_t number = 0;
  std::string base_digest;
  uint64_t first_sequence = 0;  // versions first_sequence..last_sequence can be gone back to
  uint64_t last_sequence = 0;
  uint64_t log_bytes = 0;
};

/// The findings of opening the folder.
struct RecoveryReport {
  uint64_t replayed_changes = 0;
  uint64_t cut_bytes = 0;  // of a record that a crash cut off, never acknowledged
};

/// The outcome of a batch.
struct Applied {
  uint64_t sequence = 0;          // of its last change, or of the version that it left as it was
  uint32_t change_count = 0;      // numbered ones
  std::vector<uint32_t> matched;  // AppliedChanges::matched
  std::vector<uint32_t> paced;    // AppliedChanges::paced
  SidList placed;                 // AppliedChanges::placed
  /// Live items of the changes that a valuation excludes, e.g. by their bid: kUnvaluedMax at most.
  std::vector<std::string> unvalued;
};

/// The content digest of a version.
struct Digest {
  uint64_t sequence = 0;
  std::string mark;
  std::string digest;  // ContentDigest
};

class LiveCatalogue {
 public:
  /// `seed` is what the sources of the catalogue make; a folder that has changes goes on from them.
  /// Errors: CATALOGUE_INVALID: level sizes below those of the snapshot, or a folder whose changes
  /// follow other sources; CATALOGUE_CORRUPT: a log or snapshot is damaged or missing, so that
  /// something acknowledged is not there; STORE_FULL; IO_FAILED, also when another process has the
  /// folder.
  static Result<std::unique_ptr<LiveCatalogue>> open(std::shared_ptr<const Snapshot> seed,
                                                     LiveOptions options);

  LiveCatalogue(const LiveCatalogue&) = delete;
  LiveCatalogue& operator=(const LiveCatalogue&) = delete;

  /// The newest version.
  std::shared_ptr<const View> view() const;
  const RecoveryReport& recovery() const { return recovery_; }

  /// All changes or none; on return they are logged as LiveOptions::sync says and in view().
  /// `mark`, a text of who calls, of kMarkBytesMax at most, is kept with them, all or nothing, also
  /// where they come to no change: View::mark() until the next; "" leaves the one there is.
  /// Errors: those of apply_given(); CATALOGUE_INVALID for the mark; STORE_FULL and
  /// STORE_UNAVAILABLE when the log cannot be written: nothing of it counts, it may be tried again.
  Result<Applied> apply(std::span<const GivenChange> changes, std::string_view mark = {});

  /// Makes apply() refuse items whose SID has one of the codes, given ascending per level:
  /// CATALOGUE_INVALID. Codes forbidden before stay so.
  void forbid_codes(const std::vector<std::vector<uint32_t>>& codes);

  /// Makes apply() refuse attributes that `schema` does not declare; what is there already
  /// stays. Returns what of it is not declared, in words, the first kFindingsMax. Errors:
  /// CATALOGUE_INVALID: items have an attribute of another type than the declared one.
  Result<std::vector<std::string>> declare(std::shared_ptr<const AttributeSchema> schema);
  /// Null where none is declared.
  std::shared_ptr<const AttributeSchema> schema() const;

  /// Makes apply() take items that come with a vector. Errors: CATALOGUE_INVALID: more
  /// levels than changes may use.
  Status quantise_by(std::shared_ptr<const Codebooks> codebooks);
  /// Place of a vector in the newest version, and the items there, with that version. Errors:
  /// find_landing().
  Result<std::pair<Landing, std::shared_ptr<const View>>> landing(std::span<const float> vector,
                                                                  uint32_t neighbours_max);

  /// Lets requests name these valuations, and no others. Costs a pass over all items.
  /// Errors: CATALOGUE_INVALID, from `valuations[i].terms[j].attribute` on: it is no number, or no
  /// item has it, it is not declared and nothing has changed. REQUIRES: check_valuations().
  Status value_by(std::vector<Valuation> valuations);

  /// Restricts items to their flights from now on, by these attributes.
  void fly(FlightAttributes attributes);
  /// The flight of a request at a time, in milliseconds since 1970; none before fly().
  std::optional<Flight> flight_at(uint64_t time_ms) const;

  /// Makes a new snapshot of view() and goes on from it; changes meanwhile are carried over.
  /// One at a time, others wait. Errors: CATALOGUE_INVALID when there is no folder, or no item left
  /// to make a snapshot of; IO_FAILED.
  Status compact(const Progress& progress);

  /// Digest of the newest version. Costs what has changed since the last one; after a start or a
  /// compaction, a pass over all items.
  Digest digest();

  /// Why changes are not taken now; empty where they are. A system call at most.
  std::string why_not_written() const;
  /// Goes on taking changes where that had ended and the disk is well. Errors: as apply().
  Status recover_writing();

  /// Generations in the folder, oldest first.
  Result<std::vector<Generation>> generations() const;
  /// A version as it was: the newest, or one that a generation has, made again from its log.
  /// Errors: CATALOGUE_NOT_FOUND when no generation has it, or it lies inside a batch; IO_FAILED.
  Result<std::shared_ptr<const View>> view_at(uint64_t sequence) const;
  /// Makes the items what they were at `sequence`, under a new number. Errors: CATALOGUE_NOT_FOUND
  /// when no generation has that version, or it lies inside a batch; IO_FAILED. The mark stays.
  Result<uint64_t> roll_back(uint64_t sequence);

 private:
  LiveCatalogue(std::shared_ptr<const Snapshot> seed, LiveOptions options)
      : seed_(std::move(seed)),
        options_(std::move(options)),
        reserve_(options_.folder, options_.folder.empty() ? 0 : options_.reserve_bytes) {}

  /// A commit that writers wait for.
  struct Commit {
    bool is_over = false;
    Status status;
    void end(const Status& how);
  };

  /// Batches since a compaction began, or since it took those before.
  struct Journal {
    std::vector<ChangeBatch> batches;
    size_t committed = 0;  // the first so many; the others may yet be refused
  };

  // Writers.
  Status check_kept() const;
  Status check_codes(std::span<const GivenChange> changes) const REQUIRES(writer_);
  void commit() REQUIRES(writer_);
  Status write(const ChangeRecords& records, std::vector<platform::LogMark> marks);
  void wait_until_committed() REQUIRES(writer_);
  void publish(std::shared_ptr<const View> view) REQUIRES(writer_);
  void forget_old_digest();
  std::shared_ptr<const Valuations> valuations() const;
  /// view(), without its lock: only the holder of writer_ replaces it.
  const std::shared_ptr<const View>& view_to_write() const
      REQUIRES(writer_) NO_THREAD_SAFETY_ANALYSIS {
    return view_;
  }

  /// A snapshot made anew, what has changed since, and the log of that.
  struct NextGeneration {
    std::shared_ptr<const View> view;
    ChangeLog log;
  };
  /// A snapshot of `from`, which pauses nothing, and over it what `from` has paused.
  Result<NextGeneration> rebase(const View& from, uint64_t number, const Progress& progress) const;
  Status catch_up(NextGeneration next) REQUIRES(writer_);
  Status bring(std::span<const ChangeBatch> batches, bool takes_predicates,
               NextGeneration& next) const;
  void adopt(NextGeneration next) REQUIRES(writer_);

  // The folder (live_folder.cc).
  Status adopt_log(const std::string& path, const LogContent& content, uint64_t number)
      REQUIRES(writer_);
  void mark_generation() REQUIRES(writer_);
  Status recover() REQUIRES(writer_);
  Status start(std::shared_ptr<const View> view, std::span<const ChangeBatch> batches)
      REQUIRES(writer_);
  Result<std::shared_ptr<const View>> load(const LogContent& content, const std::string& path,
                                           uint64_t sequence_max) const;
  Result<std::shared_ptr<const Snapshot>> open_base(const std::string& digest) const;
  Result<std::pair<LogContent, std::string>> content_at(uint64_t sequence) const;
  std::vector<uint64_t> generation_numbers() const;
  std::string log_path(uint64_t generation) const;
  std::string next_log_path() const { return options_.folder + "/compaction.changes.tmp"; }
  std::string snapshot_path(const std::string& digest) const;
  std::string marks_path() const;
  void drop_old_generations();

  const std::shared_ptr<const Snapshot> seed_;
  const LiveOptions options_;
  const platform::DiskReserve reserve_;
  std::unique_ptr<platform::FolderLock> lock_;
  RecoveryReport recovery_;

  mutable Mutex view_mutex_;  // held to copy what is guarded only
  std::shared_ptr<const View> view_ GUARDED_BY(view_mutex_);

  // Held by the one compaction, roll-back or reading of an old version; taken before writer_.
  mutable Mutex compaction_;

  Mutex digest_mutex_;  // held for as long as a pass over all items takes; no other is taken then
                        // but view_mutex_
  ContentDigest content_ GUARDED_BY(digest_mutex_);

  mutable Mutex writer_;
  std::condition_variable committed_;
  /// view_ and what is being committed.
  std::shared_ptr<const View> head_ GUARDED_BY(writer_);
  ChangeRecords pending_ GUARDED_BY(writer_);  // not yet in the log
  bool is_committing_ GUARDED_BY(writer_) = false;
  /// Commit that takes what is pending_.
  std::shared_ptr<Commit> next_commit_ GUARDED_BY(writer_) = std::make_shared<Commit>();
  Status failure_ GUARDED_BY(writer_);  // of the newest commit
  /// Per level, ascending.
  std::vector<std::vector<uint32_t>> forbidden_codes_ GUARDED_BY(writer_);
  std::shared_ptr<const Codebooks> codebooks_ GUARDED_BY(writer_);
  std::shared_ptr<const AttributeSchema> schema_ GUARDED_BY(view_mutex_);
  std::optional<FlightAttributes> flight_ GUARDED_BY(view_mutex_);
  std::shared_ptr<const Valuations> valuations_ GUARDED_BY(view_mutex_);
  uint64_t generation_ GUARDED_BY(writer_) = 0;
  /// Marks of the logs before log_, oldest first.
  std::vector<platform::LogMark> closed_ GUARDED_BY(writer_);
  std::optional<Journal> journal_ GUARDED_BY(writer_);

  // Guarded by writer_, except during a commit: then only the committing thread uses it.
  bool is_log_torn_ = false;  // something stands behind its last record
  ChangeLog log_;
  platform::LogMarks marks_;
};

inline constexpr uint64_t kNoLimit = ~uint64_t{0};

/// `view` with the batches up to number `sequence_max` applied. Errors: those of check_change().
Result<std::shared_ptr<const View>> replay(const View& view, std::span<const ChangeBatch> batches,
                                           uint64_t sequence_max);

/// Everything of `view` that is not removed, as the builder wants it; paused items too.
CatalogueInput input_of(const View& view);

}  // namespace tessera::catalogue
