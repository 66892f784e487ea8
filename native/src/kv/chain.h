// A chain: the committed tokens of one owner under one version, and where their blocks lie. In
// every tier the blocks that are there are a prefix of the chain: `resident` counts them.
//
// Thread-safety: under the lock of the pool. Owner: the pool's index, or its graves once dropped.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kv/block.h"
#include "kv/block_store.h"
#include "kv/eviction.h"
#include "kv/head_record.h"
#include "kv/identity.h"
#include "kv/tier.h"

namespace tessera::kv {

struct ChainBlock {
  Digest key;                    // chain hash through the block's valid tokens
  uint32_t length = 0;           // valid tokens; the rest of the block is finite and means nothing
  TierIndex found_in = kDevice;  // where the next lookup says that it was
  PerTier<SlotIndex> slots = filled<SlotIndex>(kNoSlot);
  uint64_t checksum = 0;  // of the copy in the store that has heads
  bool is_exact = true;   // the device's copy: not decoded by a lossy codec, nor computed on such

  /// Block as the tier's store knows it.
  StoredBlock stored_in(TierIndex tier) const { return {key, slots[tier], checksum}; }
  /// The first tier below the device that has it, or kNoTier.
  TierIndex nearest_below() const;
};

/// The head that is on disk now; it may be older than the chain.
struct DurableHead {
  uint64_t seq = 0;
  uint32_t version = 0;          // under whose name it lies
  uint32_t length = 0;           // tokens
  std::vector<SlotIndex> slots;  // by block; owned even where the chain no longer uses them
};

/// Knowledge of the chain in one store that other processes use.
struct SharedCopy {
  std::string revision;      // of the head there, as this process saw or put it last; empty: none
  uint64_t seq = 0;          // of the chain when that head was the same; 0: it is not
  uint64_t looked_us = 0;    // when the head was seen or put
  std::vector<Digest> keys;  // of the blocks that it names
  bool is_known = false;     // revision and keys are those of a head that was seen, or of none
  bool is_queued = false;    // to be put there
  bool is_erased = false;    // the owner was erased there: nothing is put under this chain any more
};

/// Progress of bringing blocks to the device.
struct ChainLoad {
  uint32_t next = 0;       // first block not yet issued
  uint32_t end = 0;        // one past the last wanted
  uint32_t in_flight = 0;  // transfers
  uint32_t waiting = 0;    // prefetches that want it
  bool is_queued = false;
  uint64_t asked_us = 0;
};

struct Chain {
  uint32_t version = 0;  // index among the pool's versions
  bool is_prefix = false;
  std::string owner;           // owner_of_user(), or owner_of() a prefix
  Digest prefix;               // of the static prefix below
  uint32_t prefix_blocks = 0;  // its length
  Digest root;                 // of the version that computed the front
  /// Versions between that one and `version`; 0: all of it is computed under `version`.
  uint32_t versions_back = 0;
  uint64_t seq = 0;  // of its newest change; unique in the pool
  uint64_t used_us = 0;
  std::vector<Token> tokens;
  std::vector<ChainBlock> blocks;
  PerTier<uint32_t> resident{};  // blocks
  PerTier<EvictionNode> nodes{};
  DurableHead durable;
  std::vector<SharedCopy> copies;  // by place among the shared tiers
  ChainLoad load;
  uint32_t version_position = 0;  // among its version's chains
  uint32_t holds = 0;             // jobs and prefetches that point here
  bool is_store_queued = false;
  bool is_renaming = false;  // its head on disk may lie under another version's name
  uint64_t store_asked_us = 0;
  bool is_dead = false;     // no longer in the index
  bool is_erasure = false;  // its bytes are to be made unreadable

  /// The first tier that has block `index`, or kNoTier.
  TierIndex nearest(uint32_t index) const;
};

/// Tokens at the front that both have.
uint32_t common_prefix(std::span<const Token> a, std::span<const Token> b);
/// The chain's name in stores that other processes use, under a version with this digest.
ChainName shared_name(const Chain& chain, const Digest& version);
/// Tokens held by the first `blocks` blocks.
uint32_t tokens_in(const Chain& chain, uint32_t blocks);
/// Blocks at the front that are in any tier at all.
uint32_t reachable_blocks(const Chain& chain);
/// Sets the length and key of block `index` from the chain's tokens.
void set_block_key(Chain& chain, uint32_t index);

}  // namespace tessera::kv
