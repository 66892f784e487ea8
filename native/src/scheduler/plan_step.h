// The plan of the next forward pass: a pure function of what is running, of what it shares and of a
// budget. It sees neither tensors nor tries, so every decision can be tested with literals.
//
// Decodes come first (they are nearest to their answer and hold memory): the oldest of all, then by
// class and age, all beams of a request or none, none overtaking one that did not fit. Then
// prompts, as many rows as the pass has time for: a quarter of them goes to the oldest prompt,
// whatever its class and length, the rest by class, then fewest rows left, then least slack, then
// age. So a long prompt never holds up a short one for more than that quarter and the pass under
// way, and no request starves (docs/internals/scheduler.md).
//
// Tokens that an encoder reads (Runnable::uncut) go in one pass: the oldest prompt's as soon as
// rows are free for them, others' where there is time.
//
// Positions that several requests share are planned once, for the first of them that comes up; the
// others go on from there, in the same pass already.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/cost_model.h"
#include "scheduler/prefix.h"

namespace tessera::scheduler {

/// A share of each pass's prompt rows that the oldest prompt is sure of.
inline constexpr uint32_t kOldestPromptShare = 4;  // one part in four
/// Prompt rows that a pass computes at least where there are as many, whatever they take.
inline constexpr uint32_t kPromptRowsMin = 16;
/// The same where nothing else runs: shorter passes take measurably longer
/// (docs/internals/scheduler.md).
inline constexpr uint32_t kPromptRowsMinAlone = 64;
/// A pass is not cut below so many times what it costs beside its rows (PassCost::fixed_us):
/// cutting prompts into more passes costs at most the same part of the throughput.
inline constexpr double kPassParts = 16;

/// One running request. Either its prompt is not complete or it has decode rows.
struct Runnable {
  uint32_t prompt_tokens = 0;  // of the whole prompt
  uint32_t length = 0;         // of these, computed
  uint32_t decode_rows = 0;  // beams waiting for their next logits; 0 while length < prompt_tokens
  uint8_t priority = 0;      // class; the smaller comes first
  int64_t slack_us = 0;      // time until the deadline
  uint32_t uncut = 0;  // first tokens of the prompt that go in one pass, whatever time they take
};

struct Budget {
  uint32_t rows = 0;         // rows of a forward pass at most; >= decode_rows of any single request
  uint32_t prompt_rows = 0;  // of these, prompt tokens at most; >= 1
  /// Of the pass when one request runs; more with the square root of their number, since the more
  /// wait for a pass the more its fixed cost counts beside its length. 0: not bounded. Else prompts
  /// get what fits beside the decodes, or in kPassParts times cost.fixed_us() where that is more.
  double time_us = 0;
  PassCost cost{};  // read with time_us > 0 only
};

/// The rows of one request that a pass computes.
struct Slice {
  uint32_t runnable = 0;  // index into the span given
  uint32_t first = 0;     // prompt: first position; decode: the prompt's length
  uint32_t rows = 0;      // > 0: prompt tokens of this chunk, or all beams
  bool operator==(const Slice&) const = default;
};

/// Buffers kept between passes so that the steady state allocates nothing.
struct PlanScratch {
  std::vector<uint32_t> order, lengths, shared;
};

/// REQUIRES: `runnable` oldest first, and a link for each. Clears and fills `plan`, in an order in
/// which every slice finds what it stands on before it; a request may have several slices, a decode
/// has one. Empty only when `runnable` is empty.
void plan_step(std::span<const Runnable> runnable, std::span<const Link> links,
               const Budget& budget, PlanScratch& scratch, std::vector<Slice>& plan);

}  // namespace tessera::scheduler
