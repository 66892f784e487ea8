#include "engine/request_queue.h"

#include "base/check.h"

namespace tessera::engine {

size_t RequestQueue::size() const {
  size_t size = 0;
  for (const auto& waiting : classes_) size += waiting.size();
  return size;
}

void RequestQueue::push(Request request, double alone_us) {
  TESSERA_CHECK(request.priority < kPriorityClasses);
  auto& waiting = classes_[request.priority];
  waiting.push_back({std::move(request), alone_us, pushed_++});
}

size_t RequestQueue::turn() const {
  const bool is_oldest_due = popped_ % kOldestEvery == kOldestEvery - 1;
  size_t chosen = kPriorityClasses;
  for (size_t c = 0; c < kPriorityClasses; ++c) {
    if (classes_[c].empty()) continue;
    const bool is_first = chosen == kPriorityClasses;
    if (is_first || (is_oldest_due && classes_[c].front().number < classes_[chosen].front().number))
      chosen = c;
  }
  TESSERA_CHECK(chosen < kPriorityClasses);
  return chosen;
}

RequestQueue::Waiting& RequestQueue::next() { return classes_[turn()].front(); }

void RequestQueue::pop() {
  classes_[turn()].pop_front();
  ++popped_;
}

double RequestQueue::ahead_us(uint8_t priority) const {
  double ahead = 0;
  for (size_t c = 0; c <= priority; ++c) {
    for (const Waiting& waiting : classes_[c]) ahead += waiting.alone_us;
  }
  return ahead;
}

}  // namespace tessera::engine
