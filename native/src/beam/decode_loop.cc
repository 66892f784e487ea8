#include "beam/decode_loop.h"

#include <algorithm>
#include <array>

namespace tessera::beam {
namespace {

Sid path_of(const catalogue::Snapshot& snapshot, catalogue::NodeIndex node, uint32_t ended) {
  std::array<uint32_t, catalogue::kMaxDepth> codes;
  const uint32_t depth = snapshot.sid(node, codes);
  Sid path(codes.begin(), codes.begin() + depth);
  path.insert(path.end(), ended, kTerminalCode);
  return path;
}

}  // namespace

std::vector<Finished> decode_loop(const catalogue::Snapshot& snapshot, const OracleModel& model,
                                  const DecodeOptions& options, Scratch& scratch) {
  std::vector<Finished> finished;
  Beams beams{{0.0f}, {catalogue::kRoot}, {0}};
  Step step;
  for (uint32_t level = 0; !beams.nodes.empty(); ++level) {
    const uint32_t level_size = level < snapshot.depth() ? snapshot.level_size(level) : 0;
    std::vector<float> codes(beams.nodes.size() * level_size);
    std::vector<float> terminal(beams.nodes.size());
    std::vector<float> log_sum_exp(beams.nodes.size());
    for (size_t b = 0; b < beams.nodes.size(); ++b) {
      const OracleLogits logits = model(path_of(snapshot, beams.nodes[b], beams.ended[b]));
      for (uint32_t c = 0; c < level_size && beams.ended[b] == 0; ++c) {
        codes[b * level_size + c] = static_cast<float>(logits.codes[c]);
      }
      terminal[b] = static_cast<float>(logits.terminal);
      log_sum_exp[b] = static_cast<float>(logits.log_sum_exp);
    }
    if (options.terminal_count == 0) terminal.clear();
    if (options.norm != ScoreNorm::kFull) log_sum_exp.clear();
    const uint32_t width = options.widths[std::min<size_t>(level, options.widths.size() - 1)];
    select(beams, {codes, level_size, terminal, log_sum_exp}, snapshot,
           {width, options.terminal_count, options.norm}, scratch, step);
    finished.insert(finished.end(), step.finished.begin(), step.finished.end());
    std::swap(beams, step.next);
  }
  return finished;
}

}  // namespace tessera::beam
