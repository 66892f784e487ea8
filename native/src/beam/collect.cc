#include <algorithm>

#include "base/check.h"
#include "beam/selection.h"

namespace tessera::beam {
namespace {

constexpr uint32_t kChunk = 4096;  // children scanned before the threshold is looked at again
constexpr uint32_t kKeysSpare =
    512;  // keys kept beyond twice the width before the worst are dropped
// Reading a row through costs per code about a quarter of gathering a child. Once a threshold lets
// few through, those are looked up among the children instead.
constexpr uint32_t kCodesPerGather = 4;
// Where a mask lets fewer children than one in this many pass, those are listed first.
constexpr uint32_t kSparseMask = 8;

}  // namespace

void Selection::check() const {
  const size_t count = beams_.nodes.size();
  TESSERA_CHECK(options_.width >= 1);
  TESSERA_CHECK(beams_.scores.size() == count && beams_.ended.size() == count);
  TESSERA_CHECK(logits_.codes.size() >= count * logits_.level_size);
  TESSERA_CHECK(options_.terminal_count == 0 || logits_.terminal.size() >= count);
  TESSERA_CHECK(options_.norm != ScoreNorm::kFull || logits_.log_sum_exp.size() >= count);
}

/// Over the level's codes or the candidates. `run` may be listed.
float Selection::norm_of_own(uint32_t beam, const ScanRun& run) {
  std::vector<float>& values = scratch_.logits;
  const bool is_ended = beams_.ended[beam] > 0;
  const bool is_level = options_.norm == ScoreNorm::kLevel;
  const uint32_t count = is_ended ? 0 : is_level ? logits_.level_size : run.end - run.begin;
  const bool has_terminal = has_terminal_in_norm(beam);
  if (!has_terminal && is_level) return scratch_.kernels.log_sum_exp(row(beam), count);
  values.resize(count + 1);
  if (is_level) {
    std::copy_n(row(beam), count, values.begin());
  } else if (count > 0) {
    scratch_.kernels.gather(run, values.data());
  }
  values[count] = has_terminal ? logits_.terminal[beam] : kLowest;
  return scratch_.kernels.log_sum_exp(values.data(), count + 1);
}

/// The order of candidates where nodes that the snapshot lacks are among them.
bool Selection::before(CandidateKey a, CandidateKey b) const {
  const bool is_tie = a >> 32 == b >> 32 && a != b;
  return is_tie ? reach_.view().sid_before(node_of(a), node_of(b)) : a < b;
}

/// Shrinks the keys to the best `width`, unordered, and raises the threshold to the worst of them.
void Selection::keep_best() {
  if (scratch_.key_count <= options_.width) return;
  const auto begin = scratch_.keys.begin();
  const auto last = begin + (options_.width - 1);
  if (scratch_.has_later_nodes) {
    std::nth_element(begin, last, begin + scratch_.key_count,
                     [this](CandidateKey a, CandidateKey b) { return before(a, b); });
  } else {
    std::nth_element(begin, last, begin + scratch_.key_count);
  }
  scratch_.key_count = options_.width;
  scratch_.threshold = score_of(*last);
}

size_t Selection::key_count_max() const { return 2 * size_t{options_.width} + kKeysSpare; }

/// Appends the keys of at most kChunk children. REQUIRES: key_count <= key_count_max().
void Selection::add_keys(const ScanRun& run) {
  scratch_.keys.resize(std::max(scratch_.keys.size(), key_count_max() + kChunk + kScanSlack));
  scratch_.key_count +=
      scratch_.kernels.scan(run, scratch_.threshold, scratch_.keys.data() + scratch_.key_count);
}

/// Drops the keys from `first` on whose nodes the mask keeps out.
void Selection::drop_masked(uint32_t first, const ReachChildren& children) {
  uint32_t kept = first;
  for (uint32_t i = first; i < scratch_.key_count; ++i) {
    const uint32_t child = node_of(scratch_.keys[i]) - children.base.first_child;
    scratch_.keys[kept] = scratch_.keys[i];
    kept += catalogue::test_bit(children.mask, children.mask_begin + child) ? 1 : 0;
  }
  scratch_.key_count = kept;
}

void Selection::scan_children(ScanRun& run, const ReachChildren& children) {
  const uint32_t end = run.end;
  for (; run.begin < end; run.begin = run.end) {
    run.end = std::min(end, run.begin + kChunk);
    if (scratch_.key_count > key_count_max()) keep_best();
    const uint32_t first = scratch_.key_count;
    add_keys(run);
    if (children.mask != nullptr) drop_masked(first, children);
  }
}

/// Reads through the whole row and looks up among the children what passes the threshold.
void Selection::scan_row(ScanRun& run, const ReachChildren& children) {
  run.codes = nullptr;  // until they are looked up, keys carry codes in place of nodes
  run.first_child = 0;
  uint32_t next = 0;
  for (run.begin = 0; run.begin < logits_.level_size; run.begin = run.end) {
    run.end = std::min(logits_.level_size, run.begin + kChunk);
    if (scratch_.key_count > key_count_max()) keep_best();
    const uint32_t first = scratch_.key_count;
    uint32_t kept = first;
    add_keys(run);
    children.base.codes.visit([&](const auto* codes) {
      const auto* end = codes + children.base.codes.size();
      for (uint32_t i = kept; i < scratch_.key_count; ++i) {
        const uint32_t code = node_of(scratch_.keys[i]);
        const auto* found = std::lower_bound(codes + next, end, code);
        next = static_cast<uint32_t>(found - codes);
        if (found == end || *found != code) continue;
        scratch_.keys[kept++] =
            (scratch_.keys[i] & ~uint64_t{0xFFFFFFFF}) | (children.base.first_child + next);
      }
    });
    scratch_.key_count = kept;
    if (children.mask != nullptr) drop_masked(first, children);
  }
}

/// Scans the listed children; their keys carry places in the list until they are looked up.
void Selection::scan_list(ScanRun& run) {
  const uint32_t end = run.end;
  for (; run.begin < end; run.begin = run.end) {
    run.end = std::min(end, run.begin + kChunk);
    if (scratch_.key_count > key_count_max()) keep_best();
    const uint32_t first = scratch_.key_count;
    add_keys(run);
    for (uint32_t i = first; i < scratch_.key_count; ++i) {
      const NodeIndex node = scratch_.listed_nodes[node_of(scratch_.keys[i])];
      scratch_.keys[i] = (scratch_.keys[i] & ~uint64_t{0xFFFFFFFF}) | node;
      scratch_.has_later_nodes = scratch_.has_later_nodes || reach_.is_later(node);
    }
  }
}

/// Fills the list with the children that may be entered, codes ascending: as a snapshot that had
/// them all would.
void Selection::list_children(const ReachChildren& children) {
  scratch_.listed_codes.clear();
  scratch_.listed_nodes.clear();
  auto added = children.added.begin();
  const auto add_until = [&](uint32_t code_end) {
    for (; added != children.added.end() && added->code < code_end; ++added) {
      if (!reach_.may_enter(added->node)) continue;
      scratch_.listed_codes.push_back(added->code);
      scratch_.listed_nodes.push_back(added->node);
    }
  };
  const uint32_t count = children.base.codes.size();
  children.base.codes.visit([&](const auto* codes) {
    const auto add = [&](uint32_t child) {
      add_until(codes[child]);
      scratch_.listed_codes.push_back(codes[child]);
      scratch_.listed_nodes.push_back(children.base.first_child + child);
    };
    if (children.mask == nullptr) {
      for (uint32_t child = 0; child < count; ++child) add(child);
      return;
    }
    const uint64_t begin = children.mask_begin;
    catalogue::for_each_bit(children.mask, begin, begin + count,
                            [&](uint64_t bit) { add(static_cast<uint32_t>(bit - begin)); });
  });
  add_until(logits_.level_size);
}

/// A norm over the candidates needs them alone; a mask that lets few pass is not worth scanning
/// through.
bool Selection::wants_list(const ReachChildren& children) const {
  if (children.is_plain()) return false;
  if (!children.added.empty() || options_.norm == ScoreNorm::kAllowed) return true;
  const uint32_t count = children.base.codes.size();
  const uint64_t begin = children.mask_begin;
  return catalogue::count_bits(children.mask, begin, begin + count) * kSparseMask < count;
}

/// Fills ranges, one per beam; those of beams without children are empty.
void Selection::find_children() {
  const uint32_t count = static_cast<uint32_t>(beams_.nodes.size());
  scratch_.ranges.clear();
  for (uint32_t beam = 0; beam < count; ++beam) {
    if (beam + kPrefetchDistance < count) {
      reach_.prefetch(beams_.nodes[beam + kPrefetchDistance]);
    }
    ChildRange range{{}, beam};
    if (beams_.ended[beam] == 0) range.children = reach_.base_children(beams_.nodes[beam]);
    __builtin_prefetch(range.children.codes.data());
    scratch_.ranges.push_back(range);
  }
}

ReachChildren Selection::children_of(const ChildRange& range) const {
  if (!reach_.is_plain() && beams_.ended[range.beam] == 0) {
    return reach_.children(beams_.nodes[range.beam]);
  }
  ReachChildren children;
  children.base = range.children;
  return children;
}

ScanRun Selection::listed_run(const ReachChildren& children) {
  list_children(children);
  TESSERA_CHECK(scratch_.listed_codes.empty() || scratch_.listed_codes.back() < logits_.level_size);
  ScanRun run;
  run.codes = scratch_.listed_codes.data();
  run.code_bytes = sizeof(uint32_t);
  run.end = static_cast<uint32_t>(scratch_.listed_codes.size());
  return run;
}

template <bool kPlain>
void Selection::scan_beam(const ChildRange& range) {
  const uint32_t beam = range.beam;
  const bool ends = has_terminal(beam);
  // A log-probability only lowers a score, so no child of this beam reaches the threshold.
  const bool is_hopeless = beams_.scores[beam] < scratch_.threshold;
  if (is_hopeless && !ends) return;
  ReachChildren children;
  if constexpr (kPlain) {
    children.base = range.children;
  } else {
    children = children_of(range);
  }
  const catalogue::Codes& codes = children.base.codes;
  if (codes.empty() && children.added.empty() && !ends) return;
  const bool is_listed = !kPlain && wants_list(children);
  ScanRun run = run_of(beam, children, is_listed);
  if (ends) {
    scratch_.terminals.push_back({candidate_score(run.beam_score, logits_.terminal[beam], run.norm),
                                  beams_.nodes[beam], beam,
                                  beams_.ended[beam] + 1u == options_.terminal_count});
  }
  if (is_hopeless) return;
  if (scratch_.threshold == kLowest) keep_best();
  const bool reads_row = run.codes != nullptr && scratch_.threshold > kLowest &&
                         uint64_t{codes.size()} * kCodesPerGather >= logits_.level_size;
  if (is_listed) {
    scan_list(run);
  } else if (reads_row) {
    scan_row(run, children);
  } else {
    scan_children(run, children);
  }
}

void Selection::sort_candidates() {
  const auto begin = scratch_.keys.begin();
  if (scratch_.has_later_nodes) {
    std::sort(begin, begin + scratch_.key_count,
              [this](CandidateKey a, CandidateKey b) { return before(a, b); });
  } else {
    std::sort(begin, begin + scratch_.key_count);
  }
  std::sort(scratch_.terminals.begin(), scratch_.terminals.end(),
            [this](const TerminalCandidate& a, const TerminalCandidate& b) {
              return a.score != b.score ? a.score > b.score
                                        : reach_.view().sid_before(a.node, b.node);
            });
}

void Selection::collect() {
  scratch_.key_count = 0;
  scratch_.threshold = kLowest;
  scratch_.has_later_nodes = false;
  scratch_.terminals.clear();
  find_children();
  if (reach_.is_plain()) {
    for (const ChildRange& range : scratch_.ranges) scan_beam<true>(range);
  } else {
    for (const ChildRange& range : scratch_.ranges) scan_beam<false>(range);
  }
  keep_best();
  sort_candidates();
  // A leaf's empty range begins where its neighbour's children do and would pass for their parent.
  std::erase_if(scratch_.ranges,
                [](const ChildRange& range) { return range.children.codes.empty(); });
  std::sort(scratch_.ranges.begin(), scratch_.ranges.end(),
            [](const ChildRange& a, const ChildRange& b) {
              return a.children.first_child < b.children.first_child;
            });
}

}  // namespace tessera::beam
