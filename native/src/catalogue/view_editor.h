// Makes the next view out of one: the only writer of what a View holds. Readers of the view it
// began with see nothing of it. One thread at a time; one editor per view made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "catalogue/change.h"
#include "catalogue/view.h"

namespace tessera::catalogue {

class ViewEditor {
 public:
  explicit ViewEditor(const View& from);
  /// Edits the same items with other valuations: `values` are those of its snapshot; null: none.
  ViewEditor(const View& from, std::shared_ptr<const SnapshotValues> values);

  /// Applies a change that check_change() has let pass; numbers it sequence() + 1. A change that
  /// finds nothing to do is numbered all the same.
  void apply(const Change& change);
  uint64_t sequence() const { return view_->sequence_; }
  /// The next change is numbered `sequence` + 1.
  void continue_from(uint64_t sequence) { view_->sequence_ = sequence; }
  /// "" leaves the mark as it is.
  void put_mark(std::string_view mark) {
    if (!mark.empty()) view_->mark_ = mark;
  }
  const View& view() const { return *view_; }
  /// The editor ends here.
  std::shared_ptr<const View> finish();

 private:
  ItemChange& touch(ItemOrdinal item);
  void upsert(const Change& change);
  void set_attributes(ItemChange& entry, const std::string& attributes);
  void set_state(ItemOrdinal item, ItemState state);
  ItemOrdinal add_item(const std::string& item_id);
  NodeIndex make_path(std::span<const uint32_t> sid);
  NodeIndex make_child(NodeIndex parent, uint32_t code);
  std::vector<ItemOrdinal>& edit_items(NodeIndex node);
  bool before(ItemOrdinal a, ItemOrdinal b) const;
  std::vector<ItemOrdinal>::iterator place_of(std::vector<ItemOrdinal>& items,
                                              ItemOrdinal item) const;
  void place(ItemOrdinal item);
  void take(ItemOrdinal item);
  void count_paused(NodeIndex node, int by);
  void set_child(NodeIndex parent, NodeIndex child, bool live);
  void set_sums(ItemChange& entry);
  void set_pace(const Change& change);

  ValueEditor values_;
  const uint64_t edit_;  // unique per editor
  std::shared_ptr<View> view_;
};

/// Checks a change to `view`; `index` is its place in the batch. Errors, with a message that begins
/// with `changes[index].field`: CATALOGUE_INVALID: an ID, SID, text or number outside its limits,
/// attributes that are no JSON object or have another type than in other items; ITEM_NOT_FOUND: the
/// change is no upsert and the catalogue lacks the item.
Status check_change(const View& view, const Change& change, size_t index);

/// Checks that the catalogue has the item, paused or not. Errors: ITEM_NOT_FOUND.
Status check_known(const View& view, const std::string& item_id, size_t index);

/// Checks and applies changes in their order. The editor is to be dropped after an error. Errors:
/// those of check_change().
Status apply_changes(ViewEditor& editor, std::span<const Change> changes);

}  // namespace tessera::catalogue
