#include "device/cuda/kernel.h"

#include "beam/cuda/select_kernels.h"
#include "beam/cuda/trie_walk.h"

namespace tessera::beam::cuda {

using tessera::cuda::bits_float;
using tessera::cuda::float_bits;

/// The key of beam/scan.h: the score's bits mapped so that a higher score is smaller, then the
/// node.
TESSERA_DEVICE uint64_t key_of(float beam_score, float logit, float norm, uint32_t node) {
  const float sum = beam_score + (logit - norm);
  const float lowest = bits_float(0xFF800000u);
  const float score = (sum > lowest ? sum : lowest) + 0.0f;
  const uint32_t bits = float_bits(score);
  const uint32_t high = (bits >> 31) != 0 ? bits : bits ^ 0x7FFFFFFFu;
  return static_cast<uint64_t>(high) << 32 | node;
}

TESSERA_DEVICE float score_of(uint64_t key) {
  const auto high = static_cast<uint32_t>(key >> 32);
  return bits_float((high >> 31) != 0 ? high : high ^ 0x7FFFFFFFu);
}

/// Last beam whose candidates begin at or before `candidate`.
TESSERA_DEVICE uint32_t beam_of(const uint32_t* offsets, uint32_t beams, uint32_t candidate) {
  uint32_t low = 0, high = beams;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (offsets[middle] <= candidate) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

TESSERA_KERNEL tessera_count_candidates(Trie trie, const Search* searches) {
  const Search& search = searches[blockIdx.y];
  const uint32_t beams = search.state->beams;
  uint32_t done = 0;
  for (uint32_t first = 0; first < beams; first += kSelectThreads) {
    const uint32_t beam = first + threadIdx.x;
    const uint32_t count = beam < beams ? child_count(trie, search.nodes[beam]) : 0;
    uint32_t total = 0;
    const uint32_t before = done + sum_before(count, total);
    if (beam < beams) search.offsets[beam] = before;
    done += total;
  }
  for (uint32_t i = threadIdx.x; i < kDigitValues; i += kSelectThreads) search.digit_counts[i] = 0;
  __syncthreads();  // all have read the state
  if (threadIdx.x != 0) return;
  search.offsets[beams] = done;
  State state;
  state.beams = beams;
  state.finished = search.state->finished;
  state.overflow = done > search.keys_max || search.state->overflow != 0 ? 1 : 0;
  state.candidates = state.overflow != 0 ? 0 : done;
  state.wanted = search.width;
  *search.state = state;
}

TESSERA_KERNEL tessera_write_keys(Trie trie, const Search* searches) {
  const Search& search = searches[blockIdx.y];
  const uint32_t candidates = search.state->candidates, beams = search.state->beams;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < candidates;
       i += gridDim.x * blockDim.x) {
    const uint32_t beam = beam_of(search.offsets, beams, i);
    const uint32_t node = trie.child_offsets[search.nodes[beam]] + i - search.offsets[beam];
    uint64_t key = kNoCandidate;
    if (is_open(search.nodes_open, node)) {
      const float logit =
          search.logits[static_cast<size_t>(beam) * search.level_size + code_of(trie, node)];
      key = key_of(search.scores[beam], logit, search.norms[beam], node);
    }
    search.keys[i] = key;
  }
}

/// Of the keys that begin with the winners' prefix, how many have each value of digit `digit`, 0
/// being the highest.
TESSERA_KERNEL tessera_count_digits(const Search* searches, uint32_t digit) {
  TESSERA_SHARED(uint32_t, counts, kDigitValues);
  const Search& search = searches[blockIdx.y];
  for (uint32_t i = threadIdx.x; i < kDigitValues; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  const uint32_t shift = 64 - kDigitBits * (digit + 1);
  const uint64_t prefix = search.state->prefix;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < search.state->candidates;
       i += gridDim.x * blockDim.x) {
    const uint64_t key = search.keys[i];
    const bool is_of_prefix = digit == 0 || key >> (shift + kDigitBits) == prefix;
    if (is_of_prefix) atomicAdd(&counts[key >> shift & (kDigitValues - 1)], 1u);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < kDigitValues; i += blockDim.x) {
    if (counts[i] > 0) atomicAdd(&search.digit_counts[i], counts[i]);
  }
}

/// The digit of the last winner: the first value up to which there are enough keys, or the last one
/// where there are fewer than wanted.
TESSERA_KERNEL tessera_choose_digit(const Search* searches) {
  TESSERA_SHARED(uint32_t, chosen, 2);  // the digit, and the keys before it
  const Search& search = searches[blockIdx.y];
  const uint32_t wanted = search.state->wanted;
  const uint32_t own = threadIdx.x < kDigitValues ? search.digit_counts[threadIdx.x] : 0;
  uint32_t total = 0;
  const uint32_t before = sum_before(own, total);
  if (threadIdx.x == 0) {
    chosen[0] = kDigitValues - 1;
    chosen[1] = total - (total < wanted ? search.digit_counts[kDigitValues - 1] : 0);
  }
  __syncthreads();
  if (before < wanted && wanted <= before + own) {
    chosen[0] = threadIdx.x;
    chosen[1] = before;
  }
  __syncthreads();
  if (threadIdx.x < kDigitValues) search.digit_counts[threadIdx.x] = 0;
  if (threadIdx.x != 0) return;
  search.state->prefix = search.state->prefix << kDigitBits | chosen[0];
  search.state->wanted = wanted - chosen[1];
}

/// The keys up to the last winner's, in any order.
TESSERA_KERNEL tessera_gather_winners(const Search* searches) {
  const Search& search = searches[blockIdx.y];
  const uint64_t last = search.state->prefix;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < search.state->candidates;
       i += gridDim.x * blockDim.x) {
    const uint64_t key = search.keys[i];
    if (key > last || key == kNoCandidate) continue;
    search.winners[atomicAdd(&search.state->winners, 1u)] = key;
  }
}

/// Ascending, by kSelectThreads threads; `size` is a power of two.
TESSERA_DEVICE void sort_keys(uint64_t* keys, uint32_t size) {
  for (uint32_t run = 2; run <= size; run *= 2) {
    for (uint32_t distance = run / 2; distance > 0; distance /= 2) {
      __syncthreads();
      for (uint32_t i = threadIdx.x; i < size; i += kSelectThreads) {
        const uint32_t other = i ^ distance;
        if (other < i) continue;
        const bool is_ascending = (i & run) == 0;
        const uint64_t a = keys[i], b = keys[other];
        if ((a > b) == is_ascending) {
          keys[i] = b;
          keys[other] = a;
        }
      }
    }
  }
  __syncthreads();
}

/// Of the beams whose children are [begins[b], ends[b]), the one that has `child`.
TESSERA_DEVICE uint32_t parent_of(const uint32_t* begins, const uint32_t* ends, uint32_t beams,
                                  uint32_t child) {
  for (uint32_t beam = 0; beam < beams; ++beam) {
    if (begins[beam] <= child && child < ends[beam]) return beam;
  }
  return beams;
}

TESSERA_DEVICE bool has_items(const Trie& trie, const Search& search, uint32_t node) {
  if (node < trie.first_item_node) return false;
  const uint32_t* offsets = trie.item_offsets + (node - trie.first_item_node);
  return any_open(search.items_open, offsets[0], offsets[1]);
}

TESSERA_DEVICE bool has_children(const Trie& trie, const Search& search, uint32_t node) {
  if (node >= trie.interior_count) return false;
  return any_open(search.nodes_open, trie.child_offsets[node], trie.child_offsets[node + 1]);
}

TESSERA_KERNEL tessera_advance(Trie trie, const Search* searches) {
  TESSERA_DYNAMIC_SHARED(memory);
  auto* keys = reinterpret_cast<uint64_t*>(memory);
  auto* begins = reinterpret_cast<uint32_t*>(keys + kBeamsMax);
  uint32_t* ends = begins + kBeamsMax;
  const Search& search = searches[blockIdx.y];
  const uint32_t winners = search.state->winners, beams = search.state->beams;
  uint32_t size = 1;
  while (size < winners) size *= 2;
  for (uint32_t i = threadIdx.x; i < size; i += kSelectThreads) {
    keys[i] = i < winners ? search.winners[i] : kNoCandidate;
  }
  for (uint32_t i = threadIdx.x; i < beams; i += kSelectThreads) {
    const uint32_t node = search.nodes[i];
    const uint32_t count = child_count(trie, node);
    begins[i] = count > 0 ? trie.child_offsets[node] : 0;
    ends[i] = begins[i] + count;
  }
  sort_keys(keys, size);
  uint32_t next = 0, finished = search.state->finished;
  for (uint32_t first = 0; first < winners; first += kSelectThreads) {
    const uint32_t i = first + threadIdx.x;
    const bool is_winner = i < winners;
    const uint32_t node = is_winner ? static_cast<uint32_t>(keys[i]) : 0;
    const uint32_t parent = is_winner ? parent_of(begins, ends, beams, node) : 0;
    const bool goes_on = is_winner && has_children(trie, search, node);
    const bool ends_here = is_winner && has_items(trie, search, node);
    uint32_t total = 0;
    const uint32_t place = next + sum_before(goes_on ? 1 : 0, total);
    next += total;
    const uint32_t end = finished + sum_before(ends_here ? 1 : 0, total);
    finished += total;
    if (goes_on) {
      search.scores[place] = score_of(keys[i]);
      search.nodes[place] = node;
      search.parents[place] = parent;
      search.codes[place] = code_of(trie, node);
    }
    if (ends_here) {
      search.finished_scores[end] = score_of(keys[i]);
      search.finished_nodes[end] = node;
      search.finished_parents[end] = parent;
    }
  }
  if (threadIdx.x != 0) return;  // all have read the state: keys were sorted since
  search.state->beams = next;
  search.state->finished = finished;
}

/// Tokens and ancestors of the next rows. Rows beyond the beams go on with row 0 and are never
/// looked at.
TESSERA_KERNEL tessera_fork(Fork fork) {
  const uint32_t beams = fork.state->beams;
  for (uint32_t row = threadIdx.x; row < fork.rows; row += kSelectThreads) {
    const uint32_t parent = row < beams ? fork.parents[row] : 0;
    fork.tokens[row] = row < beams ? fork.level_tokens[fork.codes[row]] : fork.level_tokens[0];
    if (fork.step < 2) continue;
    uint32_t* to = fork.next_ancestors + static_cast<size_t>(row) * (fork.step - 1);
    const uint32_t* from = fork.ancestors + static_cast<size_t>(parent) * (fork.step - 2);
    for (uint32_t i = 0; i + 2 < fork.step; ++i) to[i] = from[i];
    to[fork.step - 2] = parent;
  }
}

}  // namespace tessera::beam::cuda
