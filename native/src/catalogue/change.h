// A change of a catalogue that serves. A value; LiveCatalogue applies it, the change log
// keeps it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::catalogue {

enum class ChangeKind : uint8_t {
  kUpsert = 0,         // the item as a whole; where it exists, it keeps whether it is paused
  kPause = 1,          // stays known, is recalled no more
  kResume = 2,         // takes a pause back
  kRemove = 3,         // is as if it had never been
  kSetAttributes = 4,  // replaces the attributes object
  kSetPriority = 5,
  kPatchAttributes = 6,  // as given alone: applied, it is a kSetAttributes of each item
  kSetPace = 7,  // of no item: the bids of those with the text `item_id` as their attribute `title`
                 // count times `priority`, 1: as they are
};
inline constexpr uint32_t kChangeKinds = 8;
inline constexpr uint32_t kItemChangeKinds = 6;  // the first: of one item, as a log keeps them

/// True of changes that a view takes and the log keeps.
constexpr bool is_logged(ChangeKind kind) {
  return static_cast<uint32_t>(kind) < kChangeKinds && kind != ChangeKind::kPatchAttributes;
}

/// Place of a change in its batch, as messages about it begin.
inline std::string place_of_change(size_t index) {
  return "changes[" + std::to_string(index) + "].";
}

/// Names on the wire and in messages, in ChangeKind order.
inline constexpr const char* kChangeKindNames[kChangeKinds] = {
    "upsert",         "pause",        "resume",           "remove",
    "set_attributes", "set_priority", "patch_attributes", "set_pace"};

/// Change of one item, as a view takes it and the log keeps it.
struct Change {
  ChangeKind kind = ChangeKind::kUpsert;
  std::string item_id;
  std::vector<uint32_t> sid;  // upsert only; another SID than before moves the item
  std::string title;          // upsert; of a pace the attribute
  std::string attributes;     // upsert, set_attributes: JSON object text, "" is "{}"
  double priority = 0;        // upsert, set_priority; of a pace the factor
};

/// SIDs, laid end to end: that of number i is codes[offsets[i] .. offsets[i + 1]).
struct SidList {
  std::vector<uint32_t> offsets = {0};
  std::vector<uint32_t> codes;

  void add(std::span<const uint32_t> sid) {
    codes.insert(codes.end(), sid.begin(), sid.end());
    offsets.push_back(static_cast<uint32_t>(codes.size()));
  }
};

inline constexpr uint32_t kChangesMax = 65536;         // of one message of a batch
inline constexpr uint32_t kBatchChangesMax = 1 << 20;  // of one batch: applied all or none
/// Attributes that the patches of one batch write.
inline constexpr uint64_t kPatchedBytesMax = uint64_t{512} << 20;

}  // namespace tessera::catalogue
