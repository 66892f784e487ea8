// Requests that wait for a place in the step loop, by class. The most urgent class goes first and
// within it the oldest, but every fourth place goes to the oldest of all, so that no class starves.
// Not synchronised: guarded by the engine's mutex.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "engine/request.h"

namespace tessera::engine {

/// One place in so many goes to the oldest request, whatever its class.
inline constexpr uint32_t kOldestEvery = 4;

class RequestQueue {
 public:
  struct Waiting {
    Request request;
    double alone_us = 0;  // predicted
    uint64_t number = 0;  // in the order of arrival
  };

  size_t size() const;
  bool empty() const { return size() == 0; }
  void push(Request request, double alone_us);
  /// Whose turn it is. REQUIRES: not empty. The same until pop() or a change of the queue.
  Waiting& next();
  /// Takes next() out.
  void pop();
  /// Predicted work, each alone, of those that go before a new request of a class.
  double ahead_us(uint8_t priority) const;

  template <typename Ends>
  void erase_if(const Ends& ends) {
    for (auto& waiting : classes_) {
      std::erase_if(waiting, [&](const Waiting& one) { return ends(one.request); });
    }
  }

 private:
  size_t turn() const;  // class of next()

  std::array<std::deque<Waiting>, kPriorityClasses> classes_;
  uint64_t pushed_ = 0;
  uint64_t popped_ = 0;
};

}  // namespace tessera::engine
