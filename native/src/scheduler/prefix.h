// Prompts of running requests that begin alike, as a forest of links. A request that enters follows
// the running request with which it has the most tokens in common (its leader); what two requests
// share is then the smallest number on the links between them. Sharing has no direction: the
// first request to compute a shared position computes it for all, so followers lose nothing when
// their leader leaves early.
//
// Pure: links and lengths in, links and lengths out. Keys, values and blocks are the engine's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::scheduler {

inline constexpr uint32_t kNoLeader = 0xFFFFFFFFu;

/// Requests are known by their index among the running ones.
struct Link {
  uint32_t leader = kNoLeader;
  uint32_t shared = 0;  // first tokens in common with the leader; 0 without one
};

uint32_t common_prefix(std::span<const int32_t> a, std::span<const int32_t> b);

/// The longest prefix that `prompt` shares with one of `running`, the oldest among equals. The last
/// token of neither is shared, because its row is where a request's own logits come from.
Link find_leader(std::span<const std::span<const int32_t>> running,
                 std::span<const int32_t> prompt);

/// shared[i] = first tokens that request i shares with `of`; UINT32_MAX for `of` itself, 0 for
/// strangers. REQUIRES: as many entries as links.
void shared_with(std::span<const Link> links, uint32_t of, std::span<uint32_t> shared);

/// Takes request `gone` out: of its followers the one that shares most takes its place before the
/// others, and later requests move down by one.
void unlink(std::vector<Link>& links, uint32_t gone);

/// Prompt rows [first, first + rows) that `request` computes in a pass.
struct PromptSlice {
  uint32_t request = 0;
  uint32_t first = 0;
  uint32_t rows = 0;
};

enum class SliceOutcome : uint8_t {
  kCommitted,
  kFailed,     // its own rows are not finite, and nothing below them is to blame
  kTakenBack,  // built on rows that failed
};

/// The outcome of a pass. `lengths` are the positions committed before it. A slice is committed
/// when its rows are finite and everything below its first row is committed too; it then raises the
/// lengths of all that share its rows. Rows built on what failed are taken back with it, at any
/// distance, whether they look finite or not. REQUIRES: slices in an order in which each finds what
/// it stands on before it; equal sizes of links and lengths, of slices, finite and outcomes.
void commit(std::span<const Link> links, std::span<const PromptSlice> slices,
            std::span<const uint8_t> finite, std::span<uint32_t> lengths,
            std::span<SliceOutcome> outcomes, std::vector<uint32_t>& scratch);

}  // namespace tessera::scheduler
