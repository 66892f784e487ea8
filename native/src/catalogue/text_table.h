// Read-only strings of a mapped snapshot: u32 offsets relative to one u64 base per
// kTextBlockStrings strings, so that a table may exceed 4 GiB at four bytes per string. Views stay
// valid while the file is mapped.
#pragma once

#include <cstdint>
#include <string_view>

#include "catalogue/format.h"

namespace tessera::catalogue {

class TextTable {
 public:
  TextTable() = default;
  TextTable(const uint64_t* bases, const uint32_t* offsets, const char* bytes)
      : bases_(bases), offsets_(offsets), bytes_(bytes) {}

  bool is_empty() const { return offsets_ == nullptr; }

  /// REQUIRES: !is_empty(), index < number of strings.
  std::string_view operator[](uint32_t index) const {
    const uint64_t begin = position(index);
    return {bytes_ + begin, static_cast<size_t>(position(index + 1) - begin)};
  }

  /// Position where string `index` begins; index = number of strings gives the end of the last.
  uint64_t position(uint32_t index) const {
    return bases_[index / kTextBlockStrings] + offsets_[index];
  }

 private:
  const uint64_t* bases_ = nullptr;
  const uint32_t* offsets_ = nullptr;
  const char* bytes_ = nullptr;
};

}  // namespace tessera::catalogue
