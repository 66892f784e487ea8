#include "kv/tiers.h"

#include <utility>

#include "kv/disk_store.h"
#include "kv/host_store.h"

namespace tessera::kv {
namespace {

Status refused(std::string message) { return {Code::kKvPoolInvalid, std::move(message)}; }

Result<std::unique_ptr<Arena>> open_arena(const std::string& tier, uint32_t blocks,
                                          uint64_t bytes) {
  Result<std::unique_ptr<Arena>> arena = Arena::open(blocks, bytes);
  if (!arena.is_ok()) return refused(tier + " tier: " + arena.status().message());
  return arena;
}

}  // namespace

Status Tiers::open(PoolOptions& options) {
  stored_bytes_ = options.codec == nullptr ? options.block_bytes : options.codec->encoded_bytes();
  TESSERA_RETURN_IF_ERROR(open_device(options));
  TESSERA_RETURN_IF_ERROR(open_host(options));
  TESSERA_RETURN_IF_ERROR(open_disk(options));
  for (TierSpec& spec : options.more_tiers) {
    TESSERA_RETURN_IF_ERROR(add_store(std::move(spec)));
  }
  options.more_tiers.clear();
  return Status::ok();
}

Status Tiers::open_device(PoolOptions& options) {
  const std::string name = kStandardTiers[kDevice];
  memory_ = std::move(options.device_memory);
  if (memory_ == nullptr) {
    auto arena = open_arena(name, options.device_blocks, options.block_bytes);
    if (!arena.is_ok()) return arena.status();
    memory_ = std::move(arena).value();
  }
  add(name, memory_->slot_count());
  shared_from_ = count();
  return Status::ok();
}

Status Tiers::open_host(PoolOptions& options) {
  TierSpec spec{.name = kStandardTiers[1], .store = nullptr};
  std::unique_ptr<Arena> arena = std::move(options.host_memory);
  if (arena == nullptr && options.host_blocks > 0) {
    auto opened = open_arena(spec.name, options.host_blocks, stored_bytes_);
    if (!opened.is_ok()) return opened.status();
    arena = std::move(opened).value();
  }
  if (arena != nullptr) spec.store = std::make_unique<HostStore>(std::move(arena));
  TESSERA_RETURN_IF_ERROR(add_store(std::move(spec)));
  return Status::ok();
}

Status Tiers::open_disk(PoolOptions& options) {
  TierSpec spec{.name = kStandardTiers[2], .store = std::move(options.store)};
  if (spec.store == nullptr && options.disk_blocks > 0) {
    Result<std::unique_ptr<DiskStore>> store =
        DiskStore::open({.folder = options.disk_folder,
                         .block_bytes = stored_bytes_,
                         .slot_count = static_cast<uint32_t>(options.disk_blocks),
                         .codec = options.codec == nullptr ? "" : options.codec->name(),
                         .reserve_bytes = options.disk_reserve_bytes});
    if (!store.is_ok()) return store.status();
    spec.store = std::move(store).value();
  }
  return add_store(std::move(spec));
}

Tier& Tiers::add(const std::string& name, uint32_t slot_count) {
  Tier& tier = list_.emplace_back();
  tier.slots = std::make_unique<SlotTable>(slot_count);
  tier.metrics.name = name;
  names_.push_back(name);
  tier.metrics.capacity_blocks = slot_count;
  return tier;
}

Status Tiers::add_store(TierSpec spec) {
  if (list_.size() == kTiersMax) {
    return refused("tiers: expected at most " + std::to_string(kTiersMax) + ", got '" + spec.name +
                   "' beside them");
  }
  for (const Tier& tier : list_) {
    if (tier.metrics.name == spec.name) {
      return refused("tiers: expected names of their own, got '" + spec.name + "' twice");
    }
  }
  const bool is_headed = spec.store != nullptr && spec.store->heads() != nullptr;
  if (is_headed && has_heads()) {
    return refused("tiers: expected heads in one tier, got some in '" +
                   list_[headed_].metrics.name + "' and '" + spec.name + "'");
  }
  SharedStore* shared = spec.store == nullptr ? nullptr : spec.store->shared();
  if (shared == nullptr && has_shared()) {
    return refused("tiers: expected '" + spec.name + "' before those that are shared");
  }
  if (is_headed) headed_ = static_cast<TierIndex>(list_.size());
  const uint32_t slot_count = spec.store == nullptr ? 0 : spec.store->slot_count();
  Tier& tier = add(spec.name, slot_count);
  tier.metrics.expected_block_us = spec.expected_block_us;
  tier.store = std::move(spec.store);
  tier.shared = shared;
  if (shared == nullptr) shared_from_ = count();
  return Status::ok();
}

bool Tiers::any_own() const {
  for (const TierIndex tier : own()) {
    if (list_[tier].has_room()) return true;
  }
  return false;
}

bool Tiers::any_below(TierIndex tier) const {
  for (const TierIndex lower : below(tier)) {
    if (list_[lower].has_room()) return true;
  }
  return false;
}

void Tiers::unpin(TierIndex which, SlotIndex slot) {
  SlotTable& slots = *list_[which].slots;
  if (slots.unpin(slot)) slots.reclaim(slot);
}

void Tiers::io_end(TierIndex which, SlotIndex slot) {
  SlotTable& slots = *list_[which].slots;
  if (slots.io_end(slot)) slots.reclaim(slot);
}

std::vector<TierMetrics> Tiers::metrics() const {
  std::vector<TierMetrics> all;
  for (const Tier& tier : list_) {
    all.push_back(tier.metrics);
    all.back().used_blocks = tier.slots->count() - tier.slots->free_count();
  }
  return all;
}

}  // namespace tessera::kv
