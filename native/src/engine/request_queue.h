// Requests that wait for a place in the step loop, by class of priority. Within a class the oldest
// goes first; the classes share the places by their weights, so that none starves
// (scheduler/fair_share.h). Not synchronised: guarded by the engine's mutex.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "engine/request.h"
#include "scheduler/fair_share.h"

namespace tessera::engine {

static_assert(kPriorityClasses == scheduler::kClasses);

class RequestQueue {
 public:
  struct Waiting {
    Request request;
    double alone_us = 0;  // predicted
  };

  size_t size() const;
  bool empty() const { return size() == 0; }
  /// Whether a request of a class may be pushed, with so many places.
  bool has_place(uint8_t priority, size_t capacity) const;
  void push(Request request, double alone_us);
  /// Whose turn it is. REQUIRES: not empty. The same until pop() or a change of the queue.
  Waiting& next();
  /// Takes next() out.
  void pop();
  /// Predicted work, each alone, that is done before a new request of a class and of so much work.
  double ahead_us(uint8_t priority, double own_us) const;
  /// The same of all that wait.
  double waiting_us() const;

  template <typename Ends>
  void erase_if(const Ends& ends) {
    for (size_t c = 0; c < kPriorityClasses; ++c) {
      std::erase_if(classes_[c], [&](const Waiting& one) {
        if (!ends(one.request)) return false;
        work_us_[c] -= one.alone_us;
        return true;
      });
      if (classes_[c].empty()) work_us_[c] = 0;
    }
  }

 private:
  size_t turn() const;  // class of next()

  std::array<std::deque<Waiting>, kPriorityClasses> classes_;
  std::array<double, kPriorityClasses> work_us_{};  // of those that wait
  scheduler::FairShare share_;
};

}  // namespace tessera::engine
