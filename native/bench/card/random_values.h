// Random BF16 values without end: a pattern that repeats, so that what the card was given can be
// computed at any place without keeping it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "card/bench_card.h"

namespace tessera::bench::card {

inline float widened(uint16_t bits) {
  const uint32_t word = static_cast<uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

inline uint16_t narrowed(float value) {
  uint32_t word = 0;
  std::memcpy(&word, &value, sizeof(word));
  return static_cast<uint16_t>((word + 0x7FFFu + ((word >> 16) & 1u)) >> 16);
}

class RandomValues {
 public:
  /// Normal of mean 0.
  explicit RandomValues(uint64_t seed, float deviation = 1, uint64_t length = kLength)
      : pattern_(std::min(length, kLength)) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> draw(0, deviation);
    for (uint16_t& value : pattern_) value = narrowed(draw(random));
  }

  float at(uint64_t index) const { return widened(pattern_[index % pattern_.size()]); }
  const std::vector<uint16_t>& pattern() const { return pattern_; }

  /// Device memory of `count` values.
  Result<Memory> fill(BenchCard& card, uint64_t count) const {
    Result<Memory> memory = Memory::allocate(card.queue(), count * sizeof(uint16_t));
    if (!memory.is_ok()) return memory;
    for (uint64_t done = 0; done < count; done += pattern_.size()) {
      const uint64_t part = std::min<uint64_t>(pattern_.size(), count - done);
      TESSERA_RETURN_IF_ERROR(card.queue().copy_in(memory.value().as<uint16_t>() + done,
                                                   pattern_.data(), part * sizeof(uint16_t)));
    }
    return memory;
  }

 private:
  static constexpr uint64_t kLength = (1u << 20) - 3;  // no multiple of a row: rows differ

  std::vector<uint16_t> pattern_;
};

/// Device memory of NaN, so that an element that was not written is seen.
inline Result<Memory> poisoned(BenchCard& card, uint64_t bytes) {
  const std::vector<char> ones(std::min<uint64_t>(bytes, 1u << 24), '\xFF');
  Result<Memory> memory = Memory::allocate(card.queue(), bytes);
  if (!memory.is_ok()) return memory;
  for (uint64_t done = 0; done < bytes; done += ones.size()) {
    TESSERA_RETURN_IF_ERROR(card.queue().copy_in(memory.value().as<char>() + done, ones.data(),
                                                 std::min<uint64_t>(ones.size(), bytes - done)));
  }
  return memory;
}

}  // namespace tessera::bench::card
