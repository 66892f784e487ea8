// How many rows of beams a search will compute, from those that searches like it have computed
// lately: a high quantile, since what takes longer than predicted makes others late. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

namespace tessera::scheduler {

/// Searches of a kind that are remembered, kinds, and the quantile.
inline constexpr size_t kRowsRemembered = 64;
inline constexpr size_t kRowKindsMax = 1024;
inline constexpr double kRowQuantile = 0.85;

/// A kind of which so many were predicted since one has ended is met for the first time again: what
/// is refused for its prediction can never correct it.
inline constexpr size_t kPredictionsKept = 256;

class RowForecast {
 public:
  /// Rows of the next search of a kind; `at_first`: before one has ended.
  uint32_t predict(uint64_t kind, uint32_t at_first);
  void observe(uint64_t kind, uint32_t rows);

 private:
  struct Seen {
    std::array<uint32_t, kRowsRemembered> rows{};
    size_t count = 0;      // ever
    size_t predicted = 0;  // since the last of them
    uint32_t quantile = 0;
  };
  std::unordered_map<uint64_t, Seen> kinds_;
  std::deque<uint64_t> order_;  // of the kinds, the one met first in front: it is forgotten first
};

}  // namespace tessera::scheduler
