// Codecs for tests, of the numbers that test_model.h writes.
#pragma once

#include <cstring>

#include "kv/codec.h"

namespace tessera::kv {

/// Exact, and of another size than the block: every byte inverted behind a header.
class InvertingCodec final : public BlockCodec {
 public:
  explicit InvertingCodec(uint64_t block_bytes) : block_bytes_(block_bytes) {}
  std::string name() const override { return "inverted"; }
  bool is_exact() const override { return true; }
  uint64_t encoded_bytes() const override { return kHeader + block_bytes_; }
  void encode(std::span<const std::byte> block, std::span<std::byte> to) const override {
    std::memset(to.data(), 7, kHeader);
    for (uint64_t i = 0; i < block.size(); ++i) to[kHeader + i] = ~block[i];
  }
  void decode(std::span<const std::byte> from, std::span<std::byte> block) const override {
    for (uint64_t i = 0; i < block.size(); ++i) block[i] = ~from[kHeader + i];
  }

 private:
  static constexpr uint64_t kHeader = 24;
  const uint64_t block_bytes_;
};

/// Lossy: of every number the upper half.
class HalvingCodec final : public BlockCodec {
 public:
  explicit HalvingCodec(uint64_t block_bytes) : block_bytes_(block_bytes) {}
  std::string name() const override { return "upper halves"; }
  bool is_exact() const override { return false; }
  uint64_t encoded_bytes() const override { return block_bytes_ / 2; }
  void encode(std::span<const std::byte> block, std::span<std::byte> to) const override {
    for (uint64_t i = 0; i < to.size(); i += 4) std::memcpy(&to[i], &block[2 * i + 4], 4);
  }
  void decode(std::span<const std::byte> from, std::span<std::byte> block) const override {
    std::memset(block.data(), 0, block.size());
    for (uint64_t i = 0; i < from.size(); i += 4) std::memcpy(&block[2 * i + 4], &from[i], 4);
  }

 private:
  const uint64_t block_bytes_;
};

}  // namespace tessera::kv
