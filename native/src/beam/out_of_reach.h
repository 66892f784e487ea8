// Sees from the first steps of a search that the proof is out of its budget's reach: of a model
// that tells codes hardly apart, say, since nobody has trained it. Rules of the search's own
// numbers, so that a request's answer stays the same whatever was searched before.
//
// Rule. A proof needs as many paths as the answer has, none below the best candidate that a width
// has cut off. A search of a doubtful first step therefore computes the rows that a beam begins
// with, two steps of them. If then even half of the paths are not to be had at the next step among
// all that reaches what a step's width cuts off, the proof is given up: log-probabilities fall
// further on the way to the items. Trained models have at that moment less than half of what their
// widths keep above that path; untrained ones three times what they keep and more.
//
// Thread-safety: free functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tessera::beam {

/// `scores` of the first step's candidates, best first; `codes` of the level, `had` of which may be
/// had. True if the model hardly knows which codes there are, or those in front are hardly likelier
/// than as many drawn at random: then it pays to look before rows are spent. It costs two passes
/// where the proof is within reach.
bool is_doubtful(std::span<const float> scores, uint32_t codes, uint32_t had);

/// `cut`: the best that a step's width cuts off; `next`: scores of candidates of the step behind
/// it, which are reordered; `paths`: of the answer.
bool is_out_of_reach(std::optional<float> cut, std::span<float> next, uint32_t paths);

}  // namespace tessera::beam
