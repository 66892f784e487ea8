// The readable part of a damaged store, and a store made of that.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace tessera::store {

struct StoreRepair {
  std::string damage;         // empty: the store is whole, nothing was done
  uint64_t acknowledged = 0;  // writes, at least
  uint64_t readable = 0;      // of them, from the first on
  /// Its tables or their list are damaged: what remains is gathered from what can be read. Then
  /// which writes are lost is not known, and what had been erased may be there again.
  bool is_gathered = false;
  uint64_t keys_left = 0;
  std::string aside;  // folder with the store as it was; empty where nothing was changed
};

enum class RepairMode : uint8_t {
  kLook = 0,   // changes nothing: the repair is tried on a copy beside the folder
  kApply = 1,  // the copy takes the folder's place
};

/// Of a store that no process has open. Tables are linked, not copied: both need the space of the
/// write-ahead logs alone. Errors: STORE_INVALID when the folder is in use or no store, STORE_FULL,
/// IO_FAILED, STORE_CORRUPT when nothing can be had.
Result<StoreRepair> repair_store(const std::string& folder, RepairMode mode);

}  // namespace tessera::store
