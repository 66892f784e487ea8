// Blocks in 8 bits per number in the host and disk tiers (docs/internals/kv-pool.md).
#pragma once

#include <string>

#include "attention/quantised_block.h"
#include "kv/codec.h"

namespace tessera::engine {

/// Thread-safety: any thread.
class Int8Codec final : public kv::BlockCodec {
 public:
  explicit Int8Codec(const attention::BlockLayout& layout) : block_(layout) {}

  std::string name() const override { return attention::QuantisedBlock::kName; }
  bool is_exact() const override { return false; }
  uint64_t encoded_bytes() const override { return block_.bytes(); }
  void encode(std::span<const std::byte> block, std::span<std::byte> to) const override {
    block_.encode(block, to);
  }
  void decode(std::span<const std::byte> from, std::span<std::byte> block) const override {
    block_.decode(from, block);
  }

 private:
  const attention::QuantisedBlock block_;
};

}  // namespace tessera::engine
