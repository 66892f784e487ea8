// Recorded chains of launches, by their shape: from the second use on, one call of the driver
// replaces hundreds. Values that change between uses are in device memory; arguments and sizes are
// those of the first use, so shapes are rounded up (rounded_rows) and kernels skip the spare rows.
//
// Thread-safety: one thread at a time, that of the queue, which outlives this.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "cuda/device/queue.h"

namespace tessera::device::cuda {

/// All that a chain's launches and their arguments depend on.
using ChainShape = std::vector<uint64_t>;

class LaunchGraphs {
 public:
  /// Keeps `most` chains, those used last.
  LaunchGraphs(Queue& queue, size_t most) : queue_(queue), most_(most) {}

  /// Runs the launches that `launches` asks of the queue, which are the same for the same shape.
  /// The first time they run as they are asked for: most shapes come once or not at all. Errors:
  /// those of `launches` and of the queue.
  Status run(const ChainShape& shape, const std::function<Status()>& launches);

  /// Forgets all chains. REQUIRES: none of them runs.
  void clear() { chains_.clear(); }

  size_t size() const { return chains_.size(); }
  uint64_t replay_count() const { return replays_; }

 private:
  struct Chain {
    std::unique_ptr<Recording> recording;  // null: met once
    uint64_t used = 0;
  };

  void make_room();

  Queue& queue_;
  size_t most_;
  std::map<ChainShape, Chain> chains_;
  uint64_t uses_ = 0;
  uint64_t replays_ = 0;
};

/// `count` rounded up by no more than a quarter (by 7 below 32), to one of few values; at most
/// `most`.
uint32_t rounded_rows(uint32_t count, uint32_t most);

}  // namespace tessera::device::cuda
