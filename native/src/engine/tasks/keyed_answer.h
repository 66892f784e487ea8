// Answers of recalls by value and of drawn places. Thread-safety: free functions.
#pragma once

#include <cstdint>

#include "beam/lazy_search.h"

namespace tessera::engine {

/// The best `wanted` items of a search by value, which went on to the one behind them, with their
/// terms; critical bids where they are proved.
void answer_by_value(const beam::LazySearch& search, const catalogue::Reach& reach, uint32_t wanted,
                     beam::Exported& answer);

/// Behind the items of `answer`: the `slots` drawn ones. `is_beam`: the search kept widths, not a
/// proof. Errors: REQUEST_INVALID: a SID begins another, so that the model gives no distribution.
Status add_drawn(const beam::LazySearch& drawing, const catalogue::Reach& reach, uint32_t slots,
                 bool is_beam, beam::Exported& answer);

}  // namespace tessera::engine
