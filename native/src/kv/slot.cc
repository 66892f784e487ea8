#include "kv/slot.h"

#include "base/check.h"

namespace tessera::kv {
namespace {

constexpr uint32_t kGenerationShift = 4;
constexpr uint32_t kRefsShift = 24;
constexpr uint32_t kIoShift = 44;
constexpr uint32_t kFlagsShift = 60;
constexpr uint64_t kStateMask = 15;
constexpr uint64_t kUnwritten = uint64_t{1} << kFlagsShift;
constexpr uint64_t kOneRef = uint64_t{1} << kRefsShift;
constexpr uint64_t kOneIo = uint64_t{1} << kIoShift;

SlotView unpack(uint64_t word) {
  return {
      .state = static_cast<SlotState>(word & kStateMask),
      .generation = static_cast<uint32_t>(word >> kGenerationShift) & SlotTable::kGenerationMask,
      .refs = static_cast<uint32_t>(word >> kRefsShift) & SlotTable::kRefsMax,
      .io = static_cast<uint32_t>(word >> kIoShift) & SlotTable::kIoMax,
      .is_unwritten = (word & kUnwritten) != 0};
}

uint64_t with_state(uint64_t word, SlotState state) {
  return (word & ~kStateMask) | static_cast<uint64_t>(state);
}

bool is_idle(const SlotView& view) { return view.refs == 0 && view.io == 0; }

bool may_pin(SlotState state) {
  return state == SlotState::kFilling || state == SlotState::kResident;
}

}  // namespace

SlotTable::SlotTable(uint32_t count) : count_(count), words_(new Word[count]) {
  free_.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    words_[i].store(0, std::memory_order_relaxed);
    free_.push_back(count - 1 - i);  // slot 0 is taken first
  }
}

SlotView SlotTable::view(SlotIndex slot) const {
  return unpack(words_[slot].load(std::memory_order_acquire));
}

SlotIndex SlotTable::reserve() {
  if (free_.empty()) return kNoSlot;
  const SlotIndex slot = free_.back();
  free_.pop_back();
  move(slot, SlotState::kFree, SlotState::kReserved);
  return slot;
}

bool SlotTable::adopt(SlotIndex slot) {
  if (slot >= count_ || view(slot).state != SlotState::kFree) return false;
  move(slot, SlotState::kFree, SlotState::kResident);
  return true;
}

void SlotTable::adopt_end() {
  free_.clear();
  for (uint32_t i = count_; i-- > 0;) {
    if (view(i).state == SlotState::kFree) free_.push_back(i);
  }
}

void SlotTable::move(SlotIndex slot, SlotState from, SlotState to) {
  uint64_t word = words_[slot].load(std::memory_order_relaxed);
  do {
    TESSERA_CHECK(unpack(word).state == from);
  } while (
      !words_[slot].compare_exchange_weak(word, with_state(word, to), std::memory_order_acq_rel));
}

bool SlotTable::leave(SlotIndex slot, SlotState to) {
  TESSERA_CHECK(is_leaving(to));
  uint64_t word = words_[slot].load(std::memory_order_relaxed);
  do {
    const SlotState from = unpack(word).state;
    TESSERA_CHECK(from != SlotState::kFree && !is_leaving(from));
  } while (
      !words_[slot].compare_exchange_weak(word, with_state(word, to), std::memory_order_acq_rel));
  return reclaim(slot);
}

bool SlotTable::reclaim(SlotIndex slot) {
  uint64_t word = words_[slot].load(std::memory_order_acquire);
  uint64_t freed = 0;
  do {
    const SlotView seen = unpack(word);
    if (!is_leaving(seen.state) || !is_idle(seen)) return false;
    const uint64_t generation = (seen.generation + 1) & kGenerationMask;
    freed = (word & kUnwritten) | (generation << kGenerationShift);
  } while (!words_[slot].compare_exchange_weak(word, freed, std::memory_order_acq_rel));
  free_.push_back(slot);
  return true;
}

void SlotTable::set_unwritten(SlotIndex slot, bool is_unwritten) {
  if (is_unwritten) {
    words_[slot].fetch_or(kUnwritten, std::memory_order_acq_rel);
  } else {
    words_[slot].fetch_and(~kUnwritten, std::memory_order_acq_rel);
  }
}

bool SlotTable::pin(SlotIndex slot) {
  uint64_t word = words_[slot].load(std::memory_order_relaxed);
  do {
    const SlotView seen = unpack(word);
    if (!may_pin(seen.state) || seen.refs == kRefsMax) return false;
  } while (!words_[slot].compare_exchange_weak(word, word + kOneRef, std::memory_order_acq_rel));
  return true;
}

bool SlotTable::unpin(SlotIndex slot) {
  const uint64_t before = words_[slot].fetch_sub(kOneRef, std::memory_order_acq_rel);
  TESSERA_CHECK(unpack(before).refs > 0);
  const SlotView after = unpack(before - kOneRef);
  return is_leaving(after.state) && is_idle(after);
}

void SlotTable::io_begin(SlotIndex slot) {
  const uint64_t before = words_[slot].fetch_add(kOneIo, std::memory_order_acq_rel);
  TESSERA_CHECK(unpack(before).state != SlotState::kFree && unpack(before).io < kIoMax);
}

bool SlotTable::io_end(SlotIndex slot) {
  const uint64_t before = words_[slot].fetch_sub(kOneIo, std::memory_order_acq_rel);
  TESSERA_CHECK(unpack(before).io > 0);
  const SlotView after = unpack(before - kOneIo);
  return is_leaving(after.state) && is_idle(after);
}

}  // namespace tessera::kv
