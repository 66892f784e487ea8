// The insides of select() and follow(): their scratch, and the collection of a step's candidates.
// Included by select.cc, collect.cc and follow.cc only.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/check.h"
#include "beam/follow.h"
#include "beam/scan.h"
#include "beam/select.h"

namespace tessera::beam {

using catalogue::Children;
using catalogue::NodeIndex;
using catalogue::Reach;
using catalogue::ReachChildren;

inline constexpr float kLowest = -std::numeric_limits<float>::infinity();
inline constexpr uint32_t kPrefetchDistance = 16;

inline float score_of(CandidateKey key) {
  const auto high = static_cast<uint32_t>(key >> 32);
  return std::bit_cast<float>((high >> 31) != 0 ? high : high ^ 0x7FFFFFFFu);
}

/// Score of a candidate as the scans compute it: never above the beam's own, whatever the rounding.
inline float candidate_score(float beam_score, float logit, float norm) {
  const float log_p = logit - norm;
  const float sum = beam_score + (log_p > 0 ? 0 : log_p);
  return (sum > kLowest ? sum : kLowest) + 0.0f;
}

inline NodeIndex node_of(CandidateKey key) { return static_cast<NodeIndex>(key); }

/// The next terminal token of a beam as a candidate. Its place in the order is the SID of its node.
struct TerminalCandidate {
  float score;
  NodeIndex node;
  uint32_t beam;
  bool is_last;  // choosing it finishes the path
};

/// The children of a beam in the snapshot. Sorted by their first child, winners find their parent
/// by it.
struct ChildRange {
  Children children;
  uint32_t beam;
};

struct Scratch {
  const ScanKernels& kernels = best_scan_kernels();
  std::vector<CandidateKey> keys;  // children that may be chosen; the first key_count are set
  uint32_t key_count = 0;
  float threshold = kLowest;  // a lower bound of the width-th best child's score
  std::vector<ChildRange> ranges;
  std::vector<TerminalCandidate> terminals;
  std::vector<float> logits;  // of one beam's candidates
  std::vector<uint32_t>
      listed_codes;  // candidates of one beam, where the snapshot's run will not do
  std::vector<NodeIndex> listed_nodes;
  bool has_later_nodes = false;  // among the keys: their numbers do not order SIDs
};

/// One call of select(): its arguments, and the steps that read them. kPlain: the snapshot alone
/// answers for every node (Reach::is_plain), which the inner loops need not ask again.
class Selection {
 public:
  Selection(const Beams& beams, const StepLogits& logits, const Reach& reach,
            const SelectOptions& options, Scratch& scratch)
      : beams_(beams), logits_(logits), reach_(reach), options_(options), scratch_(scratch) {}

  void check() const;
  /// Fills keys with the best `width` children, best first, and terminals with all terminal
  /// candidates, best first.
  void collect();
  /// Without terminal tokens.
  void choose_children(Step& step) const;
  /// With terminal tokens.
  void choose_with_terminals(Step& step) const;
  /// In place of the three: the candidates on a route.
  void follow(const Route& route, Step& step);
  /// Lists all children of a beam that may be entered, in listed_codes and listed_nodes. Gives
  /// the norm of their scores.
  float list_row(uint32_t beam);

  bool has_terminal(uint32_t beam) const {
    return options_.terminal_count > 0 &&
           (beams_.ended[beam] > 0 || reach_.is_terminal(beams_.nodes[beam]));
  }
  /// As what a level is over, the terminal token does not depend on which items a request may get:
  /// it counts where the catalogue has a live item.
  bool has_terminal_in_norm(uint32_t beam) const {
    if (options_.norm != ScoreNorm::kLevel) return has_terminal(beam);
    return options_.terminal_count > 0 &&
           (beams_.ended[beam] > 0 || !reach_.view().items(beams_.nodes[beam]).empty());
  }
  const float* row(uint32_t beam) const {
    return logits_.codes.data() + size_t{beam} * logits_.level_size;
  }

 private:
  void find_children();
  size_t key_count_max() const;
  ReachChildren children_of(const ChildRange& range) const;
  /// The candidates below a beam's node with their norm; listed where the snapshot's run will not
  /// do.
  ScanRun run_of(uint32_t beam, const ReachChildren& children, bool is_listed) {
    ScanRun run = is_listed ? listed_run(children) : base_run(children.base);
    run.logits = row(beam);
    run.beam_score = beams_.scores[beam];
    run.norm =
        options_.norm == ScoreNorm::kFull ? logits_.log_sum_exp[beam] : norm_of_own(beam, run);
    return run;
  }
  ScanRun base_run(const Children& children) const {
    const catalogue::Codes& codes = children.codes;
    TESSERA_CHECK(codes.empty() || codes[codes.size() - 1] < logits_.level_size);
    ScanRun run;
    run.codes = codes.size() == logits_.level_size ? nullptr : codes.data();
    run.code_bytes = codes.code_bytes();
    run.end = codes.size();
    run.first_child = children.first_child;
    return run;
  }
  ScanRun listed_run(const ReachChildren& children);
  float norm_of_own(uint32_t beam, const ScanRun& run);
  void follow_beam(uint32_t beam, const Route& route, Step& step);
  template <bool kPlain>
  void scan_beam(const ChildRange& range);
  /// The scans move the run's bounds.
  void scan_children(ScanRun& run, const ReachChildren& children);
  void scan_row(ScanRun& run, const ReachChildren& children);
  void scan_list(ScanRun& run);
  void list_children(const ReachChildren& children);
  bool wants_list(const ReachChildren& children) const;
  void drop_masked(uint32_t first, const ReachChildren& children);
  void add_keys(const ScanRun& run);
  bool before(CandidateKey a, CandidateKey b) const;
  void keep_best();
  void sort_candidates();
  template <bool kPlain>
  void choose_children_of(Step& step) const;
  template <bool kPlain>
  uint32_t parent_of(NodeIndex child) const;
  template <bool kPlain>
  void push_child(CandidateKey key, uint32_t parent, Step& step) const;

  const Beams& beams_;
  const StepLogits& logits_;
  const Reach& reach_;
  const SelectOptions& options_;
  Scratch& scratch_;
};

}  // namespace tessera::beam
