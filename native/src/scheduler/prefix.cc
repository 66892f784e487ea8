#include "scheduler/prefix.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace tessera::scheduler {

uint32_t common_prefix(std::span<const int32_t> a, std::span<const int32_t> b) {
  const size_t most = std::min(a.size(), b.size());
  const auto differ = std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(most), b.begin());
  return static_cast<uint32_t>(differ.first - a.begin());
}

Link find_leader(std::span<const std::span<const int32_t>> running,
                 std::span<const int32_t> prompt) {
  Link best;
  for (uint32_t i = 0; i < running.size(); ++i) {
    const size_t most = std::min(running[i].size(), prompt.size());
    if (most == 0) continue;
    const uint32_t shared = common_prefix(running[i], prompt.first(most - 1));
    if (shared > best.shared) best = {i, shared};
  }
  return best;
}

void shared_with(std::span<const Link> links, uint32_t of, std::span<uint32_t> shared) {
  TESSERA_CHECK(shared.size() == links.size() && of < links.size());
  std::fill(shared.begin(), shared.end(), 0u);
  shared[of] = std::numeric_limits<uint32_t>::max();
  // A number travels one link further with every sweep at least.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < links.size(); ++i) {
      if (links[i].leader == kNoLeader) continue;
      uint32_t& here = shared[i];
      uint32_t& there = shared[links[i].leader];
      const uint32_t down = std::min(there, links[i].shared);
      const uint32_t up = std::min(here, links[i].shared);
      if (down > here) {
        here = down;
        changed = true;
      } else if (up > there) {
        there = up;
        changed = true;
      }
    }
  }
}

void unlink(std::vector<Link>& links, uint32_t gone) {
  TESSERA_CHECK(gone < links.size());
  uint32_t heir = kNoLeader;
  for (uint32_t i = 0; i < links.size(); ++i) {
    if (links[i].leader != gone) continue;
    if (heir == kNoLeader || links[i].shared > links[heir].shared) heir = i;
  }
  if (heir != kNoLeader) {
    for (uint32_t i = 0; i < links.size(); ++i) {
      if (links[i].leader == gone && i != heir) links[i].leader = heir;
    }
    links[heir].shared = std::min(links[heir].shared, links[gone].shared);
    links[heir].leader = links[heir].shared == 0 ? kNoLeader : links[gone].leader;
  }
  links.erase(links.begin() + gone);
  for (Link& link : links) {
    if (link.leader != kNoLeader && link.leader > gone) --link.leader;
  }
}

void commit(std::span<const Link> links, std::span<const PromptSlice> slices,
            std::span<const uint8_t> finite, std::span<uint32_t> lengths,
            std::span<SliceOutcome> outcomes, std::vector<uint32_t>& scratch) {
  TESSERA_CHECK(links.size() == lengths.size());
  TESSERA_CHECK(slices.size() == finite.size() && slices.size() == outcomes.size());
  scratch.resize(links.size());
  for (size_t s = 0; s < slices.size(); ++s) {
    const PromptSlice& slice = slices[s];
    if (lengths[slice.request] != slice.first) {
      outcomes[s] = SliceOutcome::kTakenBack;
      continue;
    }
    outcomes[s] = finite[s] != 0 ? SliceOutcome::kCommitted : SliceOutcome::kFailed;
    if (finite[s] == 0) continue;
    const uint32_t end = slice.first + slice.rows;
    shared_with(links, slice.request, scratch);
    for (size_t i = 0; i < links.size(); ++i) {
      lengths[i] = std::max(lengths[i], std::min(end, scratch[i]));
    }
  }
}

}  // namespace tessera::scheduler
