#include "model/weights_scan.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace tessera::model {
namespace {

using tensor::DType;

constexpr uint64_t kPieceBytes =
    1u << 20;  // hashed and scanned at a time; part of the digest's definition
constexpr uint64_t kNone = ~uint64_t{0};

struct Piece {
  const TensorEntry* entry;
  uint64_t begin;  // bytes within the tensor
  XXH128_hash_t hash{};
  uint64_t bad_element = kNone;
};

uint64_t find_non_finite_f16(const uint16_t* x, uint64_t n) {
  constexpr uint16_t kExponent = 0x7C00;
  for (uint64_t i = 0; i < n; ++i) {
    if ((x[i] & kExponent) == kExponent) return i;
  }
  return n;
}

/// Index of the first NaN or infinity among n elements, n when there is none. REQUIRES: aligned for
/// the type.
uint64_t find_non_finite(const device::KernelTable& kernels, DType type, const void* data,
                         uint64_t n) {
  switch (type) {
    case DType::kF32: return kernels.find_non_finite_f32(static_cast<const float*>(data), n);
    case DType::kBf16: return kernels.find_non_finite_bf16(static_cast<const uint16_t*>(data), n);
    case DType::kF16: return find_non_finite_f16(static_cast<const uint16_t*>(data), n);
  }
  return n;
}

/// `copy` is used where the file does not align the tensor.
void scan_piece(const device::KernelTable& kernels, Piece& piece, std::vector<float>& copy) {
  const DType type = *piece.entry->type;
  const uint64_t element = tensor::dtype_size(type);
  const uint64_t size = std::min(kPieceBytes, piece.entry->bytes.size() - piece.begin);
  const void* data = piece.entry->bytes.data() + piece.begin;
  piece.hash = XXH3_128bits(data, size);
  if (reinterpret_cast<uintptr_t>(data) % element != 0) {
    copy.resize(kPieceBytes / sizeof(float));
    std::memcpy(copy.data(), data, size);
    data = copy.data();
  }
  const uint64_t at = find_non_finite(kernels, type, data, size / element);
  if (at < size / element) piece.bad_element = piece.begin / element + at;
}

std::string hex(const XXH128_hash_t& hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  std::string text;
  for (const unsigned char byte : canonical.digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string describe_entry(const TensorEntry& entry) {
  std::string text = "\n" + entry.name + " " + entry.dtype;
  for (const uint64_t size : entry.shape) text += " " + std::to_string(size);
  return text + "\n";
}

}  // namespace

WeightsScan::WeightsScan(device::Device& device, std::string folder, std::string config_text,
                         uint64_t fork_bytes)
    : device_(device),
      folder_(std::move(folder)),
      fork_bytes_(fork_bytes),
      content_(std::move(config_text)) {}

Status WeightsScan::add(std::span<const TensorEntry* const> entries) {
  std::vector<Piece> pieces;
  for (const TensorEntry* entry : entries) {
    for (uint64_t begin = 0; begin < entry->bytes.size(); begin += kPieceBytes) {
      pieces.push_back({entry, begin});
    }
  }
  const uint64_t at_once = std::max<uint64_t>(1, fork_bytes_ / kPieceBytes);
  for (uint64_t first = 0; first < pieces.size(); first += at_once) {
    const uint64_t count = std::min(at_once, pieces.size() - first);
    device_.threads().parallel_for(count, [&](uint64_t begin, uint64_t end) {
      std::vector<float> copy;
      for (uint64_t i = begin; i < end; ++i) scan_piece(device_.kernels(), pieces[first + i], copy);
    });
  }
  const TensorEntry* described = nullptr;
  for (const Piece& piece : pieces) {
    if (piece.bad_element != kNone) {
      return Status(Code::kModelCorrupt,
                    folder_ + ": " + piece.entry->name +
                        ": expected finite numbers, got NaN or infinity at element " +
                        std::to_string(piece.bad_element));
    }
    if (piece.entry != described) content_ += describe_entry(*piece.entry);
    described = piece.entry;
    content_ += hex(piece.hash);
  }
  return Status::ok();
}

std::string WeightsScan::digest() const {
  return hex(XXH3_128bits(content_.data(), content_.size()));
}

}  // namespace tessera::model
