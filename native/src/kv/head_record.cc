#include "kv/head_record.h"

#include <cstring>

#define XXH_INLINE_ALL
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

namespace tessera::kv {
namespace {

constexpr uint32_t kNamedMagic = 0x3248564b;  // "KVH2"
constexpr uint32_t kMagic = 0x3348564b;       // "KVH3"

void put(std::string& out, const void* data, uint64_t size) {
  out.append(static_cast<const char*>(data), size);
}

template <typename T>
void put(std::string& out, T value) {
  put(out, &value, sizeof(value));
}

/// Reads fields off the front; `ok` turns false at the first that is not there.
struct Reader {
  std::string_view left;
  bool ok = true;

  void take(void* to, uint64_t size) {
    ok = ok && left.size() >= size;
    if (!ok) return;
    if (size > 0) std::memcpy(to, left.data(), size);
    left.remove_prefix(size);
  }
  template <typename T>
  T number() {
    T value{};
    take(&value, sizeof(value));
    return value;
  }
};

Status corrupt(const char* what) {
  return {Code::kKvStoreCorrupt, std::string("a chain's record on disk: ") + what};
}

Status check_lengths(const HeadRecord& record) {
  uint64_t tokens = 0;
  for (uint64_t i = 0; i < record.blocks.size(); ++i) {
    const uint32_t length = record.blocks[i].length;
    const bool is_last = i + 1 == record.blocks.size();
    if (length == 0 || length > kBlockTokens || (!is_last && length != kBlockTokens)) {
      return corrupt("a block that is not full stands before another");
    }
    tokens += length;
  }
  if (tokens != record.tokens.size()) return corrupt("its blocks hold other tokens than it has");
  return Status::ok();
}

}  // namespace

std::string encode_key(const HeadKey& key) {
  std::string out;
  out.push_back(key.is_prefix ? 'p' : 'u');
  put(out, key.version.bytes.data(), key.version.bytes.size());
  return out + key.owner;
}

std::string encode(const HeadRecord& record) {
  std::string out;
  out.reserve(128 + record.key.owner.size() + record.tokens.size() * sizeof(Token) +
              record.blocks.size() * 16);
  put(out, kMagic);
  put(out, static_cast<uint32_t>(record.key.is_prefix));
  put(out, record.key.version.bytes.data(), record.key.version.bytes.size());
  put(out, static_cast<uint32_t>(record.key.owner.size()));
  put(out, record.key.owner.data(), record.key.owner.size());
  put(out, record.seq);
  put(out, record.prefix.bytes.data(), record.prefix.bytes.size());
  put(out, record.prefix_blocks);
  put(out, record.versions_back);
  put(out, record.root.bytes.data(), record.root.bytes.size());
  put(out, static_cast<uint32_t>(record.tokens.size()));
  put(out, static_cast<uint32_t>(record.blocks.size()));
  put(out, record.tokens.data(), record.tokens.size() * sizeof(Token));
  for (const HeadBlock& block : record.blocks) {
    put(out, block.slot);
    put(out, block.length);
    put(out, block.checksum);
  }
  put(out, static_cast<uint64_t>(XXH3_64bits(out.data(), out.size())));
  return out;
}

Result<HeadRecord> decode(std::string_view bytes) {
  if (bytes.size() < sizeof(uint64_t)) return corrupt("too short");
  const std::string_view body = bytes.substr(0, bytes.size() - sizeof(uint64_t));
  uint64_t checksum = 0;
  std::memcpy(&checksum, bytes.data() + body.size(), sizeof(checksum));
  if (checksum != XXH3_64bits(body.data(), body.size())) return corrupt("wrong checksum");
  Reader in{body};
  HeadRecord record;
  const auto magic = in.number<uint32_t>();
  if (magic != kMagic && magic != kNamedMagic) return corrupt("not of this format");
  const auto kind = in.number<uint32_t>();
  if (kind > 1) return corrupt("unknown kind");
  record.key.is_prefix = kind == 1;
  in.take(record.key.version.bytes.data(), record.key.version.bytes.size());
  const auto owner_size = in.number<uint32_t>();
  if (!in.ok || owner_size > kOwnerBytesMax) return corrupt("owner too long");
  record.key.owner.resize(owner_size);
  in.take(record.key.owner.data(), owner_size);
  record.seq = in.number<uint64_t>();
  in.take(record.prefix.bytes.data(), record.prefix.bytes.size());
  record.prefix_blocks = in.number<uint32_t>();
  record.versions_back = in.number<uint32_t>();
  in.take(record.root.bytes.data(), record.root.bytes.size());
  const auto token_count = in.number<uint32_t>();
  const auto block_count = in.number<uint32_t>();
  if (!in.ok || token_count > kChainTokensMax || block_count != blocks_of(token_count) ||
      in.left.size() != uint64_t{token_count} * sizeof(Token) + uint64_t{block_count} * 16) {
    return corrupt("its size is not what it says");
  }
  record.tokens.resize(token_count);
  in.take(record.tokens.data(), token_count * sizeof(Token));
  record.blocks.resize(block_count);
  for (HeadBlock& block : record.blocks) {
    block.slot = in.number<SlotIndex>();
    block.length = in.number<uint32_t>();
    block.checksum = in.number<uint64_t>();
  }
  TESSERA_RETURN_IF_ERROR(check_lengths(record));
  if (magic == kNamedMagic && !record.key.is_prefix) {
    record.key.owner = owner_of(shared_owner(false, record.key.owner));
  }
  return record;
}

uint64_t block_checksum(std::span<const std::byte> bytes, const Digest& key) {
  uint64_t seed = 0;
  std::memcpy(&seed, key.bytes.data(), sizeof(seed));
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace tessera::kv
