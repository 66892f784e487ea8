// The candidates that a search kept and first rejected, step by step, where a request wants them.
// Beside the search: it decides nothing, and a search without one pays nothing.
//
// Thread-safety: a TreeWatch belongs to the one thread that searches.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "beam/select.h"
#include "catalogue/reach.h"

namespace tessera::beam {

/// Candidates shown per step beyond those that were chosen, best first.
inline constexpr uint32_t kRejectedMax = 32;
/// Nodes walked to count the items below one where a catalogue has changes.
inline constexpr uint32_t kWalkedMax = 512;

/// Bits of a row's outcome; none: rejected.
inline constexpr uint32_t kGoesOn = 1;    // it is a beam of the next step
inline constexpr uint32_t kEndsHere = 2;  // it is a path that was found
inline constexpr uint32_t kAtLeast = 4;   // there may be more items than were counted

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

class TreeWatch {
 public:
  /// REQUIRES: `reach` is that of the search.
  explicit TreeWatch(catalogue::Reach reach);

  /// After each select(): what it was given and what it decided. The scratch may be that of the
  /// search: nothing of it is read after a selection.
  void observe(const Beams& beams, const StepLogits& logits, const SelectOptions& options,
               const Step& chosen, Scratch& scratch);
  Tree take() { return std::move(tree_); }

 private:
  struct Candidate {
    float score = 0;
    catalogue::NodeIndex node = catalogue::kNoNode;
    uint32_t ended = 0;  // terminal tokens
    uint32_t parent = 0;
    uint32_t code = 0;
    uint32_t outcome = 0;
  };

  /// Fills candidates_ with those of a step from these places of its two lists on; a path that
  /// ends and goes on is one.
  void list(const Step& step, size_t first_next, size_t first_finished, uint32_t terminal_count);
  void mark_ending(const Step& step);
  void reserve(size_t rows);
  void add(const Candidate& candidate);

  catalogue::Reach reach_;
  uint32_t steps_ = 0;               // observed
  std::vector<uint32_t> beam_rows_;  // of the running beams
  Step more_;                        // the selection with more room
  std::vector<Candidate> candidates_;
  std::vector<catalogue::NodeIndex> ending_;
  Tree tree_;
};

}  // namespace tessera::beam
