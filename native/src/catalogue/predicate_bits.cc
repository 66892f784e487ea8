#include "catalogue/predicate_bits.h"

#include <algorithm>
#include <utility>

namespace tessera::catalogue {
namespace {

// Words that are copied in about the time that one change takes to be applied.
constexpr uint64_t kBytesPerChange = 4096;

// Requests overtake each other by so much; a clock that goes back further has been set.
constexpr uint32_t kOvertakenSecondsMax = 2;

uint64_t distance(uint64_t a, uint64_t b) { return a < b ? b - a : a - b; }

}  // namespace

std::optional<Flight> PredicateBits::flight() {
  if (flights_ == nullptr) return std::nullopt;
  const MutexLock lock(making_);
  return Flight{flights_->attributes(), newest_ == nullptr ? 0 : newest_->second};
}

std::unique_ptr<PredicateBits::Versioned> PredicateBits::from_snapshot(uint32_t second) const {
  auto made = std::make_unique<Versioned>();
  made->second = second;
  made->bits = snapshot_bits_(second);
  return made;
}

std::shared_ptr<const Eligibility> PredicateBits::of(const View& view, uint32_t second) {
  std::shared_ptr<const Versioned> replaced;  // let go of after the lock
  const MutexLock lock(making_);
  if (newest_ == nullptr || second + kOvertakenSecondsMax < newest_->second) {
    replaced = std::exchange(newest_, share(from_snapshot(second)));
  }
  second = std::max(second, newest_->second);
  if (newest_->version.are_of(view) && newest_->second == second) {
    return {newest_, &newest_->bits};
  }
  std::unique_ptr<Versioned> made = copy_for(view, second);
  EligibilityEditor editor(view, made->bits);
  FlightStep step{flights_.get(), made->second, second, made->events};
  editor.bring_from(made->version, predicate_, flights_ == nullptr ? nullptr : &step);
  editor.finish();
  made->version = ViewChanges::of(view);
  made->second = second;
  std::shared_ptr<const Versioned> shared = share(std::move(made));
  if (view.sequence() >= newest_->version.sequence) replaced = std::exchange(newest_, shared);
  return {shared, &shared->bits};
}

/// Writable bits of the version nearest to `view`: bits without readers, as they are, or else a
/// copy of the newest ones.
std::unique_ptr<PredicateBits::Versioned> PredicateBits::copy_for(const View& view,
                                                                  uint32_t second) {
  std::unique_ptr<Versioned> result;
  {
    const MutexLock lock(spare_mutex_);
    result = std::move(spare_);
  }
  if (result == nullptr || result->second > second) return std::make_unique<Versioned>(*newest_);
  const uint64_t copied =
      (newest_->bits.items.size() + newest_->bits.nodes.size()) * sizeof(uint64_t);
  const uint64_t from_newest = distance(view.sequence(), newest_->version.sequence);
  const uint64_t from_spare = distance(view.sequence(), result->version.sequence);
  if (from_spare > from_newest + copied / kBytesPerChange) *result = *newest_;
  return result;
}

std::shared_ptr<const PredicateBits::Versioned> PredicateBits::share(
    std::unique_ptr<Versioned> made) {
  // Bits that are kept here must not keep this alive.
  const auto let_go = [home = weak_from_this()](Versioned* done) {
    std::unique_ptr<Versioned> owned(done);
    if (const auto found = home.lock()) found->take_back(std::move(owned));
  };
  return std::shared_ptr<Versioned>(made.release(), let_go);
}

void PredicateBits::take_back(std::unique_ptr<Versioned> done) {
  const MutexLock lock(spare_mutex_);
  if (spare_ == nullptr || spare_->version.sequence < done->version.sequence) spare_.swap(done);
}

}  // namespace tessera::catalogue
