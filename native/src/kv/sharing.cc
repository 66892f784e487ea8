#include "kv/sharing.h"

#include <algorithm>
#include <utility>

namespace tessera::kv {

void Sharing::queue(Chain& chain) {
  if (chain.is_dead) return;
  for (const TierIndex which : tiers_.shared()) {
    SharedCopy& known = copy(chain, which);
    if (known.is_queued || known.is_erased || (known.is_known && known.seq == chain.seq)) continue;
    std::vector<Chain*>& queue = stores_[place(which)].queue;
    if (queue.size() >= options_.store_queue_max) {
      copy(*queue.front(), which).is_queued = false;  // the oldest: new ones are asked for again
      queue.erase(queue.begin());
      ++counts_.stores_dropped;
    }
    known.is_queued = true;
    queue.push_back(&chain);
    ready.notify_all();
  }
}

void Sharing::drop(Chain& chain) {
  for (const TierIndex which : tiers_.shared()) {
    if (!std::exchange(copy(chain, which).is_queued, false)) continue;
    std::erase(stores_[place(which)].queue, &chain);
  }
}

Chain* Sharing::take_newest(TierIndex which) {
  std::vector<Chain*>& queue = stores_[place(which)].queue;
  if (queue.empty()) return nullptr;
  Chain* chain = queue.back();
  queue.pop_back();
  copy(*chain, which).is_queued = false;
  return chain;
}

void Sharing::erase(const Digest& owner, uint64_t at) {
  for (Store& store : stores_) store.erasures.push_back({owner, at});
  ready.notify_all();
}

std::optional<SharedErasure> Sharing::next_erasure(TierIndex which) const {
  const std::vector<SharedErasure>& erasures = stores_[place(which)].erasures;
  if (erasures.empty()) return std::nullopt;
  return erasures.front();
}

void Sharing::note_erased(TierIndex which, const SharedErasure& erased) {
  std::erase(stores_[place(which)].erasures, erased);
}

bool Sharing::is_erasing(const Digest& owner) const {
  return std::any_of(stores_.begin(), stores_.end(), [&](const Store& store) {
    return std::any_of(store.erasures.begin(), store.erasures.end(),
                       [&](const SharedErasure& erasure) { return erasure.owner == owner; });
  });
}

void Sharing::rest(TierIndex which) {
  stores_[place(which)].rest_until_us = options_.now_us() + options_.store_retry_us;
}

bool Sharing::is_idle() const {
  for (const TierIndex which : tiers_.shared()) {
    const Store& store = stores_[place(which)];
    if (store.is_busy || !store.erasures.empty()) return false;
    if (!store.queue.empty() && tiers_[which].shared->is_available()) return false;
  }
  return true;
}

bool Sharing::wants_look(const Chain* chain) const {
  if (looks_.size() >= options_.prefetch_queue_max) return false;
  bool any_available = false;
  for (const TierIndex which : tiers_.shared()) {
    any_available = any_available || tiers_[which].shared->is_available();
  }
  if (!any_available) return false;
  if (chain == nullptr) return true;
  uint64_t seen_us = chain->used_us;
  for (const SharedCopy& known : chain->copies) seen_us = std::max(seen_us, known.looked_us);
  return options_.now_us() - seen_us >= kLookAgainUs;
}

uint64_t Sharing::begin_look(Look look) {
  looks_.emplace(++last_look_, std::move(look));
  ++counts_.looks;
  return last_look_;
}

Look* Sharing::look(uint64_t number) {
  const auto found = looks_.find(number);
  return found == looks_.end() ? nullptr : &found->second;
}

void Sharing::leave_look(uint64_t number) {
  if (Look* left = look(number)) left->record = nullptr;
}

}  // namespace tessera::kv
