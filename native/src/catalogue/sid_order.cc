#include "catalogue/sid_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "catalogue/format.h"

namespace tessera::catalogue {
namespace {

constexpr uint32_t kDigitBits = 8;
constexpr uint32_t kDigits = 1u << kDigitBits;

struct Keyed {
  uint64_t key;
  uint32_t item;
};

/// Levels [begin, end) that fit one 64-bit key: each takes bit_width(level_size) bits and holds
/// code + 1, 0 past the end of the SID, so that a prefix sorts before its extensions.
struct KeyWord {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t bits = 0;
};

std::vector<KeyWord> plan_words(std::span<const uint32_t> level_sizes) {
  std::vector<KeyWord> words(1);
  for (uint32_t level = 0; level < level_sizes.size(); ++level) {
    const auto bits = static_cast<uint32_t>(std::bit_width(level_sizes[level]));
    if (words.back().bits + bits > 64) words.push_back({level, level, 0});
    words.back().end = level + 1;
    words.back().bits += bits;
  }
  return words;
}

uint64_t key_of(std::span<const uint32_t> sid, const KeyWord& word,
                std::span<const uint32_t> level_sizes) {
  uint64_t key = 0;
  for (uint32_t level = word.begin; level < word.end; ++level) {
    const uint64_t digit = level < sid.size() ? uint64_t{sid[level]} + 1 : 0;
    key = key << std::bit_width(level_sizes[level]) | digit;
  }
  return key;
}

/// Stable least-significant-digit radix sort by the low `bits` of the key; digits that do not vary
/// are skipped.
void radix_sort(std::vector<Keyed>& entries, std::vector<Keyed>& spare, uint32_t bits) {
  const uint32_t passes = (bits + kDigitBits - 1) / kDigitBits;
  std::vector<std::array<uint32_t, kDigits>> counts(passes);
  for (const Keyed& entry : entries) {
    for (uint32_t pass = 0; pass < passes; ++pass) {
      ++counts[pass][entry.key >> (pass * kDigitBits) & (kDigits - 1)];
    }
  }
  for (uint32_t pass = 0; pass < passes; ++pass) {
    std::array<uint32_t, kDigits>& count = counts[pass];
    if (std::find(count.begin(), count.end(), entries.size()) != count.end()) continue;
    uint32_t position = 0;
    for (uint32_t& slot : count) position += std::exchange(slot, position);
    for (const Keyed& entry : entries) {
      spare[count[entry.key >> (pass * kDigitBits) & (kDigits - 1)]++] = entry;
    }
    entries.swap(spare);
  }
}

void compare_neighbours(const CatalogueInput& input, SidOrder& order) {
  const size_t count = order.items.size();
  order.shared.assign(count, 0);
  order.depths.resize(count);
  std::span<const uint32_t> previous;
  for (size_t i = 0; i < count; ++i) {
    if (i + kSidsAhead < count) prefetch_sid(input, order.items[i + kSidsAhead]);
    const std::span<const uint32_t> sid = input.sid(order.items[i]);
    const auto diverge = std::mismatch(sid.begin(), sid.end(), previous.begin(), previous.end());
    const bool is_same = diverge.first == sid.end() && diverge.second == previous.end();
    order.shared[i] = is_same ? kSameSid : static_cast<uint8_t>(diverge.first - sid.begin());
    order.depths[i] = static_cast<uint8_t>(sid.size());
    previous = sid;
  }
}

/// Orders the items of each SID.
void order_runs(const CatalogueInput& input, SidOrder& order) {
  const auto before = [&input](uint32_t a, uint32_t b) {
    if (!input.priorities.empty() && input.priorities[a] != input.priorities[b]) {
      return input.priorities[a] > input.priorities[b];
    }
    return input.item_ids[a] < input.item_ids[b];
  };
  const size_t count = order.items.size();
  for (size_t begin = 0; begin < count;) {
    size_t end = begin + 1;
    while (end < count && order.shared[end] == kSameSid) ++end;
    if (end - begin > 1) {
      std::sort(order.items.begin() + begin, order.items.begin() + end, before);
    }
    begin = end;
  }
}

}  // namespace

SidOrder order_by_sid(const CatalogueInput& input, std::span<const uint32_t> level_sizes) {
  const size_t count = input.item_count();
  std::vector<Keyed> entries(count);
  std::vector<Keyed> spare(count);
  for (size_t i = 0; i < count; ++i) entries[i].item = static_cast<uint32_t>(i);
  const std::vector<KeyWord> words = plan_words(level_sizes);
  for (size_t w = words.size(); w-- > 0;) {
    for (Keyed& entry : entries) entry.key = key_of(input.sid(entry.item), words[w], level_sizes);
    radix_sort(entries, spare, words[w].bits);
  }
  spare = {};
  SidOrder order;
  order.items.resize(count);
  for (size_t i = 0; i < count; ++i) order.items[i] = entries[i].item;
  entries = {};
  compare_neighbours(input, order);
  order_runs(input, order);
  return order;
}

}  // namespace tessera::catalogue
