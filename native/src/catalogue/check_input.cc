#include "catalogue/check_input.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "catalogue/format.h"

namespace tessera::catalogue {
namespace {

Status invalid(std::string message) { return {Code::kCatalogueInvalid, std::move(message)}; }

std::string range(uint32_t size) { return "[0, " + std::to_string(size) + ")"; }

Status check_shape(const CatalogueInput& input) {
  const size_t count = input.item_count();
  const std::string source = input.sources.empty() ? "catalogue" : input.sources[0].path;
  if (count == 0) return invalid(source + ": no items, expected at least one");
  if (count > kMaxItems) {
    return invalid(source + ": " + std::to_string(count) + " items, expected at most " +
                   std::to_string(kMaxItems));
  }
  const auto column = [&](const char* name, size_t size, bool is_optional) {
    if (size == count || (is_optional && size == 0)) return Status::ok();
    return invalid(source + ": " + name + " has " + std::to_string(size) + " entries, expected " +
                   std::to_string(count));
  };
  TESSERA_RETURN_IF_ERROR(column("sid_ends", input.sid_ends.size(), false));
  TESSERA_RETURN_IF_ERROR(column("titles", input.titles.size(), true));
  TESSERA_RETURN_IF_ERROR(column("attributes", input.attributes.size(), true));
  TESSERA_RETURN_IF_ERROR(column("priorities", input.priorities.size(), true));
  const bool is_ascending = std::is_sorted(input.sid_ends.begin(), input.sid_ends.end());
  if (!is_ascending || input.sid_ends.back() != input.codes.size()) {
    return invalid(source + ": sid_ends must ascend to the number of codes, " +
                   std::to_string(input.codes.size()));
  }
  return Status::ok();
}

Status check_declared_levels(const CatalogueInput& input) {
  const auto& sizes = input.level_sizes;
  if (sizes.size() > kMaxDepth) {
    return invalid("level_sizes: " + std::to_string(sizes.size()) + " levels, expected 1 to " +
                   std::to_string(kMaxDepth));
  }
  for (size_t level = 0; level < sizes.size(); ++level) {
    if (sizes[level] == 0 || sizes[level] > kMaxLevelSize) {
      return invalid("level_sizes[" + std::to_string(level) + "]: " + std::to_string(sizes[level]) +
                     ", expected 1 to " + std::to_string(kMaxLevelSize));
    }
  }
  for (size_t level = 0; level < input.level_patterns.size(); ++level) {
    if (input.level_patterns[level].size() > kMaxPatternBytes) {
      return invalid("level_patterns[" + std::to_string(level) + "]: longer than " +
                     std::to_string(kMaxPatternBytes) + " bytes");
    }
  }
  return Status::ok();
}

Status check_sid(const CatalogueInput& input, size_t item, std::vector<uint32_t>& sizes) {
  const std::span<const uint32_t> sid = input.sid(item);
  const size_t depth_max = input.level_sizes.empty() ? kMaxDepth : input.level_sizes.size();
  if (sid.empty() || sid.size() > depth_max) {
    return invalid(input.describe(item) + ": sid has " + std::to_string(sid.size()) +
                   " codes, expected 1 to " + std::to_string(depth_max));
  }
  if (sizes.size() < sid.size()) sizes.resize(sid.size(), 0);
  for (size_t level = 0; level < sid.size(); ++level) {
    const uint32_t limit = input.level_sizes.empty() ? kMaxLevelSize : input.level_sizes[level];
    if (sid[level] >= limit) {
      return invalid(input.describe(item) + ": sid[" + std::to_string(level) + "] is " +
                     std::to_string(sid[level]) + ", expected a code in " + range(limit));
    }
    sizes[level] = std::max(sizes[level], sid[level] + 1);
  }
  return Status::ok();
}

Status check_text(const CatalogueInput& input, const TextColumn& column, const char* name,
                  size_t bytes_min, size_t bytes_max) {
  uint64_t begin = 0;
  for (size_t item = 0; item < column.size(); ++item) {
    const uint64_t size = column.ends[item] - begin;
    if (column.ends[item] < begin || column.ends[item] > column.bytes.size() || size < bytes_min ||
        size > bytes_max) {
      return invalid(input.describe(item) + ": " + name + " has " + std::to_string(size) +
                     " bytes, expected " + std::to_string(bytes_min) + " to " +
                     std::to_string(bytes_max));
    }
    if (bytes_min > 0 && column[item].find_first_not_of(" \t\r\n\v\f") == std::string_view::npos) {
      return invalid(input.describe(item) + ": " + name + " is blank");
    }
    begin = column.ends[item];
  }
  // Valid as a whole and no string starting inside a character is the same as each string being
  // valid.
  const bool is_valid = simdjson::validate_utf8(column.bytes);
  for (size_t item = 0; item < column.size(); ++item) {
    const std::string_view text = column[item];
    const bool starts_inside = !text.empty() && (static_cast<uint8_t>(text[0]) & 0xC0) == 0x80;
    if (starts_inside || (!is_valid && !simdjson::validate_utf8(text.data(), text.size()))) {
      return invalid(input.place(item) + ": " + name + " is not valid UTF-8");
    }
  }
  return Status::ok();
}

}  // namespace

Result<std::vector<uint32_t>> check_input(const CatalogueInput& input) {
  TESSERA_RETURN_IF_ERROR(check_shape(input));
  TESSERA_RETURN_IF_ERROR(check_declared_levels(input));
  TESSERA_RETURN_IF_ERROR(check_text(input, input.item_ids, "item_id", 1, kMaxItemIdBytes));
  TESSERA_RETURN_IF_ERROR(check_text(input, input.titles, "title", 0, kMaxTextBytes));
  TESSERA_RETURN_IF_ERROR(check_text(input, input.attributes, "attributes", 0, kMaxTextBytes));
  std::vector<uint32_t> sizes;
  for (size_t item = 0; item < input.item_count(); ++item) {
    TESSERA_RETURN_IF_ERROR(check_sid(input, item, sizes));
  }
  for (size_t item = 0; item < input.priorities.size(); ++item) {
    if (!std::isfinite(input.priorities[item])) {
      return invalid(input.describe(item) + ": priority is not a finite number");
    }
  }
  // Declared levels deeper than any SID hold no node: the snapshot's depth is that of its deepest
  // SID.
  for (size_t level = 0; level < sizes.size() && !input.level_sizes.empty(); ++level) {
    sizes[level] = input.level_sizes[level];
  }
  return sizes;
}

}  // namespace tessera::catalogue
