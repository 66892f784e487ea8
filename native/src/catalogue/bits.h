// Runs of bits in 64-bit words: bit i is bit i % 64 of word i / 64.
#pragma once

#include <bit>
#include <cstdint>

namespace tessera::catalogue {

inline constexpr uint32_t kWordBits = 64;

constexpr uint64_t words_for(uint64_t bits) { return (bits + kWordBits - 1) / kWordBits; }

inline bool test_bit(const uint64_t* words, uint64_t bit) {
  return (words[bit / kWordBits] >> (bit % kWordBits) & 1) != 0;
}

inline void set_bit(uint64_t* words, uint64_t bit) {
  words[bit / kWordBits] |= uint64_t{1} << (bit % kWordBits);
}

inline void clear_bit(uint64_t* words, uint64_t bit) {
  words[bit / kWordBits] &= ~(uint64_t{1} << (bit % kWordBits));
}

/// Word w of those that hold bits [begin, end), with the bits outside cleared.
inline uint64_t masked_word(const uint64_t* words, uint64_t w, uint64_t begin, uint64_t end) {
  uint64_t word = words[w];
  if (w == begin / kWordBits) word &= ~uint64_t{0} << (begin % kWordBits);
  if (w == (end - 1) / kWordBits)
    word &= ~uint64_t{0} >> ((kWordBits - end % kWordBits) % kWordBits);
  return word;
}

inline bool any_bit(const uint64_t* words, uint64_t begin, uint64_t end) {
  for (uint64_t w = begin / kWordBits; begin < end && w <= (end - 1) / kWordBits; ++w) {
    if (masked_word(words, w, begin, end) != 0) return true;
  }
  return false;
}

inline uint64_t count_bits(const uint64_t* words, uint64_t begin, uint64_t end) {
  uint64_t count = 0;
  for (uint64_t w = begin / kWordBits; begin < end && w <= (end - 1) / kWordBits; ++w) {
    count += static_cast<uint64_t>(std::popcount(masked_word(words, w, begin, end)));
  }
  return count;
}

/// Calls visit(bit) for each bit set in [begin, end), ascending.
template <typename Visit>
void for_each_bit(const uint64_t* words, uint64_t begin, uint64_t end, const Visit& visit) {
  for (uint64_t w = begin / kWordBits; begin < end && w <= (end - 1) / kWordBits; ++w) {
    for (uint64_t word = masked_word(words, w, begin, end); word != 0; word &= word - 1) {
      visit(w * kWordBits + static_cast<uint64_t>(std::countr_zero(word)));
    }
  }
}

}  // namespace tessera::catalogue
