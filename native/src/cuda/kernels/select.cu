#include "cuda/device/kernel.h"

#include "cuda/kernels/select_kernels.h"
#include "cuda/kernels/trie_walk.h"

namespace tessera::beam::cuda {

using tessera::cuda::bits_float;
using tessera::cuda::float_bits;

/// The key of beam/scan.h, with the candidate's number in place of its node: the score's bits
/// mapped so that a higher score is smaller, then the number.
TESSERA_DEVICE uint64_t key_of(float beam_score, float logit, float norm, uint32_t candidate) {
  const float sum = beam_score + (logit - norm);
  const float lowest = bits_float(0xFF800000u);
  const float score = (sum > lowest ? sum : lowest) + 0.0f;
  const uint32_t bits = float_bits(score);
  const uint32_t high = (bits >> 31) != 0 ? bits : bits ^ 0x7FFFFFFFu;
  return static_cast<uint64_t>(high) << 32 | candidate;
}

TESSERA_DEVICE float score_of(uint64_t key) {
  const auto high = static_cast<uint32_t>(key >> 32);
  return bits_float((high >> 31) != 0 ? high : high ^ 0x7FFFFFFFu);
}

/// Last place in the order of beams whose candidates begin at or before `candidate`.
TESSERA_DEVICE uint32_t place_of(const uint32_t* offsets, uint32_t beams, uint32_t candidate) {
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

/// The candidates of a beam.
TESSERA_DEVICE Fan fan_of_beam(const Search& search, uint32_t beam) {
  const Trie& trie = *search.trie;
  const uint32_t node = search.nodes[beam], ended = search.ended[beam];
  const NodeRow* row = find_row(trie, node);
  Fan fan;
  if (ended == 0) fan = fan_of(trie, row, search.nodes_open, node);
  fan.node = node;
  fan.ended = ended;
  if (search.terminal_count > 0) {
    const Items items = items_of(trie, row, node);
    fan.has_terminal = ended > 0 || any_item_open(items, search.items_open) ? 1 : 0;
    const bool is_live = ended > 0 || any_item_open(items, nullptr);
    fan.terminal_in_norm = search.norm == Norm::kLevel ? is_live : fan.has_terminal;
  }
  return fan;
}

TESSERA_KERNEL tessera_count_candidates(const Search* searches) {
  const Search& search = searches[blockIdx.y];
  const uint32_t beams = search.state->beams;
  if (threadIdx.x == 0 && search.state->steps == 0) search.order[0] = search.ended[0] = 0;
  __syncthreads();
  uint32_t done = 0, last_terminals = 0;
  for (uint32_t first = 0; first < beams; first += kSelectThreads) {
    const uint32_t place = first + threadIdx.x;
    Fan fan;
    if (place < beams) {
      const uint32_t beam = search.order[place];
      fan = fan_of_beam(search, beam);
      search.fans[beam] = fan;
    }
    uint32_t total = 0;
    const uint32_t before =
        done + sum_before(fan.has_terminal + fan.base_count + fan.later_count, total);
    if (place < beams) search.offsets[place] = before;
    done += total;
    const bool is_last = fan.has_terminal != 0 && fan.ended + 1 == search.terminal_count;
    sum_before(is_last ? 1 : 0, total);
    last_terminals += total;
  }
  for (uint32_t i = threadIdx.x; i < kDigitValues; i += kSelectThreads) search.digit_counts[i] = 0;
  __syncthreads();  // all have read the state
  if (threadIdx.x != 0) return;
  search.offsets[beams] = done;
  State state;
  state.steps = search.state->steps + 1;
  state.beams = beams;
  state.finished = search.state->finished;
  state.overflow = done > search.keys_max || search.state->overflow != 0 ? 1 : 0;
  state.candidates = state.overflow != 0 ? 0 : done;
  state.wanted = search.width + last_terminals;
  *search.state = state;
}

TESSERA_KERNEL tessera_write_keys(const Search* searches) {
  const Search& search = searches[blockIdx.y];
  const uint32_t candidates = search.state->candidates, beams = search.state->beams;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < candidates;
       i += gridDim.x * blockDim.x) {
    const uint32_t place = place_of(search.offsets, beams, i);
    const uint32_t beam = search.order[place];
    const Fan& fan = search.fans[beam];
    const size_t row = static_cast<size_t>(beam) * search.row_size;
    const uint32_t at = i - search.offsets[place];
    uint64_t key = kNoCandidate;
    if (at < fan.has_terminal) {
      const float logit = search.terminal_logits[row + fan.ended];
      key = key_of(search.scores[beam], logit, search.norms[beam], i);
    } else {
      const Child child = child_at(*search.trie, fan, search.nodes_open, at - fan.has_terminal);
      if (child.is_open) {
        const float logit = search.logits[row + child.code];
        key = key_of(search.scores[beam], logit, search.norms[beam], i);
      }
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

/// A winner as the next step reads it.
struct Outcome {
  uint32_t beam = 0;  // that it comes from
  uint32_t node = 0;
  uint32_t code = 0;
  uint32_t ended = 0;
  bool goes_on = false;
  bool finishes = false;
};

/// `rank`: of the winner among all candidates, from 0.
TESSERA_DEVICE Outcome outcome_of(const Search& search, uint32_t beams, uint32_t candidate,
                                  uint32_t rank) {
  const uint32_t place = place_of(search.offsets, beams, candidate);
  Outcome outcome;
  outcome.beam = search.order[place];
  const Fan& fan = search.fans[outcome.beam];
  const uint32_t at = candidate - search.offsets[place];
  if (at < fan.has_terminal) {
    outcome.node = fan.node;
    outcome.code = kTerminalChosen;
    outcome.ended = fan.ended + 1;
    const bool is_last = outcome.ended == search.terminal_count;
    outcome.goes_on = !is_last;
    outcome.finishes = is_last && rank < search.width;
    return outcome;
  }
  const Trie& trie = *search.trie;
  const Child child = child_at(trie, fan, search.nodes_open, at - fan.has_terminal);
  outcome.node = child.node;
  outcome.code = child.code;
  if (search.terminal_count > 0) {
    outcome.goes_on = true;
    return outcome;
  }
  const NodeRow* row = find_row(trie, child.node);
  outcome.goes_on =
      any_child_open(fan_of(trie, row, search.nodes_open, child.node), search.nodes_open);
  outcome.finishes = any_item_open(items_of(trie, row, child.node), search.items_open);
  return outcome;
}

TESSERA_DEVICE uint32_t power_of_two_from(uint32_t count) {
  uint32_t size = 1;
  while (size < count) size *= 2;
  return size;
}

TESSERA_KERNEL tessera_advance(const Search* searches) {
  TESSERA_DYNAMIC_SHARED(memory);
  auto* keys = reinterpret_cast<uint64_t*>(memory);
  uint64_t* chosen = keys + kWinnersMax;  // candidate and place of each next beam
  const Search& search = searches[blockIdx.y];
  const uint32_t winners = search.state->winners, beams = search.state->beams;
  const uint32_t size = power_of_two_from(winners);
  for (uint32_t i = threadIdx.x; i < size; i += kSelectThreads) {
    keys[i] = i < winners ? search.winners[i] : kNoCandidate;
  }
  sort_keys(keys, size);
  uint32_t next = 0, finished = search.state->finished;
  for (uint32_t first = 0; first < winners; first += kSelectThreads) {
    const uint32_t i = first + threadIdx.x;
    const auto candidate = static_cast<uint32_t>(i < winners ? keys[i] : 0);
    Outcome outcome;
    if (i < winners) outcome = outcome_of(search, beams, candidate, i);
    uint32_t total = 0;
    const uint32_t place = next + sum_before(outcome.goes_on ? 1 : 0, total);
    next += total;
    const uint32_t end = finished + sum_before(outcome.finishes ? 1 : 0, total);
    finished += total;
    if (outcome.goes_on && place < search.width) {
      search.scores[place] = score_of(keys[i]);
      search.nodes[place] = outcome.node;
      search.ended[place] = outcome.ended;
      search.parents[place] = outcome.beam;
      search.codes[place] = outcome.code;
      chosen[place] = static_cast<uint64_t>(candidate) << 32 | place;
    }
    if (outcome.finishes) {
      search.finished_scores[end] = score_of(keys[i]);
      search.finished_nodes[end] = outcome.node;
      search.finished_parents[end] = outcome.beam;
    }
  }
  next = next < search.width ? next : search.width;
  const uint32_t padded = power_of_two_from(next);
  for (uint32_t i = next + threadIdx.x; i < padded; i += kSelectThreads) chosen[i] = kNoCandidate;
  sort_keys(chosen, padded);
  for (uint32_t i = threadIdx.x; i < next; i += kSelectThreads) {
    search.order[i] = static_cast<uint32_t>(chosen[i]);
  }
  if (threadIdx.x != 0) return;  // all have read the state: keys were sorted since
  search.state->beams = next;
  search.state->finished = finished;
}

TESSERA_DEVICE int32_t token_of(const Fork& fork, uint32_t row) {
  const uint32_t code = fork.codes[row];
  return code == kTerminalChosen ? fork.terminal_tokens[fork.ended[row] - 1]
                                 : fork.level_tokens[code];
}

/// Tokens and ancestors of the next rows. Rows beyond the beams have token 0, go on with row 0
/// and are never looked at.
TESSERA_KERNEL tessera_fork(Fork fork) {
  const uint32_t beams = fork.state->beams;
  for (uint32_t row = threadIdx.x; row < fork.rows; row += kSelectThreads) {
    const uint32_t parent = row < beams ? fork.parents[row] : 0;
    fork.tokens[row] = row < beams ? token_of(fork, row) : 0;
    if (fork.step < 2) continue;
    uint32_t* to = fork.next_ancestors + static_cast<size_t>(row) * (fork.step - 1);
    const uint32_t* from = fork.ancestors + static_cast<size_t>(parent) * (fork.step - 2);
    for (uint32_t i = 0; i + 2 < fork.step; ++i) to[i] = from[i];
    to[fork.step - 2] = parent;
  }
}

}  // namespace tessera::beam::cuda
