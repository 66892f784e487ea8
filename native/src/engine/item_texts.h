// IDs, titles and attributes of the items of an answer, copied out of the mapped snapshot where the
// engine's threads run, so that reading a completion never waits for a page from disk.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "catalogue/input.h"
#include "catalogue/view.h"
#include "platform/thread_pool.h"

namespace tessera::engine {

inline constexpr uint32_t kAnswerAttributesMax = 16;
/// Maximum bytes of the attributes of all items of an answer.
inline constexpr uint64_t kAnswerAttributeBytesMax = 16u << 20;

struct ItemTexts {
  catalogue::TextColumn ids;
  catalogue::TextColumn titles;
  catalogue::TextColumn attributes;  // JSON objects; empty where none were asked for
  std::string best_left_out{};       // ID of that item, where its bid is known

  std::string_view attributes_of(size_t item) const {
    return attributes.empty() ? std::string_view() : attributes[item];
  }
};

/// The members of a JSON object that have these names, in their order, as a JSON object.
std::string members_of(std::string_view json, std::span<const std::string> names);

/// `attributes` names those that are wanted. Errors: REQUEST_INVALID where they have too many
/// bytes. REQUIRES: the items are the view's. The pool serves one caller at a time.
Result<ItemTexts> copy_texts(const catalogue::View& view,
                             std::span<const catalogue::ItemOrdinal> items,
                             std::span<const std::string> attributes,
                             platform::ThreadPool& threads,
                             catalogue::ItemOrdinal best_left_out = catalogue::kNoItem);

}  // namespace tessera::engine
