#include "engine/request_queue.h"

#include <numeric>
#include <utility>

#include "base/check.h"

namespace tessera::engine {

void QueueTally::add(uint8_t priority, double alone_us) {
  TESSERA_CHECK(priority < kPriorityClasses);
  ++counts_[priority];
  work_us_[priority] += alone_us;
}

void QueueTally::remove(uint8_t priority, double alone_us) {
  TESSERA_CHECK(priority < kPriorityClasses && counts_[priority] > 0);
  --counts_[priority];
  work_us_[priority] = counts_[priority] == 0 ? 0 : work_us_[priority] - alone_us;
}

bool QueueTally::has_place(uint8_t priority, size_t capacity) const {
  TESSERA_CHECK(priority < kPriorityClasses);
  return scheduler::has_place(counts_, priority, capacity);
}

double QueueTally::ahead_us(uint8_t priority, double own_us) const {
  return scheduler::work_before_us(work_us_, priority, own_us);
}

double QueueTally::waiting_us() const {
  return std::accumulate(work_us_.begin(), work_us_.end(), 0.0);
}

void RequestQueue::push(Waiting waiting) {
  const uint8_t priority = waiting.request.priority;
  TESSERA_CHECK(priority < kPriorityClasses);
  if (classes_[priority].empty()) share_.began_waiting(priority);
  classes_[priority].push_back(std::move(waiting));
}

size_t RequestQueue::turn() const {
  return share_.next({!classes_[0].empty(), !classes_[1].empty(), !classes_[2].empty()});
}

RequestQueue::Waiting& RequestQueue::next() { return classes_[turn()].front(); }

void RequestQueue::pop() {
  const size_t cls = turn();
  const double work_us = classes_[cls].front().alone_us;
  classes_[cls].pop_front();
  share_.served(cls, work_us);
}

}  // namespace tessera::engine
