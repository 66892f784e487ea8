// Lays preamble, sections and directory of a snapshot into a sink, in file order, with bounded
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "catalogue/builder.h"
#include "catalogue/checksum.h"
#include "catalogue/format.h"
#include "platform/file.h"

namespace tessera::catalogue {

class SnapshotWriter {
 public:
  /// `total_bytes` is what progress counts to.
  SnapshotWriter(const platform::Sink& sink, const Progress& progress, uint64_t total_bytes);

  /// Sections are written in the order of SectionId, each with begin, append..., end.
  Status begin(SectionId id);
  Status append(std::span<const std::byte> bytes);
  Status end();
  template <typename T>
  Status section(SectionId id, const std::vector<T>& values) {
    TESSERA_RETURN_IF_ERROR(begin(id));
    TESSERA_RETURN_IF_ERROR(append(std::as_bytes(std::span(values))));
    return end();
  }

  /// Completes `directory` (sections, sizes, digest, checksum) and writes it; the file ends there.
  Status finish(Directory& directory);

 private:
  Status put(std::span<const std::byte> bytes);
  Status pad();
  Status flush();

  const platform::Sink& sink_;
  const Progress& progress_;
  const uint64_t total_bytes_;
  std::vector<std::byte> buffer_;  // small strings are gathered before they are hashed and written
  uint64_t position_ = 0;
  uint32_t next_section_ = 0;
  uint64_t section_begin_ = 0;
  Section sections_[kSectionCount] = {};
  std::unique_ptr<Checksum> checksum_;  // of the open section
};

}  // namespace tessera::catalogue
