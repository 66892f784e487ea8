#include <algorithm>
#include <array>
#include <cstring>

#include "catalogue/checksum.h"
#include "catalogue/snapshot.h"
#include "catalogue/validate.h"

namespace tessera::catalogue {
namespace {

Status corrupt(const std::string& path, const std::string& what) {
  return {Code::kCatalogueCorrupt, path + ": " + what};
}

Status check_preamble(std::span<const std::byte> bytes, const std::string& path) {
  if (bytes.size() < sizeof(Preamble) + sizeof(Directory)) {
    return corrupt(path, "has " + std::to_string(bytes.size()) + " bytes, a snapshot at least " +
                             std::to_string(sizeof(Preamble) + sizeof(Directory)));
  }
  Preamble preamble;
  std::memcpy(&preamble, bytes.data(), sizeof(preamble));
  if (std::memcmp(preamble.magic, kMagic, sizeof(kMagic)) != 0) {
    return corrupt(path, "does not begin with the magic of a snapshot file");
  }
  if (is_newer(preamble.version, kFormatVersion)) {
    return {Code::kStoreNewer, path + ": expected a snapshot of version " +
                                   std::to_string(kFormatVersion) + " at most, got version " +
                                   std::to_string(preamble.version) +
                                   ", which a newer release wrote"};
  }
  if (preamble.version != kFormatVersion) {
    return corrupt(path, "format version " + std::to_string(preamble.version) + ", expected " +
                             std::to_string(kFormatVersion));
  }
  if (std::any_of(std::begin(preamble.zeros), std::end(preamble.zeros),
                  [](uint32_t value) { return value != 0; })) {
    return corrupt(path, "preamble: reserved bytes are not zero");
  }
  return Status::ok();
}

Status check_counts(const Directory& directory, const std::string& path) {
  const auto bad = [&](const std::string& what) { return corrupt(path, "directory: " + what); };
  if (directory.depth < 1 || directory.depth > kMaxDepth) return bad("depth out of range");
  if (directory.item_count < 1 || directory.item_count > kMaxItems) {
    return bad("item count out of range");
  }
  if (directory.first_item_depth < 1 || directory.first_item_depth > directory.depth) {
    return bad("first item depth out of range");
  }
  uint32_t size_max = 0;
  for (uint32_t level = 0; level < kMaxDepth; ++level) {
    const uint32_t size = directory.level_sizes[level];
    const bool is_used = level < directory.depth;
    if (is_used ? (size < 1 || size > kMaxLevelSize) : size != 0) {
      return bad("size of level " + std::to_string(level) + " out of range");
    }
    size_max = std::max(size_max, size);
  }
  if (directory.code_bytes != code_bytes_for(size_max)) return bad("code width");
  if (directory.level_begin[0] != 0 || directory.level_begin[1] != 1) return bad("root");
  for (uint32_t d = 2; d < kMaxDepth + 2; ++d) {
    const bool is_used = d <= directory.depth + 1;
    if (is_used ? directory.level_begin[d] <= directory.level_begin[d - 1]
                : directory.level_begin[d] != 0) {
      return bad("nodes of depth " + std::to_string(d - 1));
    }
  }
  if (directory.level_begin[directory.depth + 1] > kMaxNodes) return bad("too many nodes");
  return Status::ok();
}

bool has_text_sizes(const Directory& directory, SectionId first, bool is_optional) {
  const uint64_t bases = directory.sections[first].bytes;
  const uint64_t offsets = directory.sections[first + 1].bytes;
  const uint64_t bytes = directory.sections[first + 2].bytes;
  if (is_optional && bases == 0 && offsets == 0 && bytes == 0) return true;
  return bases == sizeof(uint64_t) * (directory.item_count / kTextBlockStrings + 1) &&
         offsets == sizeof(uint32_t) * (directory.item_count + 1);
}

/// Sizes that follow from the counts.
Status check_section_sizes(const SnapshotFile& file, const std::string& path) {
  const Directory& directory = *file.directory;
  const uint64_t nodes = file.node_count();
  const uint64_t items = directory.item_count;
  const std::array<std::pair<SectionId, uint64_t>, 7> expected = {{
      {kCodes, nodes * directory.code_bytes},
      {kChildOffsets, sizeof(uint32_t) * (uint64_t{file.interior_count()} + 1)},
      {kItemOffsets, sizeof(uint32_t) * (nodes - file.first_item_node() + 1)},
      {kParentHints, sizeof(uint32_t) * ((nodes + kHintStride - 1) / kHintStride)},
      {kItemHints, sizeof(uint32_t) * ((items + kHintStride - 1) / kHintStride)},
      {kRootIndex, sizeof(uint32_t) * uint64_t{directory.level_sizes[0]}},
      {kItemHash, sizeof(uint32_t) * hash_slots_for(items)},
  }};
  for (const auto& [id, bytes] : expected) {
    if (directory.sections[id].bytes != bytes) {
      return corrupt(path, std::string("section ") + kSectionNames[id] + ": " +
                               std::to_string(directory.sections[id].bytes) + " bytes, expected " +
                               std::to_string(bytes));
    }
  }
  const uint64_t priorities = directory.sections[kPriorities].bytes;
  if (priorities != 0 && priorities != sizeof(double) * items) {
    return corrupt(path, "section priorities: size");
  }
  if (!has_text_sizes(directory, kItemIdBases, false) ||
      !has_text_sizes(directory, kTitleBases, true) ||
      !has_text_sizes(directory, kAttributeBases, true)) {
    return corrupt(path, "text tables: sizes do not fit the number of items");
  }
  return Status::ok();
}

/// The layout is rigid: sections follow each other without gaps other than zero padding.
Status check_sections(const SnapshotFile& file, uint64_t directory_offset,
                      const std::string& path) {
  const auto is_zero = [&](uint64_t begin, uint64_t end) {
    return std::all_of(file.data + begin, file.data + end,
                       [](std::byte value) { return value == std::byte{0}; });
  };
  uint64_t position = sizeof(Preamble);
  for (uint32_t id = 0; id < kSectionCount; ++id) {
    const Section& section = file.directory->sections[id];
    const std::string name = std::string("section ") + kSectionNames[id];
    const uint64_t begin = align_up(position);
    if (section.offset != begin || begin > directory_offset ||
        section.bytes > directory_offset - begin) {
      return corrupt(path, name + ": lies outside its place in the file");
    }
    if (!is_zero(position, begin)) return corrupt(path, name + ": padding before it is not zero");
    position = begin + section.bytes;
  }
  if (align_up(position) != directory_offset || !is_zero(position, directory_offset)) {
    return corrupt(path, "sections do not end where the directory begins");
  }
  TESSERA_RETURN_IF_ERROR(check_section_sizes(file, path));
  for (uint32_t id = 0; id < kSectionCount; ++id) {
    const Section& section = file.directory->sections[id];
    if (checksum64({file.data + section.offset, section.bytes}) != section.checksum) {
      return corrupt(path, std::string("section ") + kSectionNames[id] + ": checksum mismatch");
    }
  }
  return Status::ok();
}

}  // namespace

Result<SnapshotFile> check_layout(std::span<const std::byte> bytes, const std::string& path) {
  TESSERA_RETURN_IF_ERROR(check_preamble(bytes, path));
  const uint64_t directory_offset = bytes.size() - sizeof(Directory);
  if (directory_offset % kAlignment != 0) {
    return corrupt(path, "is cut: " + std::to_string(bytes.size()) + " bytes hold no directory");
  }
  SnapshotFile file;
  file.data = bytes.data();
  file.directory = reinterpret_cast<const Directory*>(bytes.data() + directory_offset);
  const Directory& directory = *file.directory;
  if (std::memcmp(directory.magic, kMagic, sizeof(kMagic)) != 0) {
    return corrupt(path, "is cut or overwritten: no directory at its end");
  }
  if (directory.checksum != directory_checksum(directory)) {
    return corrupt(path, "directory: checksum mismatch");
  }
  const std::array<uint8_t, 16> digest = directory_digest(directory);
  if (!std::equal(digest.begin(), digest.end(), directory.digest)) {
    return corrupt(path, "directory: digest mismatch");
  }
  if (directory.version != kFormatVersion || directory.directory_bytes != sizeof(Directory) ||
      directory.section_count != kSectionCount) {
    return corrupt(path, "directory: version or size");
  }
  if (directory.file_bytes != bytes.size()) {
    return corrupt(path, "directory: says " + std::to_string(directory.file_bytes) +
                             " bytes, the file has " + std::to_string(bytes.size()));
  }
  TESSERA_RETURN_IF_ERROR(check_counts(directory, path));
  TESSERA_RETURN_IF_ERROR(check_sections(file, directory_offset, path));
  return file;
}

}  // namespace tessera::catalogue
