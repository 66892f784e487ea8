// The digest of a catalogue's version, 128 bits: versions with the same items have the same digest,
// whatever changes led to them. It is the sum of a hash (XXH3-128) of each live or paused item, low
// and high halves each modulo 2^64, so an update costs only the changed items: Clarke et al.,
// "Incremental Multiset Hash Functions and Their Application to Memory Integrity Checking", 2003.
// It detects accidents, not forgery.
//
// The hash of an item covers its ID, SID, title, attributes as View::attributes() gives them,
// priority and paused flag; docs/concepts/live-catalogue.md has the layout. One thread at a time.
// Owner: a LiveCatalogue.
#pragma once

#include <memory>
#include <string>

#include "catalogue/checksum.h"
#include "catalogue/view.h"

namespace tessera::catalogue {

class ContentDigest {
 public:
  /// Digest of any version, later or earlier than the last: 32 lower-case hexadecimal digits. The
  /// version is held until the next, or keep_over(). Costs what differs from it, or a pass over all
  /// items where that is of another snapshot.
  std::string of(std::shared_ptr<const View> view);
  /// Lets go of the last version where it is not of this snapshot.
  void keep_over(const Snapshot& base);

 private:
  void begin(const View& view);
  void go_on(const View& from, const View& to);

  std::shared_ptr<const View> version_;  // that sum_ is of; null: of none
  Hash128 sum_;
};

}  // namespace tessera::catalogue
