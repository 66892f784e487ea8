#include "attention/quantised_block.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/check.h"

namespace tessera::attention {
namespace {

using device::kPanelGroups;
using device::kPanelHalf;

constexpr float kMost = 127;
// Exponents of scales. Rows smaller than the least scale can write are zero within 2^-127.
constexpr int kExponentMin = -126;
constexpr int kExponentMax = 121;  // 127 * 2^121 is finite
constexpr uint8_t kZeroRow = 0;    // the code of a row of zeros; exponent e has code e + kBias
constexpr int kBias = 127;
constexpr uint32_t kMagnitude = 0x7fffffff;  // bits of an F32 but its sign
constexpr uint32_t kInfinity = 0x7f800000;

/// The keys or values of one head, a row for each position. Number holds the bits of one: uint16_t
/// of BF16, uint32_t of F32. Padding of panels is zero.
template <typename Number>
class HeadRows {
 public:
  /// Numbers in 32 bits: a panel's word.
  static constexpr size_t kSlots = sizeof(uint32_t) / sizeof(Number);

  explicit HeadRows(const BlockLayout& layout)
      : layout_(layout),
        stride_(device::panel_count(layout.head_dim) * device::kPanelColumns),
        numbers_(kBlockPositions * stride_) {}

  Number* row(size_t position) { return numbers_.data() + position * stride_; }

  /// Keys: positions are columns, so a word is consecutive numbers of one row.
  template <typename Move>
  void with_key_words(Move move) {
    if (layout_.is_plain) return with_plain_words(move);
    const size_t tiles = device::panel_tiles(layout_.panel_type(), layout_.head_dim);
    size_t word = 0;
    for (size_t tile = 0; tile < tiles; ++tile) {
      for (size_t half = 0; half < 2; ++half) {
        for (size_t group = 0; group < kPanelGroups; ++group) {
          Number* const from = row(half * kPanelHalf) + (tile * kPanelGroups + group) * kSlots;
          for (size_t c = 0; c < kPanelHalf; ++c) move(word++, from + c * stride_, size_t{1});
        }
      }
    }
  }

  /// Values: positions are inputs, so a word is one column of consecutive rows.
  template <typename Move>
  void with_value_words(Move move) {
    if (layout_.is_plain) return with_plain_words(move);
    const size_t panels = device::panel_count(layout_.head_dim);
    const size_t tiles = device::panel_tiles(layout_.panel_type(), kBlockPositions);
    size_t word = 0;
    for (size_t panel = 0; panel < panels; ++panel) {
      for (size_t tile = 0; tile < tiles; ++tile) {
        for (size_t half = 0; half < 2; ++half) {
          for (size_t group = 0; group < kPanelGroups; ++group) {
            Number* const from = row((tile * kPanelGroups + group) * kSlots) +
                                 panel * device::kPanelColumns + half * kPanelHalf;
            for (size_t c = 0; c < kPanelHalf; ++c) move(word++, from + c, stride_);
          }
        }
      }
    }
  }

 private:
  /// Rows behind each other have no padding.
  template <typename Move>
  void with_plain_words(Move move) {
    TESSERA_CHECK(stride_ == layout_.head_dim);
    for (size_t word = 0; word < numbers_.size() / kSlots; ++word)
      move(word, numbers_.data() + word * kSlots, size_t{1});
  }

  const BlockLayout& layout_;
  const size_t stride_;  // numbers from row to row
  std::vector<Number> numbers_;
};

/// Copies a panel's words into rows: `step` numbers lie between those of one word.
template <typename Number>
auto into_rows(const std::byte* words) {
  return [words](size_t word, Number* to, size_t step) {
    Number numbers[HeadRows<Number>::kSlots];
    std::memcpy(numbers, words + word * sizeof(numbers), sizeof(numbers));
    for (size_t i = 0; i < HeadRows<Number>::kSlots; ++i) to[i * step] = numbers[i];
  };
}

template <typename Number>
auto out_of_rows(std::byte* words) {
  return [words](size_t word, const Number* from, size_t step) {
    Number numbers[HeadRows<Number>::kSlots];
    for (size_t i = 0; i < HeadRows<Number>::kSlots; ++i) numbers[i] = from[i * step];
    std::memcpy(words + word * sizeof(numbers), numbers, sizeof(numbers));
  };
}

template <typename Number>
uint32_t f32_bits(Number bits) {
  return uint32_t{bits} << (32 - 8 * sizeof(Number));
}

/// REQUIRES: the value is exact as a Number.
template <typename Number>
Number number_of(float value) {
  return static_cast<Number>(std::bit_cast<uint32_t>(value) >> (32 - 8 * sizeof(Number)));
}

/// The code of the smallest scale with which `most` fits.
uint8_t scale_code(float most) {
  if (!(most > 0)) return kZeroRow;
  int exponent = kExponentMin;
  if (std::isfinite(most)) {
    // most = m * 2^e with m in [1/2, 1): 127 * 2^(e - 7) reaches it unless m > 127/128.
    const float fraction = std::frexp(most, &exponent);
    exponent -= fraction > kMost / 128 ? 6 : 7;
  } else {
    exponent = kExponentMax;
  }
  return static_cast<uint8_t>(std::clamp(exponent, kExponentMin, kExponentMax) + kBias);
}

/// The nearest integer of -127..127, ties to even; 0 for what is no number. Without a branch or a
/// call: loops over it become vectors.
int8_t nearest(float scaled) {
  constexpr float kShift = 12'582'912;  // 3 * 2^22: its last bit is worth 1
  const float number = std::isnan(scaled) ? 0 : scaled;
  const float bounded = std::min(std::max(number, -kMost), kMost);
  return static_cast<int8_t>(static_cast<int32_t>(bounded + kShift - kShift));
}

/// Encodes the rows: scale codes, then `dims` numbers of each.
template <typename Number>
void encode_rows(HeadRows<Number>& rows, uint32_t dims, std::byte* to) {
  for (uint32_t position = 0; position < kBlockPositions; ++position) {
    const Number* const row = rows.row(position);
    uint32_t most_bits = 0;
    for (uint32_t dim = 0; dim < dims; ++dim) {
      const uint32_t bits = f32_bits(row[dim]) & kMagnitude;
      most_bits = std::max(most_bits, bits > kInfinity ? 0 : bits);
    }
    const auto most = std::bit_cast<float>(most_bits);
    uint8_t code = scale_code(most);
    const float inverse = code == kZeroRow ? 0 : std::ldexp(1.0f, kBias - code);
    if (nearest(most * inverse) == 0) code = kZeroRow;  // below half of the least scale
    to[position] = static_cast<std::byte>(code);
    auto* const numbers =
        reinterpret_cast<int8_t*>(to + kBlockPositions + uint64_t{position} * dims);
    for (uint32_t dim = 0; dim < dims; ++dim) {
      numbers[dim] = nearest(std::bit_cast<float>(f32_bits(row[dim])) * inverse);
    }
  }
}

template <typename Number>
void decode_rows(HeadRows<Number>& rows, uint32_t dims, const std::byte* from) {
  for (uint32_t position = 0; position < kBlockPositions; ++position) {
    Number* const row = rows.row(position);
    const int code = std::min(static_cast<int>(from[position]), kExponentMax + kBias);
    const float scale = code == kZeroRow ? 0 : std::ldexp(1.0f, code - kBias);
    const auto* const numbers =
        reinterpret_cast<const int8_t*>(from + kBlockPositions + uint64_t{position} * dims);
    for (uint32_t dim = 0; dim < dims; ++dim) {
      const int32_t number = std::max<int32_t>(numbers[dim], -127);
      row[dim] = number_of<Number>(scale * static_cast<float>(number));
    }
  }
}

/// `each(offset, is_keys, offset of the encoded rows)` for keys and values of every head.
template <typename Each>
void for_heads(const BlockLayout& layout, uint64_t row_set_bytes, Each each) {
  uint64_t at = 0;
  for (uint32_t layer = 0; layer < layout.layers; ++layer) {
    for (uint32_t head = 0; head < layout.kv_heads; ++head) {
      each(layout.key_offset(layer, head), true, at);
      each(layout.value_offset(layer, head), false, at + row_set_bytes);
      at += 2 * row_set_bytes;
    }
  }
}

template <typename Number>
void encode_block(const BlockLayout& layout, uint64_t row_set_bytes, const std::byte* block,
                  std::byte* to) {
  HeadRows<Number> rows(layout);
  for_heads(layout, row_set_bytes, [&](uint64_t offset, bool is_keys, uint64_t at) {
    const auto move = into_rows<Number>(block + offset);
    is_keys ? rows.with_key_words(move) : rows.with_value_words(move);
    encode_rows(rows, layout.head_dim, to + at);
  });
}

template <typename Number>
void decode_block(const BlockLayout& layout, uint64_t row_set_bytes, const std::byte* from,
                  std::byte* block) {
  HeadRows<Number> rows(layout);
  for_heads(layout, row_set_bytes, [&](uint64_t offset, bool is_keys, uint64_t at) {
    decode_rows(rows, layout.head_dim, from + at);
    const auto move = out_of_rows<Number>(block + offset);
    is_keys ? rows.with_key_words(move) : rows.with_value_words(move);
  });
}

}  // namespace

void QuantisedBlock::encode(std::span<const std::byte> block, std::span<std::byte> to) const {
  TESSERA_CHECK(block.size() == layout_.bytes() && to.size() == bytes());
  const bool is_bf16 = layout_.type == tensor::DType::kBf16;
  const auto run = is_bf16 ? encode_block<uint16_t> : encode_block<uint32_t>;
  run(layout_, row_set_bytes(), block.data(), to.data());
}

void QuantisedBlock::decode(std::span<const std::byte> from, std::span<std::byte> block) const {
  TESSERA_CHECK(block.size() == layout_.bytes() && from.size() == bytes());
  const bool is_bf16 = layout_.type == tensor::DType::kBf16;
  const auto run = is_bf16 ? decode_block<uint16_t> : decode_block<uint32_t>;
  run(layout_, row_set_bytes(), from.data(), block.data());
}

}  // namespace tessera::attention
