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

}  // namespace

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
