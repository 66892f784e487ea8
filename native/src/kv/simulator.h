// Thousands of interleavings from one seed: requests that look up, extend, stage, commit, fail and
// are cancelled; transfers whose steps run in any order; evictions, drops, cuts, retirements; a
// disk that fails; crashes and restarts. After every step the pool's books are audited; every
// answer is compared with one computed from nothing. The same seed does the same again.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kv/sim_disk.h"
#include "kv/sim_remote.h"
#include "kv/test_model.h"
#include "kv/work.h"

namespace tessera::kv {

struct SimConfig {
  uint64_t seed = 0;
  uint32_t steps = 2000;
  uint32_t device_blocks = 24;
  uint32_t host_blocks = 16;
  uint32_t disk_blocks = 40;
  uint32_t users = 4;
  uint32_t versions = 2;
  uint32_t versions_back_max = 0;  // not 0: each version follows the one before it
  uint32_t prefix_tokens = 0;      // static text in front of every prompt
  DiskFaults faults;
  uint32_t remote_blocks = 0;  // of a tier below the disk; 0: none
  RemoteFaults remote;
  uint32_t crash_chance = 0;  // in 1/1000 per step
  bool is_encoded = false;    // below the device, by an exact codec
  bool forgets = true;        // users are dropped and cut, versions retired
};

struct SimReport {
  std::vector<std::string> faults;  // broken invariants, each with its step; empty when all held
  uint64_t trace = 0;               // digest of everything that was decided
  uint64_t answers = 0;
  uint64_t matched_tokens = 0;
  uint64_t inherited_tokens = 0;
  uint64_t commits = 0;
  uint64_t lost_commits = 0;
  uint64_t revoked = 0;
  uint64_t crashes = 0;
  uint64_t recovered_chains = 0;
  uint64_t loads = 0;
  uint64_t stores = 0;
  uint64_t corrupt_loads = 0;
  uint64_t remote_reads = 0, remote_writes = 0;
};

SimReport simulate(const SimConfig& config);

}  // namespace tessera::kv
