// The pool's own threads: some that load, one that stores. They wait on the pool's conditions and
// run the steps of work.h. Owner: PoolState, which stops them before anything else goes.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "kv/tier.h"

namespace tessera::kv {

class PoolState;

class IoThreads {
 public:
  /// Starts `read_threads` threads that load and one that stores.
  IoThreads(PoolState& pool, uint32_t read_threads);
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;
  /// Ends the transfer in hand of each thread and joins them; what waits is left.
  ~IoThreads();

 private:
  void load();
  void store();
  void share(TierIndex which);
  /// False when the threads are to end.
  bool wait_for_loads();
  bool is_stopping();

  PoolState& pool_;
  std::vector<std::thread> threads_;
};

}  // namespace tessera::kv
