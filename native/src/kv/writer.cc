#include "kv/writer.h"

#include <utility>

namespace tessera::kv {

void Writer::queue(Chain& chain) {
  sharing_.queue(chain);
  if (chain.is_store_queued || chain.is_dead || !tiers_.any_own()) return;
  if (queue_.size() >= options_.store_queue_max) {
    ++counts_.stores_dropped;
    return;
  }
  chain.store_asked_us = options_.now_us();
  queue_again(chain);
  ready.notify_one();
}

void Writer::queue_again(Chain& chain) {
  chain.is_store_queued = true;
  queue_.push_back(&chain);
}

void Writer::queue_renaming(Chain& chain) {
  if (chain.is_renaming || !tiers_.has_heads()) return;
  chain.is_renaming = true;
  renaming_.push_back(&chain);
}

void Writer::drop(Chain& chain) {
  sharing_.drop(chain);
  if (chain.is_store_queued) std::erase(queue_, &chain);
  if (chain.is_renaming) std::erase(renaming_, &chain);
  chain.is_store_queued = chain.is_renaming = false;
}

void Writer::take(uint64_t count) {
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<int64_t>(count));
}

std::vector<Chain*> Writer::take_renaming() {
  for (Chain* chain : renaming_) chain->is_renaming = false;
  return std::exchange(renaming_, {});
}

std::vector<HeadKey> Writer::take_dangling() { return std::exchange(dangling_, {}); }

void Writer::end() {
  is_busy_ = false;
  stored.notify_all();
  if (!queue_.empty()) ready.notify_one();
}

void Writer::note_failure(const Status& status, bool is_unknown) {
  ++counts_.stores_failed;
  counts_.store_error = status.message();
  is_broken_ = is_broken_ || is_unknown;
  rest_until_us_ = options_.now_us() + options_.store_retry_us;
}

}  // namespace tessera::kv
