// Looks for heads in shared stores (sharing.h), on behalf of prefetches.
#pragma once

#include <string_view>

#include "kv/pool_state.h"

namespace tessera::kv {

/// Begins a look for the user's head where one is worth it: `chain` is what the pool has of the
/// user. Its number; 0: none. It waits for ask_look().
uint64_t begin_look(PoolState& pool, uint32_t version, std::string_view owner, uint32_t tokens_max,
                    const Chain* chain) REQUIRES(pool.mutex);
/// Asks the store. Without the pool's lock: the answer may come on this thread.
void ask_look(PoolState& pool, uint64_t number);

}  // namespace tessera::kv
