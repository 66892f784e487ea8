// The bits of one condition over the versions of one snapshot: a predicate or none, of items in
// their flight or of all. Those of the newest version and second asked for are kept; others are
// made from them by what differs between the two versions, and the flights between the two seconds.
//
// Thread-safety: of() may be called from any thread; it waits for bits that another thread is
// making, so that each version is computed once. Bits may be released on any thread, without
// waiting. Owner: an EligibilityIndex; bits that were given out outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/mutex.h"
#include "catalogue/eligibility_editor.h"

namespace tessera::catalogue {

class PredicateBits : public std::enable_shared_from_this<PredicateBits> {
 public:
  /// `snapshot_bits` makes the bits over the snapshot in a second. `flights` are those of the
  /// snapshot; null: items are had whenever.
  PredicateBits(std::optional<Clause> predicate, std::shared_ptr<const SnapshotFlights> flights,
                std::function<Eligibility(uint32_t)> snapshot_bits)
      : predicate_(std::move(predicate)),
        flights_(std::move(flights)),
        snapshot_bits_(std::move(snapshot_bits)) {}

  const std::optional<Clause>& predicate() const { return predicate_; }
  /// The flight of the newest second asked for.
  std::optional<Flight> flight();
  /// Bits of any view of the snapshot, also one older than what was asked for before. A second that
  /// another request has overtaken counts as that request's.
  std::shared_ptr<const Eligibility> of(const View& view, uint32_t second);

 private:
  /// Bits, and the version and second that they are right for.
  struct Versioned {
    ViewChanges version;
    uint32_t second = 0;
    PersistentMap<FlightEvents> events;  // of items that differ from the snapshot, by second
    Eligibility bits;
  };

  std::unique_ptr<Versioned> from_snapshot(uint32_t second) const;
  std::unique_ptr<Versioned> copy_for(const View& view, uint32_t second) REQUIRES(making_);
  std::shared_ptr<const Versioned> share(std::unique_ptr<Versioned> made);
  void take_back(std::unique_ptr<Versioned> done);

  const std::optional<Clause> predicate_;
  const std::shared_ptr<const SnapshotFlights> flights_;
  const std::function<Eligibility(uint32_t)> snapshot_bits_;
  Mutex making_;
  std::shared_ptr<const Versioned> newest_ GUARDED_BY(making_);
  Mutex spare_mutex_;  // held to move a pointer only
  /// Bits without readers, to be reused.
  std::unique_ptr<Versioned> spare_ GUARDED_BY(spare_mutex_);
};

}  // namespace tessera::catalogue
