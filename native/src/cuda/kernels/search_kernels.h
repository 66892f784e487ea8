// The kernels of a search by name and parameters, as a queue launches them.
#pragma once

#include "cuda/device/queue.h"
#include "cuda/kernels/select_kernels.h"

namespace tessera::beam::cuda {

using device::cuda::Kernel;

inline constexpr Kernel<const Search*> kCountCandidates{"tessera_count_candidates"};
inline constexpr Kernel<const Search*> kNorms{"tessera_norms"};
inline constexpr Kernel<const Search*> kWriteKeys{"tessera_write_keys"};
inline constexpr Kernel<const Search*, uint32_t> kCountDigits{"tessera_count_digits"};
inline constexpr Kernel<const Search*> kChooseDigit{"tessera_choose_digit"};
inline constexpr Kernel<const Search*> kGatherWinners{"tessera_gather_winners"};
inline constexpr Kernel<const Search*> kAdvance{"tessera_advance"};
inline constexpr Kernel<Fork> kFork{"tessera_fork"};

/// Takes a request's arrays, whatever it asks for: `keys_max` candidates in a step, `steps` steps
/// of a search (levels and terminal tokens). Trie, logits, norms, bits and sizes are the caller's.
inline void take_arrays(device::cuda::Arrays& arrays, uint32_t keys_max, uint32_t steps,
                        Search& search) {
  search.keys_max = keys_max;
  arrays.take(search.scores, kBeamsMax);
  arrays.take(search.nodes, kBeamsMax);
  arrays.take(search.ended, kBeamsMax);
  arrays.take(search.order, kBeamsMax);
  arrays.take(search.fans, kBeamsMax);
  arrays.take(search.offsets, kBeamsMax + 1);
  arrays.take(search.keys, keys_max);
  arrays.take(search.digit_counts, kDigitValues);
  arrays.take(search.winners, kWinnersMax);
  arrays.take(search.parents, kBeamsMax);
  arrays.take(search.codes, kBeamsMax);
  arrays.take(search.finished_scores, uint64_t{kBeamsMax} * steps);
  arrays.take(search.finished_nodes, uint64_t{kBeamsMax} * steps);
  arrays.take(search.finished_parents, uint64_t{kBeamsMax} * steps);
  arrays.take(search.state, 1);
}

}  // namespace tessera::beam::cuda
