// A tier of another machine, as far as a pool can tell: blocks under their content and nothing
// else, transfers that take their time and end in any order, and a store that forgets, fails and
// alters. It outlives the pools that are opened on it, as another machine would.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "kv/block_store.h"

namespace tessera::kv {

/// Chances are in 1/1000: of a transfer, or, of `is_slow`, of a look at one that is under way.
struct RemoteFaults {
  uint32_t read_error = 0;
  uint32_t write_error = 0;
  uint32_t forgets = 0;  // the block is gone when it is asked for
  uint32_t alters = 0;   // a bit of it is another one when it is asked for
  uint32_t is_slow = 500;
};

class SimRemote {
 public:
  SimRemote(uint32_t slot_count, uint64_t seed) : slot_count_(slot_count), random_(seed) {}

  /// The store of one life of the process: it knows no block of the lives before.
  std::unique_ptr<BlockStore> open();

  RemoteFaults faults;
  uint64_t reads = 0, writes = 0;  // that have ended well
  /// Transfers that a pool looked at after they had ended, or never began: must stay 0.
  uint64_t strays = 0;

 private:
  friend class SimRemoteStore;
  struct Block {
    std::vector<std::byte> bytes;
    uint64_t checksum = 0;
  };

  bool happens(uint32_t chance) { return random_() % 1000 < chance; }

  const uint32_t slot_count_;
  std::mt19937_64 random_;
  std::map<Digest, Block> blocks_;
};

}  // namespace tessera::kv
