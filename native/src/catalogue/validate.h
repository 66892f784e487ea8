// Everything that is checked before a mapped snapshot is believed. After these checks no accessor
// of Snapshot can leave the mapping or loop, whatever the file says; with the checksums, no
// accident goes unseen either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "catalogue/format.h"

namespace tessera::catalogue {

/// A mapped file whose directory has been checked: sections lie inside it and have the sizes the
/// counts demand.
struct SnapshotFile {
  const Directory* directory = nullptr;
  const std::byte* data = nullptr;

  template <typename T>
  std::span<const T> section(SectionId id) const {
    const Section& section = directory->sections[id];
    return {reinterpret_cast<const T*>(data + section.offset),
            static_cast<size_t>(section.bytes / sizeof(T))};
  }
  uint32_t node_count() const { return directory->level_begin[directory->depth + 1]; }
  uint32_t interior_count() const { return directory->level_begin[directory->depth]; }
  uint32_t first_item_node() const { return directory->level_begin[directory->first_item_depth]; }
};

/// Preamble, directory, layout and checksums. REQUIRES: `bytes` is aligned to 8 bytes and outlives
/// the result. Errors: CATALOGUE_CORRUPT; the message begins with `path`.
Result<SnapshotFile> check_layout(std::span<const std::byte> bytes, const std::string& path);

/// Trie, item ranges, hints, text tables, item hash and patterns agree with each other.
Status check_structure(const SnapshotFile& file, const std::string& path);

}  // namespace tessera::catalogue
