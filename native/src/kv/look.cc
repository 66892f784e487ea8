// Looks: heads that prefetches ask shared stores for. One look asks one (version, store) pair after
// another until the user is found, then for the static text that the user's chain stands on, where
// this process has not got it.
#include <algorithm>
#include <utility>

#include "kv/look.h"

namespace tessera::kv {
namespace {

/// The versions in which a look finds what the asked one may use, nearest first.
std::vector<uint32_t> versions_of_look(const PoolState& pool, uint32_t version)
    REQUIRES(pool.mutex) {
  std::vector<uint32_t> versions{version};
  for (uint32_t i = 0; i < pool.options.versions_back_max; ++i) {
    version = pool.chains.version(version).predecessor;
    if (version == kNoVersion) break;
    versions.push_back(version);
  }
  return versions;
}

/// Names the next head that the look asks for; false when there is none.
bool advance(PoolState& pool, Look& look) REQUIRES(pool.mutex) {
  const TierRange stores = pool.tiers.shared();
  const auto store_count = pool.tiers.count() - *stores.begin();
  const uint32_t pairs = static_cast<uint32_t>(look.versions.size()) * store_count;
  for (; look.next < pairs; ++look.next) {
    const auto which = static_cast<TierIndex>(*stores.begin() + look.next % store_count);
    if (!pool.tiers[which].shared->is_available()) continue;
    look.which = which;
    look.key_version = look.versions[look.next / store_count];
    look.key = {pool.chains.version(look.key_version).digest, false, look.owner};
    ++look.next;
    return true;
  }
  return false;
}

/// Asks for the static text that the user's chain stands on, from the same store; false when it is
/// here already.
bool advance_to_prefix(PoolState& pool, Look& look, const Chain& chain) REQUIRES(pool.mutex) {
  if (std::exchange(look.is_done_with_user, true) || chain.prefix_blocks == 0) return false;
  const Chain* prefix = pool.chains.find_prefix(chain.version, chain.prefix);
  if (prefix != nullptr && reachable_blocks(*prefix) >= chain.prefix_blocks) return false;
  look.key.is_prefix = true;
  look.key.owner = owner_of(chain.prefix);
  return true;
}

void ask(PoolState& pool, uint64_t number);

/// Takes an answer; true when there is another question.
bool take_answer(PoolState& pool, Look& look, const Result<FoundHead>& found) REQUIRES(pool.mutex) {
  if (pool.erasures.is_erased_since(look.owner, look.erasures_seen)) return false;
  const bool any = found.is_ok() && !found.value().head.empty();
  Chain* chain = nullptr;
  if (any) chain = pool.adopt_locked(look.which, look.key_version, look.key, found.value());
  if (look.is_done_with_user) return false;
  if (chain == nullptr) return advance(pool, look);
  ++pool.counts.looks_found;
  return advance_to_prefix(pool, look, *chain);
}

void end(PoolState& pool, uint64_t number, const Result<FoundHead>& found) {
  bool goes_on = false;
  {
    const MutexLock lock(pool.mutex);
    Look* look = pool.sharing.look(number);
    if (look == nullptr) return;
    goes_on = !pool.is_stopping && take_answer(pool, *look, found);
    if (!goes_on) {
      pool.counts.look_us += pool.now_us() - look->begun_us;
      if (look->record != nullptr) {
        look->record->look = 0;
        pool.load_locked(look->version, look->owner, look->tokens_max, *look->record);
      }
      pool.sharing.end_look(number);
      pool.loader.landed.notify_all();
      if (pool.options.on_transfer) pool.options.on_transfer();
    }
  }
  if (goes_on) ask(pool, number);
}

void ask(PoolState& pool, uint64_t number) {
  SharedStore* store = nullptr;
  ChainName name;
  {
    const MutexLock lock(pool.mutex);
    const Look* look = pool.sharing.look(number);
    if (look == nullptr) return;
    store = pool.tiers[look->which].shared;
    name = {store_owner(look->key.is_prefix, look->key.owner), look->key.version};
  }
  store->find(name, [&pool, number](const Result<FoundHead>& found) { end(pool, number, found); });
}

}  // namespace

uint64_t begin_look(PoolState& pool, uint32_t version, std::string_view owner, uint32_t tokens_max,
                    const Chain* chain) {
  if (owner.empty() || !pool.tiers.has_shared() || pool.is_stopping) return 0;
  if (!pool.sharing.wants_look(chain) || pool.sharing.is_erasing(store_owner(false, owner))) {
    return 0;
  }
  Look look;
  look.version = version;
  look.owner = owner;
  look.tokens_max = tokens_max;
  look.erasures_seen = pool.erasures.last();
  look.begun_us = pool.now_us();
  look.versions = versions_of_look(pool, version);
  if (!advance(pool, look)) return 0;
  return pool.sharing.begin_look(std::move(look));
}

void ask_look(PoolState& pool, uint64_t number) { ask(pool, number); }

}  // namespace tessera::kv
