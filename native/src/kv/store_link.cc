#include "kv/store_link.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <utility>

namespace tessera::kv {
namespace {

constexpr uint64_t kErasureLimits = 10;

uint64_t clock_us() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(since).count());
}

}  // namespace

void StoreLink::serve(std::function<void()> bell) {
  std::vector<Pending> ended;
  {
    const MutexLock lock(mutex_);
    bell_ = is_closed_ ? nullptr : std::move(bell);
    is_available_ = bell_ != nullptr;
    is_rung_ = false;
    if (bell_ == nullptr) {
      for (auto at = calls_.begin(); at != calls_.end();) {
        give_up(at++, ended, "its client has gone");
      }
    }
  }
  changed_.notify_all();
  tell(ended);
}

std::vector<StoreCall> StoreLink::take() {
  std::vector<StoreCall> taken;
  const MutexLock lock(mutex_);
  taken.reserve(waiting_.size());
  for (auto& [id, call] : waiting_) taken.push_back(std::move(call));
  waiting_.clear();
  is_rung_ = false;
  return taken;
}

bool StoreLink::bytes_of(uint64_t id, const Copy& copy) {
  MutexLock lock(mutex_);
  const auto found = calls_.find(id);
  if (found == calls_.end() || found->second.has_ended) return false;
  Pending& pending = found->second;
  pending.is_touched = true;
  lock.unlock();
  if (pending.kind == StoreCallKind::kWrite) {
    copy(std::as_bytes(std::span(&pending.checksum, 1)), pending.from);
  } else {
    copy({}, std::as_bytes(std::span<const char>(pending.carried)));
  }
  lock.lock();
  pending.is_touched = false;
  changed_.notify_all();
  return true;
}

void StoreLink::end(uint64_t id, StoreCallEnd how, std::span<const std::byte> bytes,
                    std::string text) {
  std::vector<Pending> ended;
  {
    MutexLock lock(mutex_);
    const auto found = calls_.find(id);
    if (found == calls_.end() || found->second.has_ended) return;
    Pending& pending = found->second;
    pending.answer = {how, {}, 0, std::move(text)};
    if (pending.kind == StoreCallKind::kRead && how == StoreCallEnd::kOk) {
      pending.is_touched = true;
      const size_t expected = sizeof(pending.answer.checksum) + pending.to.size();
      const bool fits = bytes.size() == expected;
      lock.unlock();
      if (fits) {
        const auto block = bytes.subspan(sizeof(pending.answer.checksum));
        std::memcpy(&pending.answer.checksum, bytes.data(), sizeof(pending.answer.checksum));
        std::copy(block.begin(), block.end(), pending.to.begin());
      }
      lock.lock();
      pending.is_touched = false;
      if (!fits) {
        pending.answer = {StoreCallEnd::kDamaged,
                          {},
                          0,
                          "expected a block of " + std::to_string(expected) + " bytes, got " +
                              std::to_string(bytes.size())};
      }
    } else if (how == StoreCallEnd::kOk) {
      pending.answer.bytes.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    pending.has_ended = true;
    waiting_.erase(id);
    if (pending.then != nullptr) {
      ended.push_back(std::move(pending));
      calls_.erase(found);
      ++telling_;
    }
  }
  changed_.notify_all();
  tell(ended);
}

void StoreLink::set_available(bool is_available) {
  const MutexLock lock(mutex_);
  is_available_ = is_available && bell_ != nullptr;
}

bool StoreLink::is_available() const {
  const MutexLock lock(mutex_);
  return is_available_;
}

uint64_t StoreLink::add(StoreCall& call, Pending pending) {
  std::vector<Pending> ended;
  uint64_t id = 0;
  {
    const MutexLock lock(mutex_);
    id = call.id = ++last_id_;
    pending.kind = call.kind;
    pending.checksum = call.checksum;
    const uint64_t limits = call.kind == StoreCallKind::kErase ? kErasureLimits : 1;
    pending.until_us = clock_us() + limit_us_ * limits;
    const auto at = calls_.emplace(id, std::move(pending)).first;
    if (bell_ == nullptr) {
      give_up(at, ended, "no client serves it");
    } else {
      waiting_.emplace(id, std::move(call));
      if (!std::exchange(is_rung_, true)) bell_();
    }
  }
  tell(ended);
  return id;
}

uint64_t StoreLink::begin(StoreCall call, std::string carried, Then then) {
  Pending pending;
  pending.carried = std::move(carried);
  pending.then = std::move(then);
  return add(call, std::move(pending));
}

uint64_t StoreLink::begin_transfer(StoreCall call, std::span<std::byte> to,
                                   std::span<const std::byte> from) {
  Pending pending;
  pending.to = to;
  pending.from = from;
  return add(call, std::move(pending));
}

bool StoreLink::has_ended(uint64_t id, uint64_t budget_us, StoreAnswer& answer) {
  end_late();
  MutexLock lock(mutex_);
  const auto found = calls_.find(id);
  if (found == calls_.end()) {
    answer = {StoreCallEnd::kFailed, {}, 0, "the call is not under way"};
    return true;
  }
  lock.wait_for(changed_, std::chrono::microseconds(budget_us),
                [&]() REQUIRES(mutex_) { return found->second.has_ended; });
  if (!found->second.has_ended) return false;
  answer = std::move(found->second.answer);
  calls_.erase(found);
  return true;
}

StoreAnswer StoreLink::call(StoreCall call, std::string carried) {
  std::promise<StoreAnswer> promise;
  std::future<StoreAnswer> future = promise.get_future();
  begin(std::move(call), std::move(carried),
        [&promise](StoreAnswer answer) { promise.set_value(std::move(answer)); });
  while (future.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) end_late();
  return future.get();
}

void StoreLink::end_late() {
  std::vector<Pending> ended;
  {
    const MutexLock lock(mutex_);
    const uint64_t now_us = clock_us();
    for (auto at = calls_.begin(); at != calls_.end();) {
      const auto here = at++;
      const Pending& pending = here->second;
      if (pending.has_ended || pending.is_touched || pending.until_us > now_us) continue;
      give_up(here, ended, "no answer within its time limit");
    }
  }
  changed_.notify_all();
  tell(ended);
}

void StoreLink::close() {
  std::vector<Pending> ended;
  {
    MutexLock lock(mutex_);
    is_closed_ = true;
    is_available_ = false;
    bell_ = nullptr;
    const auto is_any_touched = [&]() REQUIRES(mutex_) {
      return std::any_of(calls_.begin(), calls_.end(),
                         [](const auto& call) { return call.second.is_touched; });
    };
    lock.wait(changed_, [&]() REQUIRES(mutex_) { return !is_any_touched(); });
    for (auto at = calls_.begin(); at != calls_.end();) give_up(at++, ended, "it is closed");
  }
  changed_.notify_all();
  tell(ended);
  MutexLock lock(mutex_);
  lock.wait(changed_, [&]() REQUIRES(mutex_) { return telling_ == 0; });
}

void StoreLink::give_up(Calls::iterator at, std::vector<Pending>& ended, std::string why) {
  Pending& pending = at->second;
  if (pending.has_ended) return;
  pending.has_ended = true;
  pending.answer = {StoreCallEnd::kFailed, {}, 0, std::move(why)};
  waiting_.erase(at->first);
  if (pending.then == nullptr) return;  // its waiter takes it
  ended.push_back(std::move(pending));
  calls_.erase(at);
  ++telling_;
}

void StoreLink::tell(std::vector<Pending>& ended) {
  if (ended.empty()) return;
  for (Pending& pending : ended) {
    pending.then(std::move(pending.answer));
    pending.then = nullptr;  // what it holds goes before close() returns
  }
  const MutexLock lock(mutex_);
  telling_ -= ended.size();
  changed_.notify_all();  // under the lock: behind it the link may be gone
}

}  // namespace tessera::kv
