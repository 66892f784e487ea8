// The caller's end of a prefetch.
#include <chrono>
#include <utility>

#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

bool is_loading(const Chain* chain) {
  return chain != nullptr && !chain->is_dead &&
         (chain->load.is_queued || chain->load.in_flight > 0);
}

bool is_done_locked(const PrefetchRecord& record) {
  return record.look == 0 && !is_loading(record.chain) && !is_loading(record.prefix);
}

}  // namespace

Prefetch::Prefetch(Prefetch&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), record_(std::exchange(other.record_, nullptr)) {}

Prefetch& Prefetch::operator=(Prefetch&& other) noexcept {
  if (this != &other) {
    cut_off();
    pool_ = std::exchange(other.pool_, nullptr);
    record_ = std::exchange(other.record_, nullptr);
  }
  return *this;
}

Prefetch::~Prefetch() { cut_off(); }

bool Prefetch::is_done() const {
  if (record_ == nullptr) return true;
  const MutexLock lock(pool_->mutex);
  return is_done_locked(*record_);
}

bool Prefetch::is_looking() const {
  if (record_ == nullptr) return false;
  const MutexLock lock(pool_->mutex);
  return record_->look != 0;
}

bool Prefetch::wait(uint64_t budget_us) const {
  if (record_ == nullptr) return true;
  MutexLock lock(pool_->mutex);
  return lock.wait_for(pool_->loader.landed, std::chrono::microseconds(budget_us),
                       [&] { return is_done_locked(*record_); });
}

void Prefetch::cut_off() {
  if (record_ == nullptr) return;
  const MutexLock lock(pool_->mutex);
  pool_->sharing.leave_look(record_->look);
  pool_->loader.end(*record_);
  pool_ = nullptr;
  record_ = nullptr;
}

}  // namespace tessera::kv
