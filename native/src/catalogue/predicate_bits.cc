#include "catalogue/predicate_bits.h"

#include <utility>

namespace tessera::catalogue {
namespace {

// What is copied in the time that one change takes to be brought in, about.
constexpr uint64_t kBytesPerChange = 4096;

uint64_t distance(uint64_t a, uint64_t b) { return a < b ? b - a : a - b; }

}  // namespace

std::shared_ptr<const Eligibility> PredicateBits::of(const View& view) {
  std::shared_ptr<const Versioned> replaced;  // let go of after the lock
  const MutexLock lock(making_);
  if (newest_ == nullptr) {
    auto first = std::make_unique<Versioned>();
    first->bits = snapshot_bits_();
    newest_ = share(std::move(first));
  }
  if (newest_->version.are_of(view)) return {newest_, &newest_->bits};
  std::unique_ptr<Versioned> made = copy_for(view);
  EligibilityEditor editor(view, made->bits);
  editor.bring_from(made->version, predicate_);
  editor.finish();
  made->version = ViewChanges::of(view);
  std::shared_ptr<const Versioned> shared = share(std::move(made));
  if (view.sequence() >= newest_->version.sequence) replaced = std::exchange(newest_, shared);
  return {shared, &shared->bits};
}

/// Bits that may be written, of the version from which those of `view` are made soonest: what
/// nobody reads any more as it is, or else the newest ones, copied.
std::unique_ptr<PredicateBits::Versioned> PredicateBits::copy_for(const View& view) {
  std::unique_ptr<Versioned> result;
  {
    const MutexLock lock(spare_mutex_);
    result = std::move(spare_);
  }
  if (result == nullptr) return std::make_unique<Versioned>(*newest_);
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
