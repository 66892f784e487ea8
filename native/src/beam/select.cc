#include "beam/select.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "beam/scan.h"

namespace tessera::beam {

using catalogue::Children;
using catalogue::NodeIndex;
using catalogue::Snapshot;

namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();
constexpr uint32_t kChunk = 4096;  // children scanned before the threshold is looked at again
constexpr uint32_t kPrefetchDistance = 16;
constexpr uint32_t kKeysSpare =
    512;  // keys kept beyond twice the width before the worst are dropped
// Reading a row through costs per code about a quarter of gathering a child. Once a threshold lets
// few through, those are looked up among the children instead.
constexpr uint32_t kCodesPerGather = 4;

float score_of(CandidateKey key) {
  const auto high = static_cast<uint32_t>(key >> 32);
  return std::bit_cast<float>((high >> 31) != 0 ? high : high ^ 0x7FFFFFFFu);
}

NodeIndex node_of(CandidateKey key) { return static_cast<NodeIndex>(key); }

/// As the scans compute it.
float candidate_score(float beam_score, float logit, float norm) {
  const float sum = beam_score + (logit - norm);
  return (sum > kLowest ? sum : kLowest) + 0.0f;
}

}  // namespace

/// The next terminal token of a beam as a candidate. Its place in the order is the SID of its node.
struct TerminalCandidate {
  float score;
  NodeIndex node;
  uint32_t beam;
  bool is_last;  // choosing it finishes the path
};

/// The children of a beam. Sorted by their first child, winners find their parent by it.
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
};

void ScratchDeleter::operator()(Scratch* scratch) const { delete scratch; }

std::unique_ptr<Scratch, ScratchDeleter> make_scratch() {
  return std::unique_ptr<Scratch, ScratchDeleter>(new Scratch());
}

namespace {

/// One call of select(): its arguments, and the steps that read them.
class Selection {
 public:
  Selection(const Beams& beams, const StepLogits& logits, const Snapshot& snapshot,
            const SelectOptions& options, Scratch& scratch)
      : beams_(beams), logits_(logits), snapshot_(snapshot), options_(options), scratch_(scratch) {}

  void check() const;
  /// Fills keys with the best `width` children, best first, and terminals with all terminal
  /// candidates, best first.
  void collect();
  /// Without terminal tokens.
  void choose_children(Step& step) const;
  /// With terminal tokens.
  void choose_with_terminals(Step& step) const;

 private:
  bool has_terminal(uint32_t beam) const {
    return options_.terminal_count > 0 &&
           (beams_.ended[beam] > 0 || snapshot_.is_terminal(beams_.nodes[beam]));
  }
  const float* row(uint32_t beam) const {
    return logits_.codes.data() + size_t{beam} * logits_.level_size;
  }
  void find_children();
  size_t key_count_max() const { return 2 * size_t{options_.width} + kKeysSpare; }
  float norm(uint32_t beam, const ScanRun& run);
  void scan_children(ScanRun run);
  void scan_row(ScanRun run, const Children& children);
  void add_keys(const ScanRun& run);
  void keep_best();
  uint32_t parent_of(NodeIndex child) const;
  void push_child(CandidateKey key, uint32_t parent, Step& step) const;

  const Beams& beams_;
  const StepLogits& logits_;
  const Snapshot& snapshot_;
  const SelectOptions& options_;
  Scratch& scratch_;
};

void Selection::check() const {
  const size_t count = beams_.nodes.size();
  TESSERA_CHECK(options_.width >= 1);
  TESSERA_CHECK(beams_.scores.size() == count && beams_.ended.size() == count);
  TESSERA_CHECK(logits_.codes.size() >= count * logits_.level_size);
  TESSERA_CHECK(options_.terminal_count == 0 || logits_.terminal.size() >= count);
  TESSERA_CHECK(options_.norm != ScoreNorm::kFull || logits_.log_sum_exp.size() >= count);
}

float Selection::norm(uint32_t beam, const ScanRun& run) {
  if (options_.norm == ScoreNorm::kFull) return logits_.log_sum_exp[beam];
  std::vector<float>& values = scratch_.logits;
  const bool is_ended = beams_.ended[beam] > 0;
  const bool is_level = options_.norm == ScoreNorm::kLevel;
  const uint32_t count = is_ended ? 0 : is_level ? logits_.level_size : run.end - run.begin;
  if (!has_terminal(beam) && is_level) return scratch_.kernels.log_sum_exp(row(beam), count);
  values.resize(count + 1);
  if (is_level) {
    std::copy_n(row(beam), count, values.begin());
  } else if (count > 0) {
    scratch_.kernels.gather(run, values.data());
  }
  values[count] = has_terminal(beam) ? logits_.terminal[beam] : kLowest;
  return scratch_.kernels.log_sum_exp(values.data(), count + 1);
}

/// Shrinks the keys to the best `width`, unordered, and raises the threshold to the worst of them.
void Selection::keep_best() {
  if (scratch_.key_count <= options_.width) return;
  const auto begin = scratch_.keys.begin();
  const auto last = begin + (options_.width - 1);
  std::nth_element(begin, last, begin + scratch_.key_count);
  scratch_.key_count = options_.width;
  scratch_.threshold = score_of(*last);
}

/// Appends the keys of at most kChunk children. REQUIRES: key_count <= key_count_max().
void Selection::add_keys(const ScanRun& run) {
  scratch_.keys.resize(std::max(scratch_.keys.size(), key_count_max() + kChunk + kScanSlack));
  scratch_.key_count +=
      scratch_.kernels.scan(run, scratch_.threshold, scratch_.keys.data() + scratch_.key_count);
}

void Selection::scan_children(ScanRun run) {
  const uint32_t end = run.end;
  for (; run.begin < end; run.begin = run.end) {
    run.end = std::min(end, run.begin + kChunk);
    if (scratch_.key_count > key_count_max()) keep_best();
    add_keys(run);
  }
}

/// Reads through the whole row and looks up among the children what passes the threshold.
void Selection::scan_row(ScanRun run, const Children& children) {
  run.codes = nullptr;  // until they are looked up, keys carry codes in place of nodes
  run.first_child = 0;
  uint32_t next = 0;
  for (run.begin = 0; run.begin < logits_.level_size; run.begin = run.end) {
    run.end = std::min(logits_.level_size, run.begin + kChunk);
    if (scratch_.key_count > key_count_max()) keep_best();
    uint32_t kept = scratch_.key_count;
    add_keys(run);
    children.codes.visit([&](const auto* codes) {
      const auto* end = codes + children.codes.size();
      for (uint32_t i = kept; i < scratch_.key_count; ++i) {
        const uint32_t code = node_of(scratch_.keys[i]);
        const auto* found = std::lower_bound(codes + next, end, code);
        next = static_cast<uint32_t>(found - codes);
        if (found == end || *found != code) continue;
        scratch_.keys[kept++] =
            (scratch_.keys[i] & ~uint64_t{0xFFFFFFFF}) | (children.first_child + next);
      }
    });
    scratch_.key_count = kept;
  }
}

/// Fills ranges, one per beam; those of beams without children are empty.
void Selection::find_children() {
  const uint32_t count = static_cast<uint32_t>(beams_.nodes.size());
  scratch_.ranges.clear();
  for (uint32_t beam = 0; beam < count; ++beam) {
    if (beam + kPrefetchDistance < count) {
      snapshot_.prefetch(beams_.nodes[beam + kPrefetchDistance]);
    }
    ChildRange range{{}, beam};
    if (beams_.ended[beam] == 0) range.children = snapshot_.children(beams_.nodes[beam]);
    __builtin_prefetch(range.children.codes.data());
    scratch_.ranges.push_back(range);
  }
}

void Selection::collect() {
  scratch_.key_count = 0;
  scratch_.threshold = kLowest;
  scratch_.terminals.clear();
  find_children();
  for (const ChildRange& range : scratch_.ranges) {
    const catalogue::Codes& codes = range.children.codes;
    const uint32_t beam = range.beam;
    if (codes.empty() && !has_terminal(beam)) continue;
    TESSERA_CHECK(codes.empty() || codes[codes.size() - 1] < logits_.level_size);
    ScanRun run;
    run.logits = row(beam);
    run.codes = codes.size() == logits_.level_size ? nullptr : codes.data();
    run.code_bytes = codes.code_bytes();
    run.end = codes.size();
    run.first_child = range.children.first_child;
    run.beam_score = beams_.scores[beam];
    // A log-probability only lowers a score, so no child of this beam reaches the threshold.
    const bool is_hopeless = run.beam_score < scratch_.threshold;
    if (is_hopeless && !has_terminal(beam)) continue;
    run.norm = norm(beam, run);
    if (has_terminal(beam)) {
      scratch_.terminals.push_back(
          {candidate_score(run.beam_score, logits_.terminal[beam], run.norm), beams_.nodes[beam],
           beam, beams_.ended[beam] + 1u == options_.terminal_count});
    }
    if (is_hopeless) continue;
    if (scratch_.threshold == kLowest) keep_best();
    const bool reads_row = run.codes != nullptr && scratch_.threshold > kLowest &&
                           uint64_t{codes.size()} * kCodesPerGather >= logits_.level_size;
    if (reads_row) {
      scan_row(run, range.children);
    } else {
      scan_children(run);
    }
  }
  keep_best();
  std::sort(scratch_.keys.begin(), scratch_.keys.begin() + scratch_.key_count);
  // A leaf's empty range begins where its neighbour's children do and would pass for their parent.
  std::erase_if(scratch_.ranges,
                [](const ChildRange& range) { return range.children.codes.empty(); });
  std::sort(scratch_.ranges.begin(), scratch_.ranges.end(),
            [](const ChildRange& a, const ChildRange& b) {
              return a.children.first_child < b.children.first_child;
            });
  std::sort(scratch_.terminals.begin(), scratch_.terminals.end(),
            [this](const TerminalCandidate& a, const TerminalCandidate& b) {
              return a.score != b.score ? a.score > b.score : snapshot_.sid_before(a.node, b.node);
            });
}

uint32_t Selection::parent_of(NodeIndex child) const {
  const auto above = std::upper_bound(
      scratch_.ranges.begin(), scratch_.ranges.end(), child,
      [](NodeIndex node, const ChildRange& range) { return node < range.children.first_child; });
  return (above - 1)->beam;
}

void Selection::push_child(CandidateKey key, uint32_t parent, Step& step) const {
  const NodeIndex node = node_of(key);
  step.next.scores.push_back(score_of(key));
  step.next.nodes.push_back(node);
  step.next.ended.push_back(0);
  step.parents.push_back(parent);
  step.codes.push_back(snapshot_.code(node));
}

void Selection::choose_children(Step& step) const {
  for (uint32_t i = 0; i < scratch_.key_count; ++i) {
    if (i + kPrefetchDistance < scratch_.key_count) {
      snapshot_.prefetch(node_of(scratch_.keys[i + kPrefetchDistance]));
    }
    const CandidateKey key = scratch_.keys[i];
    const uint32_t parent = parent_of(node_of(key));
    if (snapshot_.is_terminal(node_of(key))) {
      step.finished.push_back({score_of(key), node_of(key)});
      step.finished_parents.push_back(parent);
    }
    if (snapshot_.has_children(node_of(key))) push_child(key, parent, step);
  }
}

void Selection::choose_with_terminals(Step& step) const {
  const std::vector<TerminalCandidate>& terminals = scratch_.terminals;
  uint32_t i = 0;
  size_t t = 0;
  for (uint32_t rank = 0; i < scratch_.key_count || t < terminals.size(); ++rank) {
    bool takes_terminal = i == scratch_.key_count;
    if (!takes_terminal && t < terminals.size()) {
      const float score = score_of(scratch_.keys[i]);
      takes_terminal = terminals[t].score != score
                           ? terminals[t].score > score
                           : snapshot_.sid_before(terminals[t].node, node_of(scratch_.keys[i]));
    }
    const bool has_room = step.next.nodes.size() < options_.width;
    if (rank >= options_.width && !has_room) break;
    if (!takes_terminal) {
      const CandidateKey key = scratch_.keys[i++];
      if (has_room) push_child(key, parent_of(node_of(key)), step);
      continue;
    }
    const TerminalCandidate& chosen = terminals[t++];
    if (chosen.is_last && rank < options_.width) {
      step.finished.push_back({chosen.score, chosen.node});
      step.finished_parents.push_back(chosen.beam);
    } else if (!chosen.is_last && has_room) {
      step.next.scores.push_back(chosen.score);
      step.next.nodes.push_back(chosen.node);
      step.next.ended.push_back(static_cast<uint8_t>(beams_.ended[chosen.beam] + 1));
      step.parents.push_back(chosen.beam);
      step.codes.push_back(kTerminalCode);
    }
  }
}

void clear(Step& step) {
  step.next.scores.clear();
  step.next.nodes.clear();
  step.next.ended.clear();
  step.parents.clear();
  step.codes.clear();
  step.finished.clear();
  step.finished_parents.clear();
}

}  // namespace

void select(const Beams& beams, const StepLogits& logits, const Snapshot& snapshot,
            const SelectOptions& options, Scratch& scratch, Step& step) {
  clear(step);
  Selection selection(beams, logits, snapshot, options, scratch);
  selection.check();
  selection.collect();
  if (options.terminal_count == 0) {
    selection.choose_children(step);
  } else {
    selection.choose_with_terminals(step);
  }
}

}  // namespace tessera::beam
