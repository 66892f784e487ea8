// A block as the tiers below the device hold it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "kv/pool_state.h"

namespace tessera::kv {

/// Place of the block, or of a copy that its writes share.
struct StoredCopy {
  Status status;
  std::span<const std::byte> bytes;
  std::shared_ptr<std::vector<std::byte>> copy;
};

/// The bytes of the transfer's source, encoded where the pool has a codec. REQUIRES: a transfer
/// holds the source's slot. Without the pool's lock.
StoredCopy stored_copy(PoolState& pool, const StoreTransfer& transfer);

}  // namespace tessera::kv
