#include "engine/request_queue.h"

#include <numeric>

#include "base/check.h"

namespace tessera::engine {

size_t RequestQueue::size() const {
  size_t size = 0;
  for (const auto& waiting : classes_) size += waiting.size();
  return size;
}

bool RequestQueue::has_place(uint8_t priority, size_t capacity) const {
  TESSERA_CHECK(priority < kPriorityClasses);
  return scheduler::has_place({classes_[0].size(), classes_[1].size(), classes_[2].size()},
                              priority, capacity);
}

void RequestQueue::push(Request request, double alone_us) {
  TESSERA_CHECK(request.priority < kPriorityClasses);
  const uint8_t priority = request.priority;
  if (classes_[priority].empty()) share_.began_waiting(priority);
  classes_[priority].push_back({std::move(request), alone_us});
  work_us_[priority] += alone_us;
}

size_t RequestQueue::turn() const {
  return share_.next({!classes_[0].empty(), !classes_[1].empty(), !classes_[2].empty()});
}

RequestQueue::Waiting& RequestQueue::next() { return classes_[turn()].front(); }

void RequestQueue::pop() {
  const size_t cls = turn();
  const double work_us = classes_[cls].front().alone_us;
  classes_[cls].pop_front();
  work_us_[cls] = classes_[cls].empty() ? 0 : work_us_[cls] - work_us;
  share_.served(cls, work_us);
}

double RequestQueue::ahead_us(uint8_t priority, double own_us) const {
  return scheduler::work_before_us(work_us_, priority, own_us);
}

double RequestQueue::waiting_us() const {
  return std::accumulate(work_us_.begin(), work_us_.end(), 0.0);
}

}  // namespace tessera::engine
