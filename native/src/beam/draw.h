// Gumbel top-k: a sample without replacement as a search for the best keys (Kool, van Hoof, Welling
// 2019, arXiv:1903.06059). The key of a prefix is its log-probability plus a Gumbel draw, that of
// each child a draw truncated at its parent's key, so keys never rise on the way down, and the
// leaves' are independent Gumbel draws about their log-probabilities.
//
// Draws are counted, not sequential: noise is a hash of the seed and the path, so a node has the
// same key in any batch, order and version of the catalogue. All arithmetic is addition,
// multiplication and division of doubles in a fixed order: equal bits on every processor.
//
// Thread-safety: free functions.
#pragma once

#include <cstdint>
#include <span>

namespace tessera::beam {

struct DrawOptions {
  uint64_t seed = 0;
  double temperature = 1;  // above 0; of the softmax over the candidates of each step
};

/// A prefix in a draw.
struct Drawn {
  double log_p = 0;   // of the path, at the temperature
  double key = 0;     // never above its parent's
  uint64_t path = 0;  // hash of the seed and the codes up to here
};

Drawn draw_root(const DrawOptions& options);
/// The path of a child by its code, or any number that tells it from its siblings.
uint64_t child_path(uint64_t path, uint64_t code);
/// Fills `key` of the children of `parent`, all of them, from their log_p and path.
void draw_children(const Drawn& parent, std::span<Drawn> children);
/// Fills log_p of the children from their logits. REQUIRES: as many.
void normalise(const Drawn& parent, std::span<const float> logits, double temperature,
               std::span<Drawn> children);

/// That a leaf of this log-probability is among those whose keys are above `key_left_out`.
double inclusion_probability(double log_p, double key_left_out);

/// exp and log with relative errors below 1e-14, of the same bits everywhere.
double exact_exp(double x);
double exact_log(double x);

}  // namespace tessera::beam
