// Writing of a packed record (README.md).
//
// Thread-safety: a writer belongs to one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "abi/packed_reader.h"

namespace tessera::abi {

inline std::string_view bytes_of(const std::optional<std::string>& value) {
  return value ? std::string_view(*value) : std::string_view();
}

class PackedWriter {
 public:
  PackedWriter() : words_(kHeaderWords) {}

  void u32(uint32_t value) { words_.push_back(value); }
  void count(size_t value) { words_.push_back(static_cast<uint32_t>(value)); }
  void flag(bool value) { words_.push_back(value ? 1 : 0); }
  void u53(uint64_t value) {
    words_.push_back(static_cast<uint32_t>(value));
    words_.push_back(static_cast<uint32_t>(value >> 32));
  }
  void f32(float value) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    words_.push_back(bits);
  }
  void f64(double value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    u53(bits);
  }
  void u32s(std::span<const uint32_t> values) {
    count(values.size());
    words_.insert(words_.end(), values.begin(), values.end());
  }
  void f32s(std::span<const float> values) {
    count(values.size());
    const size_t at = words_.size();
    words_.resize(at + values.size());
    if (!values.empty()) std::memcpy(words_.data() + at, values.data(), values.size_bytes());
  }
  void text(std::string_view value) {
    count(value.size());
    texts_.append(value);
  }

  void blob(std::string_view value) {
    count(value.size());
    bytes(value);
  }
  /// How many, then where each key and each value ends, then all of them end to end.
  void entries(std::span<const std::pair<std::string, std::string>> values) {
    count(values.size());
    const size_t ends = words_.size();
    size_t size = 0;
    for (const auto& [key, value] : values) size += key.size() + value.size();
    const size_t first = ends + 2 * values.size();
    words_.resize(first + (size + sizeof(uint32_t) - 1) / sizeof(uint32_t));
    uint32_t* end = words_.data() + ends;
    auto* const begin = reinterpret_cast<char*>(words_.data() + first);
    char* next = begin;
    for (const auto& [key, value] : values) {
      next = std::copy(key.begin(), key.end(), next);
      *end++ = static_cast<uint32_t>(next - begin);
      next = std::copy(value.begin(), value.end(), next);
      *end++ = static_cast<uint32_t>(next - begin);
    }
  }

  /// The record as a whole; the writer is done.
  std::vector<uint32_t> end() {
    const bool is_ascii = std::all_of(texts_.begin(), texts_.end(),
                                      [](char c) { return static_cast<uint8_t>(c) < 0x80; });
    const size_t fields = words_.size();
    bytes(texts_);
    words_[0] = static_cast<uint32_t>(words_.size());
    words_[1] = static_cast<uint32_t>(fields);
    words_[2] = static_cast<uint32_t>(texts_.size());
    words_[3] = is_ascii ? 1 : 0;
    return std::move(words_);
  }

 private:
  /// Writes bytes as whole words, the last one filled up.
  void bytes(std::string_view value) {
    const size_t at = words_.size();
    words_.resize(at + (value.size() + sizeof(uint32_t) - 1) / sizeof(uint32_t));
    if (!value.empty()) std::memcpy(words_.data() + at, value.data(), value.size());
  }

  std::vector<uint32_t> words_;
  std::string texts_;
};

}  // namespace tessera::abi
