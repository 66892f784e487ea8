// One step of constrained beam search on a card, of all requests of a batch at once, as kernels
// that follow each other without the host: candidates are counted and numbered, their keys written,
// the best found by digits of the keys, sorted, and the next beams made of them.
//
// Order, scores and finished paths are those of beam::select without terminal tokens
// (beam/select.h): a key is smaller for a better candidate and no two are equal, so what is chosen
// does not depend on the order in which threads come.
//
// Launches of one step, for `requests` requests; every pointer is to device memory:
//   tessera_count_candidates   grid (1, requests), block kSelectThreads
//   tessera_write_keys         grid (blocks, requests), block kSelectThreads
//   kDigits times: tessera_count_digits grid (blocks, requests), then tessera_choose_digit
//                              grid (1, requests), both block kSelectThreads
//   tessera_gather_winners     grid (blocks, requests), block kSelectThreads
//   tessera_advance            grid (1, requests), block kSelectThreads, dynamic shared memory
//                              advance_shared_bytes()
//   tessera_fork               grid (1), block kSelectThreads, for each request that goes on
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::beam::cuda {

inline constexpr uint32_t kSelectThreads = 256;
inline constexpr uint32_t kBeamsMax = 1024;  // running beams and width of a request
inline constexpr uint32_t kDigitBits = 8;    // of a key, looked at in one pass
inline constexpr uint32_t kDigits = 64 / kDigitBits;
inline constexpr uint32_t kDigitValues = 1u << kDigitBits;
inline constexpr uint64_t kNoCandidate = ~uint64_t{0};  // worse than every key

/// Sections of a snapshot (catalogue/format.h).
struct Trie {
  const void* codes = nullptr;  // u8, u16 or u32 per node
  uint32_t code_bytes = 1;
  uint32_t interior_count = 0;              // nodes that have child offsets
  const uint32_t* child_offsets = nullptr;  // [interior_count + 1]
  uint32_t first_item_node = 0;
  const uint32_t* item_offsets = nullptr;  // [nodes - first_item_node + 1]
};

/// What the kernels of a step hand on; `beams`, those of the next step, and `finished` are its
/// results. Before the first step all is zero but `beams`.
struct State {
  uint32_t candidates = 0;  // children of all beams, whether they may be entered or not
  uint32_t wanted = 0;      // winners not yet told apart by the digits so far
  uint64_t prefix = 0;      // digits that the last winner's key has
  uint32_t winners = 0;
  uint32_t beams = 0;
  uint32_t finished = 0;  // since the search began
  uint32_t overflow = 0;  // 1: more candidates than keys_max; nothing was chosen
};

/// One request's arrays, of which a step reads State::beams entries and writes up to `width`.
struct Search {
  uint32_t width = 0;
  uint32_t level_size = 0;
  const float* logits = nullptr;         // [beams][level_size]
  const float* norms = nullptr;          // [beams]: log-sum-exp that a logit is measured against
  const uint64_t* nodes_open = nullptr;  // bit per node that may be entered; null: all
  const uint64_t* items_open = nullptr;  // bit per item that may be had; null: all
  float* scores = nullptr;               // [kBeamsMax] in and out, like the next
  uint32_t* nodes = nullptr;             // [kBeamsMax]
  uint32_t* offsets = nullptr;           // [kBeamsMax + 1] scratch: candidates of the beams before
  uint64_t* keys = nullptr;              // [keys_max] scratch
  uint32_t keys_max = 0;                 // no less than the children of all beams
  uint32_t* digit_counts = nullptr;      // [kDigitValues] scratch
  uint64_t* winners = nullptr;           // [kBeamsMax] scratch
  // Out.
  uint32_t* parents = nullptr;       // [kBeamsMax] per next beam
  uint32_t* codes = nullptr;         // [kBeamsMax] per next beam
  float* finished_scores = nullptr;  // of all steps, one behind the other
  uint32_t* finished_nodes = nullptr;
  uint32_t* finished_parents = nullptr;  // beams of their step
  State* state = nullptr;
};

/// What a step has chosen, as rows of the next forward pass.
struct Fork {
  const State* state = nullptr;
  const uint32_t* parents = nullptr;      // [beams] of the step
  const uint32_t* codes = nullptr;        // [beams]
  const int32_t* level_tokens = nullptr;  // by code
  uint32_t rows = 0;                      // of the pass, no fewer than beams
  uint32_t step = 0;                      // that the rows take, from 1 on
  const uint32_t* ancestors = nullptr;    // [rows before][step - 2]; unused before step 3
  uint32_t* next_ancestors = nullptr;     // out: [rows][step - 1]; another array
  int32_t* tokens = nullptr;              // out: [rows]
};

constexpr size_t advance_shared_bytes() {
  return kBeamsMax * (sizeof(uint64_t) + 2 * sizeof(uint32_t));
}

}  // namespace tessera::beam::cuda
