// One step of constrained beam search on a card, of all requests of a batch at once, as kernels
// that follow each other without the host: candidates are counted and numbered, their keys written,
// the best found by digits of the keys, sorted, and the next beams made of them.
//
// Order, scores and finished paths are those of beam::select (beam/select.h), with its terminal
// tokens, norms and changed catalogues. Candidates are numbered in the order of their SIDs: beams
// know theirs from the step before, and the children of one follow each other by code. A key is
// smaller for a better candidate, then for a smaller number, and no two are equal, so what is
// chosen does not depend on the order in which threads come. Norms other than kFull take a
// logarithm in double precision of the card, which may differ from the host's in its last place:
// once rounded to float the two differ in about one of 10^8.
//
// Launches of one step, for `requests` requests; every pointer is to device memory:
//   tessera_count_candidates   grid (1, requests), block kSelectThreads
//   tessera_norms              grid (blocks, requests), block kSelectThreads; may be left out where
//                              no request has a norm but Norm::kFull
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

#include "cuda/kernels/trie.h"

namespace tessera::beam::cuda {

inline constexpr uint32_t kSelectThreads = 256;
inline constexpr uint32_t kBeamsMax = 1024;  // running beams and width of a request
// Beyond the width, every beam may have a last terminal token, which takes no place.
inline constexpr uint32_t kWinnersMax = 2 * kBeamsMax;
inline constexpr uint32_t kDigitBits = 8;  // of a key, looked at in one pass
inline constexpr uint32_t kDigits = 64 / kDigitBits;
inline constexpr uint32_t kDigitValues = 1u << kDigitBits;
inline constexpr uint64_t kNoCandidate = ~uint64_t{0};    // worse than every key
inline constexpr uint32_t kTerminalChosen = 0xFFFFFFFFu;  // beam::kTerminalCode

/// beam::ScoreNorm.
enum class Norm : uint32_t { kFull = 0, kLevel = 1, kAllowed = 2 };

/// The candidates of a beam: its next terminal token, where it has one, then the children of its
/// node by code, dead ones among them.
struct Fan {
  uint32_t node = 0;
  uint32_t ended = 0;             // terminal tokens that the beam has
  uint32_t has_terminal = 0;      // 1: its next terminal token is a candidate
  uint32_t terminal_in_norm = 0;  // 1: its next terminal token counts in the norm
  uint32_t first_child = 0;
  uint32_t base_count = 0;         // children in the snapshot
  uint32_t mask_begin = 0;         // bit mask_begin + i is that of child i
  const uint64_t* mask = nullptr;  // of the snapshot's children that may be entered; null: all
  const LaterChild* later = nullptr;
  uint32_t later_count = 0;
};

/// State that the kernels of a step pass to each other. Its results are `beams`, the beams of the
/// next step, and `finished`. Before the first step, with one beam at the root, the rest is zero.
struct State {
  uint32_t steps = 0;       // taken since the search began
  uint32_t candidates = 0;  // children of all beams, whether they may be entered or not
  uint32_t wanted = 0;      // winners that the digits so far do not separate
  uint64_t prefix = 0;      // digits that the last winner's key has
  uint32_t winners = 0;
  uint32_t beams = 0;
  uint32_t finished = 0;  // since the search began
  uint32_t overflow = 0;  // 1: more candidates than keys_max; nothing was chosen
};

/// One request's arrays, of which a step reads State::beams entries and writes up to `width`.
struct Search {
  const Trie* trie = nullptr;  // of the version that the request has pinned
  uint32_t width = 0;
  uint32_t level_size = 0;      // 0 beyond the last level
  uint32_t terminal_count = 0;  // terminal tokens that end each path
  Norm norm = Norm::kFull;
  // Row b, which belongs to beam b, begins row_size * b elements behind these.
  const float* logits = nullptr;           // by code
  const float* terminal_logits = nullptr;  // by terminal token; null without terminals
  uint32_t row_size = 0;
  float* norms = nullptr;                // [beams]: what a logit is measured against; in for kFull
  const uint64_t* nodes_open = nullptr;  // bit per node that may be entered; null: all live ones
  const uint64_t* items_open = nullptr;  // bit per item that may be had; null: all live ones
  float* scores = nullptr;               // [kBeamsMax] in and out, like the next
  uint32_t* nodes = nullptr;             // [kBeamsMax]
  uint32_t* ended = nullptr;             // [kBeamsMax] terminal tokens of a beam; set by a search
  uint32_t* order = nullptr;             // [kBeamsMax] beams in the order of SIDs; set by a search
  Fan* fans = nullptr;                   // [kBeamsMax] scratch, by beam
  uint32_t* offsets = nullptr;           // [kBeamsMax + 1] scratch: candidates before, in `order`
  uint64_t* keys = nullptr;              // [keys_max] scratch
  uint32_t keys_max = 0;                 // no less than the candidates of all beams
  uint32_t* digit_counts = nullptr;      // [kDigitValues] scratch
  uint64_t* winners = nullptr;           // [kWinnersMax] scratch
  // Out.
  uint32_t* parents = nullptr;       // [kBeamsMax] per next beam
  uint32_t* codes = nullptr;         // [kBeamsMax] per next beam: code or kTerminalChosen
  float* finished_scores = nullptr;  // of all steps, one behind the other
  uint32_t* finished_nodes = nullptr;
  uint32_t* finished_parents = nullptr;  // beams of their step
  State* state = nullptr;
};

/// The choices of a step, as rows of the next forward pass.
struct Fork {
  const State* state = nullptr;
  const uint32_t* parents = nullptr;         // [beams] of the step
  const uint32_t* codes = nullptr;           // [beams]
  const int32_t* level_tokens = nullptr;     // by code; null beyond the last level
  const uint32_t* ended = nullptr;           // [beams], read where a terminal token was chosen
  const int32_t* terminal_tokens = nullptr;  // null without terminals
  uint32_t rows = 0;                         // of the pass, no fewer than beams
  uint32_t step = 0;                         // that the rows take, from 1 on
  const uint32_t* ancestors = nullptr;       // [rows before][step - 2]; unused before step 3
  uint32_t* next_ancestors = nullptr;        // out: [rows][step - 1]; another array
  int32_t* tokens = nullptr;                 // out: [rows]
};

constexpr size_t advance_shared_bytes() { return (kWinnersMax + kBeamsMax) * sizeof(uint64_t); }

}  // namespace tessera::beam::cuda
