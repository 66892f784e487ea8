// Changes as a caller gives them: of the item that each names, or of every item that its predicate
// lets pass. They are resolved to items at their place in the order of changes, and the log keeps
// only the result: a replay decides nothing again (docs/internals/catalogue.md).
//
// Thread-safety: free functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "catalogue/attribute_patch.h"
#include "catalogue/attribute_schema.h"
#include "catalogue/change.h"
#include "catalogue/placement.h"
#include "catalogue/predicate.h"
#include "catalogue/view_editor.h"

namespace tessera::catalogue {

struct GivenChange : Change {
  GivenChange() = default;
  GivenChange(Change change) : Change(std::move(change)) {}

  std::optional<Clause> predicate;  // none: `item_id` says which item
  AttributePatch patch;             // kPatchAttributes
  std::vector<float> vector;        // kUpsert, where there is no `sid`: what it is made of
};

/// Changes that each name their item.
std::vector<GivenChange> given(std::span<const Change> changes);

/// Checks what a change of its kind must have, completes its predicate (predicate.h), and writes
/// its attributes without spaces, none as "{}". Errors: CATALOGUE_INVALID, the message beginning
/// with `changes[index].member`.
Status complete_change(size_t index, GivenChange& change);

/// The changes of single items that given changes became.
struct AppliedChanges {
  std::vector<Change> changes;    // numbered one by one
  std::vector<uint32_t> matched;  // per change with a predicate, in order: items that it let pass
  std::vector<uint32_t> paced;    // per change of a pace, in order: items that have its text
  SidList placed;                 // per change with a vector, in order: its SID
};

/// Applies changes in their order: a predicate sees what those before it have made. The editor is
/// to be dropped after an error. Errors, the message beginning with `changes[i].member`:
/// CATALOGUE_INVALID: those of check_change(), an item named by two changes, a patch or predicate
/// that breaks a rule, a vector that place_item() refuses, more than kBatchChangesMax items or
/// kPatchedBytesMax, what `schema`, which may be null, does not declare; ITEM_NOT_FOUND. Of an item
/// that is patched, a schema concerns the attributes that the patch names.
Result<AppliedChanges> apply_given(ViewEditor& editor, std::span<const GivenChange> changes,
                                   const AttributeSchema* schema = nullptr,
                                   const PlacementRule& placement = {});

/// Items of a view, paused ones too, that a clause lets pass, ascending.
std::vector<ItemOrdinal> items_matching(const View& view, const Clause& clause);

}  // namespace tessera::catalogue
