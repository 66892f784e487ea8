// A tier is a place where the pool keeps blocks. The pool has a list of them: first the device,
// which kernels read, then what lies below it, nearest first. Nothing but the list itself (tiers.h)
// knows a tier below the device by its name.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace tessera::kv {

/// Place of a tier in the pool's list.
using TierIndex = uint8_t;
inline constexpr TierIndex kDevice = 0;
inline constexpr TierIndex kNoTier = std::numeric_limits<TierIndex>::max();
inline constexpr uint32_t kTiersMax = 5;  // of a pool, the device included

/// One value for each tier that a pool can have.
template <typename T>
using PerTier = std::array<T, kTiersMax>;

/// The same value for each.
template <typename T>
constexpr PerTier<T> filled(T value) {
  PerTier<T> all{};
  all.fill(value);
  return all;
}

/// The tiers that PoolOptions makes by itself, in their order; they are in every pool's list, with
/// a capacity of 0 where they are not wanted.
inline constexpr std::array<const char*, 3> kStandardTiers = {"device", "host", "disk"};

/// Indices [begin, end): for (const TierIndex tier : range).
class TierRange {
 public:
  struct Iterator {
    TierIndex at;
    TierIndex operator*() const { return at; }
    Iterator& operator++() { return ++at, *this; }
    bool operator!=(const Iterator& other) const { return at != other.at; }
  };
  constexpr TierRange(uint32_t begin, uint32_t end)
      : begin_(static_cast<TierIndex>(begin)), end_(static_cast<TierIndex>(end)) {}
  Iterator begin() const { return {begin_}; }
  Iterator end() const { return {end_}; }

 private:
  TierIndex begin_, end_;
};

}  // namespace tessera::kv
