#include "kv/block_store.h"

#include <string>

namespace tessera::kv {

bool BlockStore::has_ended(BlockTransfer& /*transfer*/, uint64_t /*budget_us*/) { return true; }

std::span<const std::byte> BlockStore::view(SlotIndex /*slot*/) { return {}; }

const std::string& HeadLog::dropped() const {
  static const std::string kNothing;
  return kNothing;
}

Status read_now(BlockStore& store, BlockTransfer& transfer) {
  store.begin_read(transfer);
  while (!store.has_ended(transfer, kTransferLookUs)) {
  }
  return transfer.status;
}

Status check_bytes(const StoredBlock& block, std::span<const std::byte> bytes) {
  if (block_checksum(bytes, block.key) == block.checksum) return Status::ok();
  return {Code::kKvStoreCorrupt, "block of slot " + std::to_string(block.slot) +
                                     ": expected the checksum of its head, got another"};
}

}  // namespace tessera::kv
