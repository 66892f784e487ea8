#include <simdjson.h>

#include <algorithm>
#include <cmath>

#include "catalogue/snapshot.h"
#include "catalogue/validate.h"

namespace tessera::catalogue {
namespace {

Status corrupt(const std::string& path, SectionId id, const std::string& what) {
  return {Code::kCatalogueCorrupt, path + ": section " + kSectionNames[id] + ": " + what};
}

/// Children of each level tile the next level.
Status check_child_offsets(const SnapshotFile& file, const std::string& path) {
  const auto offsets = file.section<uint32_t>(kChildOffsets);
  if (!std::is_sorted(offsets.begin(), offsets.end())) {
    return corrupt(path, kChildOffsets, "offsets do not ascend");
  }
  for (uint32_t d = 0; d <= file.directory->depth; ++d) {
    if (offsets[file.directory->level_begin[d]] != file.directory->level_begin[d + 1]) {
      return corrupt(path, kChildOffsets,
                     "nodes of depth " + std::to_string(d) + " do not begin where level " +
                         std::to_string(d) + " does");
    }
  }
  return Status::ok();
}

template <typename Code>
Status check_codes(const SnapshotFile& file, const std::string& path) {
  const auto codes = file.section<Code>(kCodes);
  const auto offsets = file.section<uint32_t>(kChildOffsets);
  uint32_t depth = 0;
  for (uint32_t node = 0; node + 1 < offsets.size(); ++node) {
    while (node >= file.directory->level_begin[depth + 1]) ++depth;
    const uint32_t begin = offsets[node];
    const uint32_t end = offsets[node + 1];
    for (uint32_t child = begin + 1; child < end; ++child) {
      if (codes[child - 1] >= codes[child]) {
        return corrupt(path, kCodes, "codes below node " + std::to_string(node) + " do not ascend");
      }
    }
    if (begin < end && codes[end - 1] >= file.directory->level_sizes[depth]) {
      return corrupt(path, kCodes,
                     "a code below node " + std::to_string(node) + " is outside its level");
    }
  }
  return Status::ok();
}

/// Item ranges ascend, and every node without children has items: no path of the trie is a dead
/// end.
Status check_items(const SnapshotFile& file, const std::string& path) {
  const auto items = file.section<uint32_t>(kItemOffsets);
  const auto children = file.section<uint32_t>(kChildOffsets);
  const uint32_t first = file.first_item_node();
  if (items.front() != 0 || items.back() != file.directory->item_count) {
    return corrupt(path, kItemOffsets, "ranges do not cover the items");
  }
  uint64_t paths = 0;
  for (uint32_t node = 1; node < file.node_count(); ++node) {
    const bool is_leaf = node + 1 >= children.size() || children[node] == children[node + 1];
    bool has_items = false;
    if (node >= first) {
      if (items[node - first] > items[node - first + 1]) {
        return corrupt(path, kItemOffsets, "offsets do not ascend");
      }
      has_items = items[node - first] < items[node - first + 1];
    }
    paths += has_items ? 1 : 0;
    if (is_leaf && !has_items) {
      return corrupt(path, kItemOffsets,
                     "node " + std::to_string(node) + " has neither children nor items");
    }
  }
  if (paths != file.directory->path_count) return corrupt(path, kItemOffsets, "path count");
  return Status::ok();
}

/// hints[h] is the owner of element kHintStride * h, where element e belongs to the last owner o
/// with offsets[o] <= e.
bool are_hints_right(std::span<const uint32_t> offsets, std::span<const uint32_t> hints,
                     uint32_t first_owner) {
  size_t h = 0;
  for (uint32_t owner = 0; owner + 1 < offsets.size(); ++owner) {
    for (; h < hints.size() && uint64_t{h} * kHintStride < offsets[owner + 1]; ++h) {
      // Elements before the first offset (the root, which has no parent) belong to the first owner.
      if (hints[h] != first_owner + owner) return false;
    }
  }
  return h == hints.size();
}

Status check_root_index(const SnapshotFile& file, const std::string& path) {
  const auto index = file.section<uint32_t>(kRootIndex);
  const auto codes = file.section<std::byte>(kCodes);
  const uint32_t end = file.directory->level_begin[2];
  const Codes all(codes.data(), file.node_count(), file.directory->code_bytes);
  uint32_t next = 1;
  for (uint32_t code = 0; code < index.size(); ++code) {
    const bool is_child = next < end && all[next] == code;
    if (index[code] != (is_child ? next : kNoNode)) {
      return corrupt(path, kRootIndex, "code " + std::to_string(code) + " points elsewhere");
    }
    next += is_child ? 1 : 0;
  }
  return Status::ok();
}

Status check_text(const SnapshotFile& file, SectionId first, size_t bytes_min, size_t bytes_max,
                  const std::string& path) {
  const auto bases = file.section<uint64_t>(first);
  const auto offsets = file.section<uint32_t>(static_cast<SectionId>(first + 1));
  const auto bytes = file.section<char>(static_cast<SectionId>(first + 2));
  uint64_t previous = 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    const uint64_t base = bases[i / kTextBlockStrings];
    const uint64_t position = base + offsets[i];
    const bool is_bounded = base <= bytes.size() && position <= bytes.size();
    if (!is_bounded || position < previous ||
        (i > 0 && (position - previous < bytes_min || position - previous > bytes_max))) {
      return corrupt(path, static_cast<SectionId>(first + 1),
                     "string " + std::to_string(i) + " is out of bounds");
    }
    previous = position;
  }
  const bool begins_at_zero = offsets.empty() || bases[0] + offsets[0] == 0;
  if (!begins_at_zero || previous != bytes.size() ||
      !simdjson::validate_utf8(bytes.data(), bytes.size())) {
    return corrupt(path, static_cast<SectionId>(first + 2), "is not the text its table describes");
  }
  return Status::ok();
}

/// Every item once: with fewer items than slots, a probe then always ends.
Status check_hash(const SnapshotFile& file, const std::string& path) {
  std::vector<bool> is_seen(file.directory->item_count);
  uint64_t count = 0;
  for (const uint32_t item : file.section<uint32_t>(kItemHash)) {
    if (item == kNoItem) continue;
    if (item >= is_seen.size() || is_seen[item]) {
      return corrupt(path, kItemHash, "holds an item twice or one that does not exist");
    }
    is_seen[item] = true;
    ++count;
  }
  if (count != is_seen.size()) return corrupt(path, kItemHash, "does not hold every item");
  return Status::ok();
}

Status check_patterns(const SnapshotFile& file, const std::string& path) {
  const auto bytes = file.section<uint8_t>(kLevelPatterns);
  size_t position = 0;
  for (uint32_t level = 0; level < file.directory->depth; ++level) {
    const bool has_length = bytes.size() - position >= 2;
    const size_t length =
        has_length ? bytes[position] | static_cast<size_t>(bytes[position + 1]) << 8 : 0;
    if (!has_length || length > kMaxPatternBytes || bytes.size() - position - 2 < length) {
      return corrupt(path, kLevelPatterns, "level " + std::to_string(level) + " is cut");
    }
    position += 2 + length;
  }
  if (position != bytes.size()) return corrupt(path, kLevelPatterns, "has bytes left over");
  return Status::ok();
}

}  // namespace

Status check_structure(const SnapshotFile& file, const std::string& path) {
  TESSERA_RETURN_IF_ERROR(check_child_offsets(file, path));
  switch (file.directory->code_bytes) {
    case 1: TESSERA_RETURN_IF_ERROR(check_codes<uint8_t>(file, path)); break;
    case 2: TESSERA_RETURN_IF_ERROR(check_codes<uint16_t>(file, path)); break;
    default: TESSERA_RETURN_IF_ERROR(check_codes<uint32_t>(file, path)); break;
  }
  TESSERA_RETURN_IF_ERROR(check_items(file, path));
  if (!are_hints_right(file.section<uint32_t>(kChildOffsets), file.section<uint32_t>(kParentHints),
                       0)) {
    return corrupt(path, kParentHints, "a hint names another node");
  }
  if (!are_hints_right(file.section<uint32_t>(kItemOffsets), file.section<uint32_t>(kItemHints),
                       file.first_item_node())) {
    return corrupt(path, kItemHints, "a hint names another node");
  }
  TESSERA_RETURN_IF_ERROR(check_root_index(file, path));
  TESSERA_RETURN_IF_ERROR(check_text(file, kItemIdBases, 1, kMaxItemIdBytes, path));
  TESSERA_RETURN_IF_ERROR(check_text(file, kTitleBases, 0, kMaxTextBytes, path));
  TESSERA_RETURN_IF_ERROR(check_text(file, kAttributeBases, 0, kMaxTextBytes, path));
  for (const double priority : file.section<double>(kPriorities)) {
    if (!std::isfinite(priority)) return corrupt(path, kPriorities, "holds a value not finite");
  }
  TESSERA_RETURN_IF_ERROR(check_hash(file, path));
  return check_patterns(file, path);
}

}  // namespace tessera::catalogue
