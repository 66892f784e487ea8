// IDs and titles of the items of an answer, copied out of the mapped snapshot where the engine's
// threads run: whoever reads the completion touches no page that may have to come from disk.
#pragma once

#include <span>

#include "catalogue/input.h"
#include "catalogue/view.h"
#include "platform/thread_pool.h"

namespace tessera::engine {

struct ItemTexts {
  catalogue::TextColumn ids;
  catalogue::TextColumn titles;
};

/// REQUIRES: the items are the view's. The pool serves one caller at a time.
ItemTexts copy_texts(const catalogue::View& view, std::span<const catalogue::ItemOrdinal> items,
                     platform::ThreadPool& threads);

}  // namespace tessera::engine
