#include "catalogue/content_digest.h"

#include <array>
#include <bit>
#include <span>
#include <string_view>
#include <utility>

namespace tessera::catalogue {
namespace {

/// Hashes items one after another; the buffer is kept for the next.
class ItemHasher {
 public:
  explicit ItemHasher(const View& view) : view_(view) {}

  /// REQUIRES: the item is not removed.
  Hash128 hash(ItemOrdinal item) {
    bytes_.clear();
    put_text(view_.item_id(item));
    std::array<uint32_t, kMaxDepth> sid;
    const uint32_t depth = view_.sid(view_.node_of(item), sid);
    put_number(depth);
    for (uint32_t level = 0; level < depth; ++level) put_number(sid[level]);
    put_text(view_.title(item));
    put_text(view_.attributes(item));
    // Of the two zeros, which are equal, always the same.
    const double priority = view_.priority(item) == 0 ? 0.0 : view_.priority(item);
    put_number(std::bit_cast<uint64_t>(priority));
    put_number(static_cast<uint8_t>(view_.state(item) == ItemState::kPaused ? 1 : 0));
    return hash128(std::as_bytes(std::span(bytes_)));
  }

  /// Adds the paces of a bucket, null: none. Their hash begins as no item's: an item ID is not
  /// empty.
  static void add_paces(Hash128& sum, const PaceBucket* bucket, bool is_taken) {
    if (bucket == nullptr) return;
    for (const Pace& pace : bucket->paces) {
      const std::string bytes =
          std::string(sizeof(uint32_t), '\0') + std::to_string(pace.attribute.size()) + ' ' +
          pace.attribute + pace.text + ' ' + std::to_string(std::bit_cast<uint64_t>(pace.factor));
      const Hash128 hashed = hash128(std::as_bytes(std::span(bytes)));
      sum.low += is_taken ? 0 - hashed.low : hashed.low;
      sum.high += is_taken ? 0 - hashed.high : hashed.high;
    }
  }

  void add_to(Hash128& sum, ItemOrdinal item) {
    if (!is_there(item)) return;
    const Hash128 hashed = hash(item);
    sum.low += hashed.low;
    sum.high += hashed.high;
  }

  void take_from(Hash128& sum, ItemOrdinal item) {
    if (!is_there(item)) return;
    const Hash128 hashed = hash(item);
    sum.low -= hashed.low;
    sum.high -= hashed.high;
  }

 private:
  bool is_there(ItemOrdinal item) const {
    return item < view_.item_count() && view_.state(item) != ItemState::kRemoved;
  }
  void put_text(std::string_view text) {
    put_number(static_cast<uint32_t>(text.size()));
    bytes_ += text;
  }
  template <typename T>
  void put_number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }

  const View& view_;
  std::string bytes_;
};

}  // namespace

std::string ContentDigest::of(std::shared_ptr<const View> view) {
  if (version_ != nullptr && version_->base().digest() == view->base().digest()) {
    go_on(*version_, *view);
  } else {
    begin(*view);
  }
  version_ = std::move(view);
  std::array<uint8_t, 2 * sizeof(uint64_t)> bytes;
  for (size_t i = 0; i < sizeof(uint64_t); ++i) {
    const size_t shift = 8 * (sizeof(uint64_t) - 1 - i);
    bytes[i] = static_cast<uint8_t>(sum_.high >> shift);
    bytes[sizeof(uint64_t) + i] = static_cast<uint8_t>(sum_.low >> shift);
  }
  return digest_text(bytes);
}

void ContentDigest::keep_over(const Snapshot& base) {
  if (version_ != nullptr && version_->base().digest() != base.digest()) version_ = nullptr;
}

void ContentDigest::begin(const View& view) {
  sum_ = {};
  ItemHasher items(view);
  for (ItemOrdinal item = 0; item < view.item_count(); ++item) items.add_to(sum_, item);
  view.paces().for_each(
      [&](uint32_t, const PaceBucket& bucket) { ItemHasher::add_paces(sum_, &bucket, false); });
}

/// An item without an entry is as the snapshot has it, or not there: either version says.
void ContentDigest::go_on(const View& from, const View& to) {
  ItemHasher before(from);
  ItemHasher after(to);
  PersistentMap<ItemChange>::for_each_difference(
      from.item_changes(), to.item_changes(),
      [&](ItemOrdinal item, const ItemChange*, const ItemChange*) {
        before.take_from(sum_, item);
        after.add_to(sum_, item);
      });
  PersistentMap<PaceBucket>::for_each_difference(
      from.paces(), to.paces(), [&](uint32_t, const PaceBucket* old, const PaceBucket* now) {
        ItemHasher::add_paces(sum_, old, true);
        ItemHasher::add_paces(sum_, now, false);
      });
}

}  // namespace tessera::catalogue
