// Compiles a request's eligibility into the bits that its search reads: exactly the live items of a
// view that its predicate and lists admit, and the nodes with such an item at or below them.
//
// Thread-safety: EligibilityIndex may be used from any thread; one builds the attribute index while
// the others wait for it. Owner: the views of one snapshot share one.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "catalogue/attribute_index.h"
#include "catalogue/changed_texts.h"
#include "catalogue/flight.h"
#include "catalogue/frequency_cap.h"
#include "catalogue/predicate_bits.h"
#include "catalogue/reach.h"

namespace tessera::catalogue {

inline constexpr uint32_t kItemListMax = 65536;       // allowed, denied and seen items, each
inline constexpr uint32_t kCachedPredicatesMax = 32;  // whose bits are kept, per snapshot

/// A request's eligibility. IDs that are in no catalogue are no error: lists outlive items.
struct EligibilityRequest {
  std::optional<Clause> predicate;
  std::optional<std::vector<std::string>> allowed;  // these alone
  std::vector<std::string> denied;                  // not these
  std::vector<std::string> seen;                    // nor these
  std::vector<CountedCap> caps;                     // nor what is had often enough
  std::optional<Flight> flight;                     // those in it
  std::optional<Clause> drawn;                      // in drawn places none but these

  bool has_lists() const { return allowed || !denied.empty() || !seen.empty(); }
};

/// The attribute index of one snapshot and the bits of the predicates asked for last.
class EligibilityIndex {
 public:
  explicit EligibilityIndex(std::shared_ptr<const Snapshot> snapshot)
      : snapshot_(std::move(snapshot)) {}

  /// Built when first asked for, or by a compaction before it takes over.
  const AttributeIndex& attributes() const;
  /// The live items of a view that a predicate lets pass and that are in their flight; without
  /// either, all of them. REQUIRES: the index is the view's.
  std::shared_ptr<const Eligibility> bits_of(const View& view,
                                             const std::optional<Clause>& predicate,
                                             const std::optional<Flight>& flight) const;
  /// A predicate and a flight, each or none.
  struct Condition {
    std::optional<Clause> predicate;
    std::optional<Flight> flight;
  };
  /// Conditions whose bits are kept, the last used first.
  std::vector<Condition> conditions() const;
  /// Items of a view, the removed ones left out, that have one of the texts of an attribute. For
  /// conditions that differ from request to request: no bits are kept. REQUIRES: the index is the
  /// view's, and the attribute a text in it.
  Roaring items_with(const View& view, const std::string& attribute,
                     const std::vector<std::string>& texts) const;
  /// True if an item has the text, or had it in the snapshot. REQUIRES: the index is the view's,
  /// and the attribute a text or a set in it.
  bool knows_text(const View& view, const std::string& attribute, const std::string& text) const;
  /// Flights of the snapshot's items, made when first asked for.
  std::shared_ptr<const SnapshotFlights> flights(const FlightAttributes& attributes) const;

 private:
  struct Cached {
    std::string key;
    std::shared_ptr<PredicateBits> bits;
  };

  std::shared_ptr<PredicateBits> cached(const std::optional<Clause>& predicate,
                                        const std::optional<Flight>& flight) const;

  const std::shared_ptr<const Snapshot> snapshot_;
  mutable std::once_flag is_built_;
  mutable AttributeIndex attributes_;
  mutable Mutex mutex_;  // held to find a predicate, not while its bits are made
  mutable std::list<Cached> cached_ GUARDED_BY(mutex_);  // used last first
  mutable Mutex flights_mutex_;                          // held while they are made
  mutable std::shared_ptr<const SnapshotFlights> flights_ GUARDED_BY(flights_mutex_);
  mutable Mutex changed_mutex_;  // held while they are brought to a version, and read
  mutable std::map<std::string, ChangedTexts> changed_ GUARDED_BY(changed_mutex_);  // by attribute
};

/// Errors: REQUEST_INVALID, the message beginning with `path`: the attribute is of another type in
/// the view, or no condition may be about it. One that no item has is no error.
Status check_attribute(const View& view, const std::string& path, const std::string& name,
                       AttributeType wanted);

/// Errors: REQUEST_INVALID: a predicate or a cap about an attribute that is of another type in the
/// view.
/// REQUIRES: complete_reach_request() has let it pass.
Status check_eligibility(const View& view, const EligibilityRequest& request);

/// The eligibility of drawn places. REQUIRES: `drawn` is there.
EligibilityRequest for_drawn_places(const EligibilityRequest& request);

/// The flight that counts for a view: none where no item of it has or has had one.
std::optional<Flight> flight_in(const View& view, const EligibilityRequest& request);

/// Null for a request that restricts nothing: every live item. REQUIRES: check_eligibility() has
/// let it pass.
std::shared_ptr<const Eligibility> compile_eligibility(const View& view,
                                                       const EligibilityRequest& request);

/// Makes the bits over `to` of the predicates that were asked for last of another snapshot, so that
/// no request waits for them once `to` has taken over.
void carry_predicates(const EligibilityIndex& from, const View& to);

}  // namespace tessera::catalogue
