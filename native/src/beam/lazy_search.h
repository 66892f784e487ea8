// A beam search that computes a row only once it can still change the answer, and that knows what
// it may have missed.
//
// Rule. Selection s keeps the first widths[s] candidates of all kept prefixes, as select() does
// (select.h). A log-probability only lowers a score, so what lies below a prefix never scores
// higher than the prefix: once the answer is full, a prefix below the score of its last path is
// proved useless and its row is never computed. The paths of the answer are bit for bit those of
// the search that computes every row.
//
// Order. Rows above a guessed threshold are computed step by step, then whatever the true one still
// demands, until nothing above it is left. The guess decides how many rows and passes are needed,
// nothing else (threshold_rule.h). A candidate is settled once no better one can appear: every
// better prefix of earlier steps is computed. An unsettled candidate may be computed in advance,
// beside late rows of the steps before it; its children count once it is settled, and if a width
// then cuts it off, its row was useless. At most `spare_rows` rows beyond the widths are computed
// so.
//
// Keys. Candidates may go by other keys than their scores (candidate.h), which fall on the way down
// as scores do: all of the above holds of them. Paths are then looked into: what makes the answer
// full are its items, each with a key of its own.
//
// Without hope. Where the first steps show that the widths are not enough for a proof
// (out_of_reach.h), the search goes on as a beam of `beam_width`.
//
// Certificate. An item may have been missed only below a candidate that a width cut off, or that a
// narrowing took back. Where none of them reaches the answer's last score the answer is the model's
// best over all items to be had; else the best of their scores is the gap.
//
// Thread-safety: belongs to the one thread that searches.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "beam/candidate.h"
#include "beam/export.h"
#include "beam/found_items.h"
#include "beam/select.h"
#include "beam/threshold_rule.h"
#include "catalogue/reach.h"

namespace tessera::beam {

/// Rows for the next pass, those of a step together, steps ascending. Arrays of equal length.
struct Rows {
  Beams beams;
  std::vector<uint32_t> codes;    // chosen last, or kTerminalCode
  std::vector<uint32_t> parents;  // slot of the row that each continues; kNoSlot: the prompt
  std::vector<uint32_t> steps;    // selections on the way to it, from 1

  size_t size() const { return steps.size(); }
  void clear();
  /// `parent`: slot of the row that it continues.
  void push(const Candidate& candidate, uint32_t step);
  /// A token in place of a code, of no node.
  void push_token(int32_t token, uint32_t parent, uint32_t step);
};

struct LazyOptions {
  std::vector<uint32_t> widths;  // of every selection, each >= 1
  uint32_t terminal_count = 0;
  ScoreNorm norm = ScoreNorm::kFull;
  Keys keys;
  ExportOptions answer;  // what makes the answer full
  /// Items that the certificate speaks of, where keys are no scores; 0: all. Those behind them are
  /// searched for to know the best that is left out.
  uint32_t certified_items = 0;
  uint32_t shown = 0;       // candidates behind the widths that are kept to be shown
  uint32_t spare_rows = 0;  // that may be computed in vain
  uint32_t beam_width = 0;  // of a search whose proof is out of reach; 0: it goes on
  bool is_eager = false;    // computes whatever the widths keep
};

class LazySearch {
 public:
  LazySearch(catalogue::Reach reach, LazyOptions options);

  /// The logits of rows that belong to one step (0: the prompt's last), which have the slots from
  /// `first_slot` on.
  void take(uint32_t step, uint32_t first_slot, const Beams& beams, const StepLogits& logits,
            Scratch& scratch);
  /// The rows to compute next, at most `rows_max`, whose slots follow those of the rows before;
  /// none: the search has ended. `rule`, which may be null, guesses; `pass_rows`: rows that
  /// cost as much as a pass does beside its rows. REQUIRES: all rows asked for have been taken.
  void next(uint32_t rows_max, const ThresholdRule* rule, double pass_rows, Rows& rows);
  /// Limits each further selection to `width`; rows that are computed stay.
  void narrow(uint32_t width);

  /// Paths found so far, of which the answer is made where keys are scores.
  std::span<const Finished> finished() const { return finished_; }
  /// Where keys are no scores: the items found so far, best first, as `answer` has them; and,
  /// unless null, what caps have done. After next().
  std::vector<FoundItem> items(Exported* counts) const;
  /// Excludes these items, ascending, from now on. Only for keys that are no scores.
  void leave_out(std::vector<catalogue::ItemOrdinal> items) { left_out_ = std::move(items); }
  /// Certificate of an answer made of the paths found so far. After next().
  Certificate certificate() const;
  /// The best key that may have been missed; nothing: none was. After next().
  std::optional<float> missed() const;
  /// Prefixes that each selection keeps at most, for want of candidates or by its width.
  std::vector<uint32_t> widths_used() const;
  /// Candidates of a selection, best first: those that are kept, and some that are not.
  std::span<const Candidate> candidates(uint32_t step) const { return levels_[step].candidates; }
  uint32_t steps_taken() const { return steps_taken_; }
  uint32_t selections() const { return static_cast<uint32_t>(levels_.size()); }
  const LazyOptions& options() const { return options_; }
  uint32_t rows() const { return static_cast<uint32_t>(computed_.size()); }
  /// Tells the rule what the threshold came to. After the search has ended.
  void teach(ThresholdRule& rule) const;

 private:
  struct Level {
    std::vector<Candidate> candidates;  // best first
    std::vector<Candidate> arrived;     // that rows have given which may not be settled
    uint32_t width = 0;
    std::optional<float> cut;  // no candidate that was cut off is better; nothing: none was
    std::optional<ThresholdFeatures> features;
  };

  /// A row that was asked for, by its slot.
  struct Computed {
    bool is_in_advance = false;  // was not settled then, and is not known to be
    bool is_in_vain = false;     // a width has cut it off since
    uint32_t drawn = 0;
  };

  bool before(const Candidate& a, const Candidate& b) const;
  /// So that passes allocate nothing.
  void reserve();
  /// The candidates of rows [first, end) of those given, into incoming_.
  void choose(uint32_t step, uint32_t first_slot, std::pair<size_t, size_t> range,
              const Beams& beams, const StepLogits& logits, Scratch& scratch);
  void collect(const Step& step, uint32_t first_slot);
  void choose_keyed(uint32_t step, uint32_t first_slot, const Beams& beams,
                    const StepLogits& logits, const SelectOptions& options, Scratch& scratch);
  std::vector<FoundPath> found_paths() const;
  void merge_incoming(Level& level);
  /// `rank` among all candidates of its step, `going_on` among those that go on.
  bool has_place(const Candidate& candidate, uint32_t rank, uint32_t going_on,
                 uint32_t width) const;
  void limit(Level& level);
  void settle();
  /// The best candidate of the steps before `level` whose row is not computed.
  std::optional<float> bound_of(size_t level) const;
  void find_floor();
  void find_keyed_floor();
  Certificate keyed_certificate() const;
  /// Keys below this one are of no use.
  float least() const;
  /// The floor of values.
  float reserve_price() const;
  bool is_open(const Candidate& candidate) const {
    return candidate.is_kept && candidate.goes_on && candidate.slot == kNoSlot;
  }
  /// The best candidate whose row is not computed; nothing where there is none.
  std::optional<float> best_open() const;
  /// `open`: best_open().
  float target(float open, const ThresholdRule* rule, double pass_rows);
  float nth_open(size_t n);
  void pick(float target, uint32_t rows_max, Rows& rows);
  void ask(Candidate& candidate, size_t level, bool is_settled, Rows& rows);
  void probe(uint32_t rows_max, Rows& rows);
  void pick_beam(size_t level, uint32_t width, uint32_t rows_max, Rows& rows);
  bool is_out_of_reach_at(size_t level);
  void look(const ThresholdRule* rule, double pass_rows);

  const catalogue::Reach reach_;
  LazyOptions options_;
  std::vector<Level> levels_;  // of each selection
  std::vector<Finished> finished_;
  std::optional<float> floor_;            // key at which the answer is full
  std::optional<float> certified_floor_;  // of the items that the certificate speaks of
  std::optional<float> guess_;
  std::optional<float> lost_;       // the best that a narrowing took back
  std::optional<float> asked_;      // the best row whose logits have not come
  uint32_t steps_taken_ = 0;        // selections that have candidates
  std::vector<Computed> computed_;  // by slot
  std::vector<Drawn> drawn_;        // of candidates, and at 0 of the prompt
  std::vector<catalogue::ItemOrdinal> left_out_;
  uint32_t in_vain_ = 0;  // of these
  uint32_t in_advance_ = 0;
  bool is_probing_ = false;  // nobody knows yet whether the proof is within reach

  // Scratch.
  Beams beams_;
  Step step_;
  std::vector<Candidate> incoming_;
  std::vector<Candidate> merged_;
  std::vector<float> scores_;
  std::vector<Drawn> row_states_;
};

/// How a search may spend its rows.
struct RowShares {
  std::vector<uint32_t> widths;  // of every selection, each at least 1
  uint32_t spare_rows = 0;
};

/// Shares of `budget` rows. Every step that rows follow gets those without which it could not give
/// `paths`, or an equal part where these are too many; of the rest some are spare, the first step
/// gets half of the budget in all, the others share the remainder. `first_size`: candidates of the
/// first selection at most; the last, which no rows follow, keeps `paths`.
RowShares shares_of_budget(uint32_t budget, uint32_t selections, uint32_t first_size,
                           uint32_t paths);

}  // namespace tessera::beam
