#include "beam/decode_loop.h"

#include <algorithm>

#include "base/check.h"

namespace tessera::beam {
namespace {

/// Paths of the next beams, each its parent's and one code more, as an engine would fork them; so a
/// wrong parent or code gives a wrong model input.
std::vector<Sid> fork_paths(const std::vector<Sid>& paths, const Step& step) {
  std::vector<Sid> forked;
  for (size_t b = 0; b < step.parents.size(); ++b) {
    forked.push_back(paths[step.parents[b]]);
    forked.back().push_back(step.codes[b]);
  }
  return forked;
}

/// A finished path's parent must lie on its way: the node itself, or the one above it.
void check_finished_parents(const catalogue::View& view, const Beams& beams, const Step& step) {
  TESSERA_CHECK(step.finished.size() == step.finished_parents.size());
  for (size_t i = 0; i < step.finished.size(); ++i) {
    const catalogue::NodeIndex node = step.finished[i].node;
    const catalogue::NodeIndex parent = beams.nodes[step.finished_parents[i]];
    TESSERA_CHECK(parent == node || parent == view.parent(node));
  }
}

/// Logits of rows of one step, as an engine would give them.
struct RowLogits {
  RowLogits(const OracleModel& model, std::span<const Sid> paths, const Beams& beams,
            uint32_t level_size, const LazyOptions& options)
      : codes(beams.nodes.size() * level_size) {
    for (size_t b = 0; b < beams.nodes.size(); ++b) {
      const OracleLogits logits = model(paths[b]);
      for (uint32_t c = 0; c < level_size && beams.ended[b] == 0; ++c) {
        codes[b * level_size + c] = static_cast<float>(logits.codes[c]);
      }
      if (options.terminal_count > 0) terminal.push_back(static_cast<float>(logits.terminal));
      if (options.norm == ScoreNorm::kFull) {
        log_sum_exp.push_back(static_cast<float>(logits.log_sum_exp));
      }
    }
    step = {codes, level_size, terminal, log_sum_exp};
  }
  std::vector<float> codes, terminal, log_sum_exp;
  StepLogits step;
};

/// Rows of one step among those of a pass, from `first` on; returns the end.
size_t rows_of_step(const Rows& rows, size_t first, Beams& beams) {
  beams = {};
  size_t row = first;
  for (; row < rows.size() && rows.steps[row] == rows.steps[first]; ++row) {
    beams.scores.push_back(rows.beams.scores[row]);
    beams.nodes.push_back(rows.beams.nodes[row]);
    beams.ended.push_back(rows.beams.ended[row]);
  }
  return row;
}

}  // namespace

LazySearch lazy_loop(const catalogue::Reach& reach, const OracleModel& model,
                     const LazyOptions& options, uint32_t rows_max, const ThresholdRule* rule,
                     Scratch& scratch) {
  const catalogue::View& view = reach.view();
  const auto level_size = [&](uint32_t step) {
    return step < view.depth() ? view.level_size(step) : 0;
  };
  LazySearch search(reach, options);
  std::vector<Sid> paths;  // by slot
  const Sid root;
  const Beams prompt{{0.0f}, {catalogue::kRoot}, {0}};
  const RowLogits first(model, {&root, 1}, prompt, level_size(0), options);
  search.take(0, 0, prompt, first.step, scratch);
  Rows rows;
  for (;;) {
    const auto slot = static_cast<uint32_t>(paths.size());
    search.next(rows_max, rule, 8, rows);
    if (rows.size() == 0) return search;
    TESSERA_CHECK(rows.size() <= rows_max);
    for (size_t row = 0; row < rows.size(); ++row) {
      Sid path = rows.parents[row] == kNoSlot ? root : paths[rows.parents[row]];
      path.push_back(rows.codes[row]);
      TESSERA_CHECK(path.size() == rows.steps[row]);
      paths.push_back(std::move(path));
    }
    Beams beams;
    for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      end = rows_of_step(rows, begin, beams);
      const uint32_t step = rows.steps[begin];
      const std::span<const Sid> own = std::span(paths).subspan(slot + begin, end - begin);
      const RowLogits logits(model, own, beams, level_size(step), options);
      search.take(step, slot + static_cast<uint32_t>(begin), beams, logits.step, scratch);
    }
  }
}

std::vector<Finished> decode_loop(const catalogue::Reach& reach, const OracleModel& model,
                                  const DecodeOptions& options, Scratch& scratch) {
  const catalogue::View& view = reach.view();
  std::vector<Finished> finished;
  Beams beams{{0.0f}, {catalogue::kRoot}, {0}};
  std::vector<Sid> paths(1);
  Step step;
  for (uint32_t level = 0; !beams.nodes.empty(); ++level) {
    const uint32_t level_size = level < view.depth() ? view.level_size(level) : 0;
    std::vector<float> codes(beams.nodes.size() * level_size);
    std::vector<float> terminal(beams.nodes.size());
    std::vector<float> log_sum_exp(beams.nodes.size());
    for (size_t b = 0; b < beams.nodes.size(); ++b) {
      const OracleLogits logits = model(paths[b]);
      for (uint32_t c = 0; c < level_size && beams.ended[b] == 0; ++c) {
        codes[b * level_size + c] = static_cast<float>(logits.codes[c]);
      }
      terminal[b] = static_cast<float>(logits.terminal);
      log_sum_exp[b] = static_cast<float>(logits.log_sum_exp);
    }
    if (options.terminal_count == 0) terminal.clear();
    if (options.norm != ScoreNorm::kFull) log_sum_exp.clear();
    const uint32_t width = options.widths[std::min<size_t>(level, options.widths.size() - 1)];
    const StepLogits logits{codes, level_size, terminal, log_sum_exp};
    const SelectOptions select_options{width, options.terminal_count, options.norm};
    if (options.route == nullptr) {
      select(beams, logits, reach, select_options, scratch, step);
    } else {
      follow(beams, logits, reach, select_options, *options.route, scratch, step);
    }
    if (options.observe) options.observe(beams, logits, select_options, step);
    finished.insert(finished.end(), step.finished.begin(), step.finished.end());
    check_finished_parents(view, beams, step);
    paths = fork_paths(paths, step);
    std::swap(beams, step.next);
  }
  return finished;
}

}  // namespace tessera::beam
