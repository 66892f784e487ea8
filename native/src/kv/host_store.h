// The tier in this process's memory: slots of an Arena. A transfer has ended when it was begun.
#pragma once

#include <memory>
#include <utility>

#include "kv/block_store.h"
#include "kv/memory.h"

namespace tessera::kv {

class HostStore final : public BlockStore {
 public:
  explicit HostStore(std::unique_ptr<Arena> arena) : arena_(std::move(arena)) {}
  uint32_t slot_count() const override { return arena_->slot_count(); }
  void begin_read(BlockTransfer& transfer) override {
    transfer.status = arena_->read(transfer.block.slot, transfer.to);
  }
  void begin_write(BlockTransfer& transfer) override {
    transfer.status = arena_->write(transfer.block.slot, transfer.from);
  }
  std::span<const std::byte> view(SlotIndex slot) override {
    return {arena_->address(slot), arena_->block_bytes()};
  }

 private:
  const std::unique_ptr<Arena> arena_;
};

}  // namespace tessera::kv
