// The life of a slot, the place of one block in one tier, as one atomic word per slot
// {state:4 | generation:20 | refs:20 | io:16 | flags:4}:
//
//   FREE -> RESERVED -> FILLING -> RESIDENT -> EVICTING -> FREE
//   FILLING -> ABORTED -> FREE (a failed load)
//   RESERVED, FILLING -> DRAINING -> FREE (not committed)
//   RESIDENT -> ORPHAN -> FREE (cut off its chain while somebody still reads it)
//
// A slot becomes FREE only with refs = 0 and io = 0; that step advances the generation, so a handle
// that outlived its slot is recognised. The call that brings the last count of a leaving slot to
// zero says so, and its caller must call reclaim().
//
// Thread-safety: pin, unpin, io_begin and io_end from any thread; everything else under the lock of
// the pool that owns the table.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "kv/block.h"

namespace tessera::kv {

enum class SlotState : uint8_t {
  kFree,
  kReserved,
  kFilling,
  kResident,
  kEvicting,
  kDraining,
  kAborted,
  kOrphan,
};
inline constexpr uint32_t kSlotStateCount = 8;

/// The word, unpacked.
struct SlotView {
  SlotState state;
  uint32_t generation;
  uint32_t refs;
  uint32_t io;
  bool is_unwritten;  // holds bytes that no request may read: zero it before its next use
};

class SlotTable {
 public:
  static constexpr uint32_t kRefsMax = (1u << 20) - 1;
  static constexpr uint32_t kIoMax = (1u << 16) - 1;
  static constexpr uint32_t kGenerationMask = (1u << 20) - 1;

  explicit SlotTable(uint32_t count);

  uint32_t count() const { return count_; }
  uint32_t free_count() const { return static_cast<uint32_t>(free_.size()); }
  SlotView view(SlotIndex slot) const;

  /// FREE -> RESERVED; kNoSlot when none is free.
  SlotIndex reserve();
  /// Takes a certain slot out of the free ones, straight to RESIDENT: recovery. False when it is
  /// not free. Linear in the number of free slots unless done through adopt_begin and adopt_end.
  bool adopt(SlotIndex slot);
  /// After a run of adopt(): rebuilds the list of free slots.
  void adopt_end();
  /// `from` -> `to`, keeping the counts. REQUIRES: the slot is in `from`.
  void move(SlotIndex slot, SlotState from, SlotState to);
  /// Puts a slot on its way out (`to` is EVICTING, DRAINING, ABORTED or ORPHAN) and frees it at
  /// once when nothing refers to it. True when it became FREE.
  bool leave(SlotIndex slot, SlotState to);
  /// A leaving slot without references becomes FREE. False when somebody else did it, or it is not
  /// yet without references.
  bool reclaim(SlotIndex slot);
  void set_unwritten(SlotIndex slot, bool is_unwritten);

  /// refs + 1. False in FREE, RESERVED and every leaving state.
  bool pin(SlotIndex slot);
  /// refs - 1. True when the slot is leaving and now without references: call reclaim().
  bool unpin(SlotIndex slot);
  /// io + 1. REQUIRES: the slot is not FREE.
  void io_begin(SlotIndex slot);
  /// io - 1. True as unpin().
  bool io_end(SlotIndex slot);

 private:
  using Word = std::atomic<uint64_t>;

  const uint32_t count_;
  std::unique_ptr<Word[]> words_;
  std::vector<SlotIndex> free_;  // used as a stack; capacity for all slots
};

/// True for a slot that waits for its last reader or transfer.
constexpr bool is_leaving(SlotState state) {
  return state == SlotState::kEvicting || state == SlotState::kDraining ||
         state == SlotState::kAborted || state == SlotState::kOrphan;
}

}  // namespace tessera::kv
