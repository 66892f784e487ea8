// The bits of one predicate, or of none, over the versions of one snapshot. Those of the newest
// version asked for are kept; another version's are made from them by what differs between the two.
//
// Thread-safety: of() may be called from any thread; who asks while bits are being made waits for
// them, so that each version is computed once. Bits may be let go of on any thread, which waits for
// nobody. Owner: an EligibilityIndex; bits that have been given out outlive it.
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
  /// `snapshot_bits` makes the bits over the snapshot, once, when first asked for.
  PredicateBits(std::optional<Clause> predicate, std::function<Eligibility()> snapshot_bits)
      : predicate_(std::move(predicate)), snapshot_bits_(std::move(snapshot_bits)) {}

  const std::optional<Clause>& predicate() const { return predicate_; }
  /// Of any view of the snapshot, also one that is older than what was asked for before.
  std::shared_ptr<const Eligibility> of(const View& view);

 private:
  /// Bits, and the version that they are right for.
  struct Versioned {
    ViewChanges version;
    Eligibility bits;
  };

  std::unique_ptr<Versioned> copy_for(const View& view) REQUIRES(making_);
  std::shared_ptr<const Versioned> share(std::unique_ptr<Versioned> made);
  void take_back(std::unique_ptr<Versioned> done);

  const std::optional<Clause> predicate_;
  const std::function<Eligibility()> snapshot_bits_;
  Mutex making_;
  std::shared_ptr<const Versioned> newest_ GUARDED_BY(making_);
  Mutex spare_mutex_;  // held to move a pointer only
  /// That nobody reads any more.
  std::unique_ptr<Versioned> spare_ GUARDED_BY(spare_mutex_);
};

}  // namespace tessera::catalogue
