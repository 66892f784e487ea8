// Reading of a packed record (README.md): field by field, in the order in which it was written.
// A field that does not fit leaves the rest of the record unread; the caller asks at the end.
//
// Thread-safety: a reader belongs to one thread; the words are read while it is used.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::abi {

inline constexpr size_t kHeaderWords = 4;
/// Records inside each other.
inline constexpr uint32_t kNestingMax = 64;

class PackedReader {
 public:
  /// Begins with the record at the front of the words.
  explicit PackedReader(std::span<const uint32_t> words) : words_(words) {
    if (words.size() < kHeaderWords || words[0] > words.size() || words[1] < kHeaderWords ||
        words[1] > words[0]) {
      fail();
      return;
    }
    const size_t bytes = (words[0] - words[1]) * sizeof(uint32_t);
    if (words[2] > bytes) {
      fail();
      return;
    }
    size_ = words[0];
    end_ = words[1];
    texts_ = {reinterpret_cast<const char*>(words.data() + end_), words[2]};
  }

  /// True if the words had every field and nothing else.
  bool is_whole() const { return is_good_ && at_ == end_ && texts_.empty(); }
  bool is_good() const { return is_good_; }
  /// Words of the record; the next one begins behind them.
  size_t size() const { return size_; }

  template <typename Integer>
  void u32(Integer& to) {
    to = static_cast<Integer>(word());
  }
  template <typename Truth>
  void flag(Truth& to) {
    to = word() != 0;
  }
  void u53(uint64_t& to) {
    const uint64_t low = word();
    to = low | uint64_t{word()} << 32;
  }
  void f64(double& to) {
    uint64_t bits = 0;
    u53(bits);
    std::memcpy(&to, &bits, sizeof(to));
  }
  /// Reads one of `count` enumerators; another value is a fault.
  template <typename Enumeration>
  void choice(Enumeration& to, uint32_t count) {
    const uint32_t value = word();
    if (value >= count) return fail();
    to = static_cast<Enumeration>(value);
  }
  void u32s(std::vector<uint32_t>& to) { array(to); }
  void i32s(std::vector<int32_t>& to) { array(to); }
  void f32s(std::vector<float>& to) { array(to); }
  void text(std::string& to) { to = view(); }
  void texts(std::vector<std::string>& to) {
    for (uint32_t left = counted(1); left > 0 && is_good_; --left) to.emplace_back(view());
  }
  /// Lists laid end to end: list l is numbers[offsets[l] .. offsets[l + 1]).
  void paths(std::vector<uint32_t>& numbers, std::vector<uint32_t>& offsets) {
    offsets.assign(1, 0);
    for (uint32_t left = counted(1); left > 0 && is_good_; --left) {
      const std::span<const uint32_t> path = take(counted(1));
      numbers.insert(numbers.end(), path.begin(), path.end());
      offsets.push_back(static_cast<uint32_t>(numbers.size()));
    }
  }
  void blob(std::string& to) { to = bytes(word()); }
  void blobs(std::vector<std::string>& to) {
    for (uint32_t left = counted(1); left > 0 && is_good_; --left) blob(to.emplace_back());
  }
  template <typename Value, typename Read>
  void optional(std::optional<Value>& to, const Read& read) {
    if (word() != 0) read(to.emplace());
  }
  template <typename Record, typename Read>
  void list(std::vector<Record>& to, const Read& read) {
    if (++nesting_ > kNestingMax) return fail();
    for (uint32_t left = counted(1); left > 0 && is_good_; --left) read(to.emplace_back());
    --nesting_;
  }

 private:
  void fail() {
    is_good_ = false;
    at_ = end_;
  }
  std::span<const uint32_t> take(size_t count) {
    if (count > end_ - at_) {
      fail();
      return {};
    }
    const auto taken = words_.subspan(at_, count);
    at_ += count;
    return taken;
  }
  uint32_t word() {
    const auto taken = take(1);
    return taken.empty() ? 0 : taken[0];
  }
  /// A count of what takes so many words each at least.
  uint32_t counted(uint32_t words) {
    const uint32_t count = word();
    if (count <= (end_ - at_) / words) return count;
    fail();
    return 0;
  }
  template <typename Number>
  void array(std::vector<Number>& to) {
    static_assert(sizeof(Number) == sizeof(uint32_t));
    const auto taken = take(counted(1));
    to.resize(taken.size());
    if (!taken.empty()) std::memcpy(to.data(), taken.data(), taken.size_bytes());
  }
  /// Bytes among the words; the last word is filled up.
  std::string_view bytes(uint32_t count) {
    const auto taken = take((size_t{count} + sizeof(uint32_t) - 1) / sizeof(uint32_t));
    if (taken.size_bytes() < count) return {};
    return {reinterpret_cast<const char*>(taken.data()), count};
  }
  std::string_view view() {
    const uint32_t bytes = word();
    if (bytes > texts_.size()) {
      fail();
      return {};
    }
    const std::string_view text = texts_.substr(0, bytes);
    texts_.remove_prefix(bytes);
    return text;
  }

  const std::span<const uint32_t> words_;
  size_t size_ = 0;
  size_t at_ = kHeaderWords;
  size_t end_ = kHeaderWords;  // of the fields
  std::string_view texts_;     // not read yet
  uint32_t nesting_ = 0;
  bool is_good_ = true;
};

}  // namespace tessera::abi
