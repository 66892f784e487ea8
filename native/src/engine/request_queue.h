// Requests that wait for a place in the step loop, by class of priority. Within a class the oldest
// goes first; the classes share the places by their weights, so that none starves
// (scheduler/fair_share.h). The driver has the queue; what callers are judged by is its tally,
// which counts those that the driver has not taken yet as well. Neither is synchronised.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "engine/kv_gate.h"
#include "engine/request.h"
#include "scheduler/fair_share.h"

namespace tessera::engine {

static_assert(kPriorityClasses == scheduler::kClasses);

/// How many wait, and how much work they are predicted to be, each alone.
class QueueTally {
 public:
  void add(uint8_t priority, double alone_us);
  void remove(uint8_t priority, double alone_us);
  size_t size() const { return counts_[0] + counts_[1] + counts_[2]; }
  /// True if one more request of a class may wait in a queue of `capacity`.
  bool has_place(uint8_t priority, size_t capacity) const;
  /// Predicted work, each alone, that is done before a new request of a class and of so much work.
  double ahead_us(uint8_t priority, double own_us) const;
  /// Predicted time of all that wait, microseconds.
  double waiting_us() const;

 private:
  std::array<size_t, kPriorityClasses> counts_{};
  std::array<double, kPriorityClasses> work_us_{};
};

class RequestQueue {
 public:
  struct Waiting {
    Request request;
    double alone_us = 0;  // predicted
    ComingBlocks blocks{};
  };

  bool empty() const { return classes_[0].empty() && classes_[1].empty() && classes_[2].empty(); }
  void push(Waiting waiting);
  /// The request that is next. REQUIRES: not empty. The same until pop() or a change of the queue.
  Waiting& next();
  /// Takes next() out.
  void pop();

  /// Takes those out that `ends` is true of; it is called with each of them.
  template <typename Ends>
  void erase_if(const Ends& ends) {
    for (auto& waiting : classes_) std::erase_if(waiting, ends);
  }
  /// Gives back all blocks that are on their way.
  void drop_blocks() {
    for (auto& cls : classes_) {
      for (Waiting& waiting : cls) waiting.blocks = {};
    }
  }

 private:
  size_t turn() const;  // class of next()

  std::array<std::deque<Waiting>, kPriorityClasses> classes_;
  scheduler::FairShare share_;
};

}  // namespace tessera::engine
