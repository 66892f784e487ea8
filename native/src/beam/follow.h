// Given paths instead of the best ones: the scores that a beam search gives to paths it is led
// along, bit for bit those that select() gives them. The paths form a tree of which each node is
// one row of a pass, however many paths go through it.
//
// Thread-safety: as select.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "beam/select.h"
#include "catalogue/reach.h"

namespace tessera::beam {

/// The tree of the paths to follow.
struct Route {
  struct Edge {
    catalogue::NodeIndex parent, node;
    auto operator<=>(const Edge&) const = default;
  };
  std::vector<Edge> edges;                 // ascending
  std::vector<catalogue::NodeIndex> ends;  // where paths end, ascending
};

/// Node of a SID at which an item to be had lies, or kNoNode.
catalogue::NodeIndex find_path(const catalogue::Reach& reach, std::span<const uint32_t> codes);

/// The route along the SIDs codes[offsets[i] .. offsets[i + 1]); those that find_path() does not
/// know are left out.
void find_route(const catalogue::Reach& reach, std::span<const uint32_t> codes,
                std::span<const uint32_t> offsets, Route& route);

/// As select(), but keeps the candidates on the route, in the order of their beams and nodes.
/// `options.width` is not read.
void follow(const Beams& beams, const StepLogits& logits, const catalogue::Reach& reach,
            const SelectOptions& options, const Route& route, Scratch& scratch, Step& step);

}  // namespace tessera::beam
