// A prefix that a search may go on from, and what it is ordered by. Values.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "beam/draw.h"
#include "beam/select.h"
#include "catalogue/appraiser.h"

namespace tessera::beam {

inline constexpr uint32_t kNoSlot = 0xFFFFFFFFu;
inline constexpr float kNothing = -std::numeric_limits<float>::infinity();

/// The order of a search: keys that never rise on the way down the tree. Neither: scores.
struct Keys {
  /// By value: the most that an item at the prefix or below may be worth. Beside a draw: items that
  /// it excludes, or that are below its floor, are not to be had.
  std::shared_ptr<const catalogue::Appraiser> appraiser;
  std::optional<DrawOptions> draw;

  bool are_scores() const { return appraiser == nullptr && !draw; }
};

/// A candidate of a step.
struct Candidate {
  float key = 0;
  float score = 0;
  catalogue::NodeIndex node = catalogue::kNoNode;
  uint32_t code = 0;          // or kTerminalCode
  uint32_t parent = kNoSlot;  // slot of the row that it comes from
  uint32_t slot = kNoSlot;    // of its own row, once that is asked for
  uint32_t drawn = kNoSlot;   // of a draw: place of its state
  uint8_t ended = 0;          // terminal tokens
  bool ends = false;          // is a path that was found
  bool goes_on = false;
  bool is_kept = false;  // by the width
};

/// The total order of a step: key descending, then SID.
inline bool comes_before(const catalogue::View& view, const Candidate& a, const Candidate& b) {
  if (a.key != b.key) return a.key > b.key;
  return a.node != b.node && view.sid_before(a.node, b.node);
}

/// As select(), by other keys: the best `options.width` candidates of all rows with keys of `least`
/// at least, best first; `parent` is the row. One that ends and goes on is one candidate. Of a
/// draw, `rows` are the states of the rows, and those of the candidates are added to `drawn`. Gives
/// a bound of the keys below `least`; minus infinity: there are none.
float choose_by_keys(const Keys& keys, const Beams& beams, const StepLogits& logits,
                     const catalogue::Reach& reach, const SelectOptions& options, float least,
                     std::span<const Drawn> rows, Scratch& scratch, std::vector<Candidate>& chosen,
                     std::vector<Drawn>& drawn);

}  // namespace tessera::beam
