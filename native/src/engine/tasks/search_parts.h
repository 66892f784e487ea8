// The searches that a recall is made of, and what each is asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "beam/lazy_search.h"
#include "engine/request.h"

namespace tessera::engine {

/// The searches of a request: for its best items, and for those that are drawn behind them.
enum Part : uint32_t { kBestItems = 0, kDrawnItems = 1 };

/// False where there is nothing to be drawn.
bool draws(const Request& request);
/// True if places are drawn among a part of the items: then the best ones fill all that are left.
bool draws_of_part(const Request& request);
/// Places of the answer that are not drawn, where enough can be.
uint32_t fixed_places(const Request& request);
bool has_part(const Request& request, Part part);
/// How the rows of a part are shared by its steps.
beam::RowShares shares_of(const Request& request, Part part);
/// Widths of both parts.
std::vector<uint32_t> all_widths(const Request& request);
/// Searches of one catalogue with the same key have similar thresholds.
std::string rule_key(const Request& request, Part part);
beam::LazyOptions options_of(const Request& request, Part part);

}  // namespace tessera::engine
