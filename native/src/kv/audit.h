// The pool's own books, compared with a fresh scan of everything that refers to a slot.
#pragma once

#include <string>
#include <vector>

namespace tessera::kv {

class PoolState;

/// One line per broken invariant (docs/kv-pool.md names them); empty when all hold. Valid at any
/// moment at which the pool's lock is free, also with leases and transfers in flight. REQUIRES: the
/// lock is held.
std::vector<std::string> audit(PoolState& pool);

}  // namespace tessera::kv
