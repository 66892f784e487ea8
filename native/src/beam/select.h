// One step of constrained beam search as a pure function: mask before top-k, exact, total order.
//
// A beam stands at a trie node (`ended` == 0), or has ended its SID and is emitting terminal tokens
// (`ended` = number of terminal tokens already chosen). Its candidates are the children of its node
// that lead to an item to be had (catalogue/reach.h) and, when its node has such items itself and
// the vocabulary has terminal tokens, the next terminal token.
//
// Without terminal tokens a chosen node that has items is finished at once, and continues too if it
// has children. With terminal tokens a path finishes when its last terminal token is chosen: a
// finishing candidate is accepted when it ranks among the first `width` of all candidates, and
// takes no place from the running beams (the rule of Hugging Face beam search, whose lists we
// reproduce).
//
// Order: score descending, then SID lexicographic (a prefix before its extensions), so results are
// total-ordered. A candidate's score is beam score + min(0, logit - norm) in float, so a score
// never rises along a path; what is not a number counts as minus infinity.
//
// Thread-safety: select() has no state but its arguments; one Scratch serves one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "catalogue/reach.h"

namespace tessera::beam {

enum class ScoreNorm : uint8_t {
  kFull = 0,     // log-softmax over the whole vocabulary
  kLevel = 1,    // over the codes of the level, and the terminal token where a live item lies
  kAllowed = 2,  // over the candidates of the beam
};

/// Running beams after `step` steps, in the order of the last selection. Arrays of equal length.
struct Beams {
  std::vector<float> scores;
  std::vector<catalogue::NodeIndex> nodes;
  std::vector<uint8_t> ended;  // terminal tokens already emitted

  /// Takes the beams [first, end) of `from`.
  void assign(const Beams& from, size_t first, size_t end);
};

/// Logits of one step, as the model gave them. Row b belongs to beam b.
struct StepLogits {
  // [beams][level_size]: logits of the level's codes; a row is unused where the beam has ended
  std::span<const float> codes;
  uint32_t level_size = 0;
  // [beams]: logit of the beam's next terminal token; empty without terminals
  std::span<const float> terminal;
  // [beams]: over the whole vocabulary, hence not below any logit of the row; kFull only
  std::span<const float> log_sum_exp;

  /// Logits of the beams [first, end).
  StepLogits rows(size_t first, size_t end) const;
};

struct Finished {
  float score = 0;
  catalogue::NodeIndex node = catalogue::kNoNode;
};

/// Bounds on the paths that a search has not found.
struct Certificate {
  bool is_certified = false;  // none of them belongs into the answer
  float gap = 0;              // the best score that one of them could have; -infinity: certified
};

/// The outcome of a selection. `parents` index the beams that were given.
struct Step {
  Beams next;                      // running beams, best first
  std::vector<uint32_t> parents;   // per next beam
  std::vector<uint32_t> codes;     // per next beam: chosen code, or kTerminalCode
  std::vector<Finished> finished;  // paths that ended in this step, best first
  std::vector<uint32_t> finished_parents;

  void clear();
};
inline constexpr uint32_t kTerminalCode = 0xFFFFFFFFu;

/// Buffers kept between steps so that the steady state allocates nothing.
struct Scratch;
struct ScratchDeleter {
  void operator()(Scratch* scratch) const;
};
/// Empty at first; grows to the largest width and level it meets.
std::unique_ptr<Scratch, ScratchDeleter> make_scratch();

struct SelectOptions {
  uint32_t width = 0;           // candidates kept in this step, >= 1
  uint32_t terminal_count = 0;  // terminal tokens that end each path
  ScoreNorm norm = ScoreNorm::kFull;
};

/// REQUIRES: spans as described; width >= 1; beams with ended == 0 stand at distinct nodes of one
/// level, whose codes are below level_size.
/// ENSURES: next.nodes.size() <= width; equal inputs give equal output on every processor.
void select(const Beams& beams, const StepLogits& logits, const catalogue::Reach& reach,
            const SelectOptions& options, Scratch& scratch, Step& step);

}  // namespace tessera::beam
