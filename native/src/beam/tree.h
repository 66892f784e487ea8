// The candidates that a search kept and first rejected, step by step, where a request wants them.
// Thread-safety: a free function.
#pragma once

#include <cstdint>
#include <vector>

#include "beam/lazy_search.h"
#include "catalogue/reach.h"

namespace tessera::beam {

/// Candidates shown per step beyond those that were chosen, best first.
inline constexpr uint32_t kRejectedMax = 32;
/// Nodes walked to count the items below one where a catalogue has changes.
inline constexpr uint32_t kWalkedMax = 512;

/// Bits of a row's outcome; none: rejected.
inline constexpr uint32_t kGoesOn = 1;     // the width keeps it, and it goes on
inline constexpr uint32_t kEndsHere = 2;   // it is a path that was found
inline constexpr uint32_t kAtLeast = 4;    // there may be more items than were counted
inline constexpr uint32_t kProvedOut = 8;  // goes on, but below the answer's last score

inline constexpr uint32_t kNoRow = 0xFFFFFFFFu;

struct TreeRow {
  uint32_t step = 0;         // from 0
  uint32_t parent = kNoRow;  // its row
  uint32_t code = 0;         // or kTerminalCode
  uint32_t outcome = 0;
  uint32_t items = 0;  // to be had at or below
};
/// Candidates of a search in the order of its steps; of a step, first what goes on, then what ends
/// there, then what was rejected, each best first.
struct Tree {
  std::vector<TreeRow> rows;
  std::vector<float> scores;  // [rows]
};

/// The tree of a search that has ended. REQUIRES: it kept kRejectedMax candidates to be shown;
/// `reach` is its.
Tree tree_of(const LazySearch& search, const catalogue::Reach& reach);

}  // namespace tessera::beam
