#include "kv/stored_copy.h"

namespace tessera::kv {
namespace {

/// Bytes of the transfer's source where the processor can read them.
StoredCopy source_bytes(PoolState& pool, const StoreTransfer& transfer) {
  StoredCopy source;
  const SlotIndex slot = transfer.source.slot;
  const auto into_copy = [&](uint64_t size) {
    source.copy = std::make_shared<std::vector<std::byte>>(size);
    source.bytes = *source.copy;
  };
  if (transfer.from == kDevice) {
    BlockMemory& memory = pool.tiers.memory();
    if (memory.is_addressable()) {
      source.bytes = {memory.address(slot), pool.options.block_bytes};
    } else {
      into_copy(pool.options.block_bytes);
      source.status = memory.read(slot, *source.copy);
    }
    return source;
  }
  BlockStore& store = *pool.tiers[transfer.from].store;
  source.bytes = store.view(slot);
  if (!source.bytes.empty()) return source;
  into_copy(pool.tiers.stored_bytes());
  BlockTransfer read{.block = transfer.source, .to = *source.copy};
  source.status = read_now(store, read);
  return source;
}

}  // namespace

StoredCopy stored_copy(PoolState& pool, const StoreTransfer& transfer) {
  StoredCopy source = source_bytes(pool, transfer);
  const BlockCodec* codec = pool.options.codec.get();
  if (codec == nullptr || transfer.from != kDevice || !source.status.is_ok()) return source;
  StoredCopy encoded;
  encoded.copy = std::make_shared<std::vector<std::byte>>(pool.tiers.stored_bytes());
  codec->encode(source.bytes, *encoded.copy);
  encoded.bytes = *encoded.copy;
  return encoded;
}

}  // namespace tessera::kv
