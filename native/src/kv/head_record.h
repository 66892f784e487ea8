// The disk tier's record of a chain: its committed tokens and the slots of their blocks. One record
// per chain, replaced whole, never edited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "kv/block.h"
#include "kv/identity.h"

namespace tessera::kv {

/// Names a chain across restarts.
struct HeadKey {
  Digest version;
  bool is_prefix = false;  // of a static prefix; otherwise of a user
  std::string owner;       // the sixteen bytes of the user's digest or of the prefix digest
  bool operator==(const HeadKey&) const = default;
};

struct HeadBlock {
  SlotIndex slot = kNoSlot;
  uint32_t length = 0;  // valid tokens, 1..kBlockTokens; only the last block has fewer
  uint64_t checksum = 0;
  bool operator==(const HeadBlock&) const = default;
};

struct HeadRecord {
  HeadKey key;
  uint64_t seq = 0;
  Digest prefix;  // what the chain stands on
  uint32_t prefix_blocks = 0;
  uint32_t versions_back = 0;  // chain.h
  Digest root;                 // of the hash chain
  std::vector<Token> tokens;   // as many as the blocks' lengths add up to
  std::vector<HeadBlock> blocks;
  bool operator==(const HeadRecord&) const = default;
};

inline constexpr uint32_t kOwnerBytesMax = 1024;
inline constexpr uint32_t kChainTokensMax = 1u << 20;

/// Little-endian: magic "KVH3", fields, tokens, blocks, XXH3-64 over all before it. No user's ID is
/// in it; decode() takes the format before, "KVH2", whose owner of a user's chain is the ID.
std::string encode(const HeadRecord& record);
/// Errors: KV_STORE_CORRUPT for bytes that encode() did not make.
Result<HeadRecord> decode(std::string_view bytes);
/// Key of the index under which the record lies.
std::string encode_key(const HeadKey& key);

/// Checksum of a block's bytes, tied to what the block is: bytes of another block do not pass.
uint64_t block_checksum(std::span<const std::byte> bytes, const Digest& key);

}  // namespace tessera::kv
