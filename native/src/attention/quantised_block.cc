#include "attention/quantised_block.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/check.h"

namespace tessera::attention {
namespace {

using tensor::DType;

constexpr float kMost = 127;
// Exponents of scales. Rows smaller than the least scale can write are zero within 2^-127.
constexpr int kExponentMin = -126;
constexpr int kExponentMax = 121;  // 127 * 2^121 is finite
constexpr uint8_t kZeroRow = 0;    // the code of a row of zeros; exponent e has code e + kBias
constexpr int kBias = 127;

/// Where the numbers of one head lie, keys or values.
struct Rows {
  const BlockLayout& layout;
  bool is_keys;

  /// Byte offset from the first of them.
  uint64_t offset(uint32_t position, uint32_t dim) const {
    if (is_keys) return device::panel_offset(layout.panel_type(), dim, position);
    const auto columns = static_cast<uint32_t>(device::kPanelColumns);
    return dim / columns * layout.value_panel_bytes() +
           device::panel_offset(layout.panel_type(), position, dim % columns);
  }
};

float read_number(const std::byte* at, DType type) {
  uint32_t bits = 0;
  if (type == DType::kBf16) {
    uint16_t half = 0;
    std::memcpy(&half, at, sizeof(half));
    bits = uint32_t{half} << 16;
  } else {
    std::memcpy(&bits, at, sizeof(bits));
  }
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// REQUIRES: `value` is exact in `type`.
void write_number(float value, std::byte* at, DType type) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  if (type == DType::kBf16) {
    const auto half = static_cast<uint16_t>(bits >> 16);
    std::memcpy(at, &half, sizeof(half));
  } else {
    std::memcpy(at, &bits, sizeof(bits));
  }
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

int8_t nearest(float value, float inverse) {
  const float scaled = std::nearbyint(value * inverse);
  if (!(scaled > -kMost)) return scaled <= -kMost ? -127 : 0;  // 0 for what is no number
  return static_cast<int8_t>(std::min(scaled, kMost));
}

void encode_rows(const Rows& rows, const std::byte* from, std::byte* to) {
  const DType type = rows.layout.type;
  const uint32_t dims = rows.layout.head_dim;
  std::vector<float> row(dims);
  for (uint32_t position = 0; position < kBlockPositions; ++position) {
    float most = 0;
    for (uint32_t dim = 0; dim < dims; ++dim) {
      row[dim] = read_number(from + rows.offset(position, dim), type);
      most = std::max(most, std::abs(row[dim]));
    }
    uint8_t code = scale_code(most);
    const float inverse = code == kZeroRow ? 0 : std::ldexp(1.0f, kBias - code);
    if (nearest(most, inverse) == 0) code = kZeroRow;  // below half of the least scale
    to[position] = static_cast<std::byte>(code);
    std::byte* const numbers = to + kBlockPositions + uint64_t{position} * dims;
    for (uint32_t dim = 0; dim < dims; ++dim) {
      numbers[dim] = static_cast<std::byte>(nearest(row[dim], inverse));
    }
  }
}

void decode_rows(const Rows& rows, const std::byte* from, std::byte* to) {
  const uint32_t dims = rows.layout.head_dim;
  for (uint32_t position = 0; position < kBlockPositions; ++position) {
    const int code = std::min(static_cast<int>(from[position]), kExponentMax + kBias);
    const float scale = code == kZeroRow ? 0 : std::ldexp(1.0f, code - kBias);
    const std::byte* const numbers = from + kBlockPositions + uint64_t{position} * dims;
    for (uint32_t dim = 0; dim < dims; ++dim) {
      const int number = std::max<int>(static_cast<int8_t>(numbers[dim]), -127);
      write_number(scale * static_cast<float>(number), to + rows.offset(position, dim),
                   rows.layout.type);
    }
  }
}

}  // namespace

void QuantisedBlock::encode(std::span<const std::byte> block, std::span<std::byte> to) const {
  TESSERA_CHECK(block.size() == layout_.bytes() && to.size() == bytes());
  std::byte* at = to.data();
  for (uint32_t layer = 0; layer < layout_.layers; ++layer) {
    for (uint32_t head = 0; head < layout_.kv_heads; ++head) {
      encode_rows({layout_, true}, block.data() + layout_.key_offset(layer, head), at);
      encode_rows({layout_, false}, block.data() + layout_.value_offset(layer, head),
                  at + row_set_bytes());
      at += 2 * row_set_bytes();
    }
  }
}

void QuantisedBlock::decode(std::span<const std::byte> from, std::span<std::byte> block) const {
  TESSERA_CHECK(block.size() == layout_.bytes() && from.size() == bytes());
  std::memset(block.data(), 0, block.size());
  const std::byte* at = from.data();
  for (uint32_t layer = 0; layer < layout_.layers; ++layer) {
    for (uint32_t head = 0; head < layout_.kv_heads; ++head) {
      decode_rows({layout_, true}, at, block.data() + layout_.key_offset(layer, head));
      decode_rows({layout_, false}, at + row_set_bytes(),
                  block.data() + layout_.value_offset(layer, head));
      at += 2 * row_set_bytes();
    }
  }
}

}  // namespace tessera::attention
