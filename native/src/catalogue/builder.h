// From items to a snapshot file. Deterministic: the same items give the same bytes, whatever their
// order in the input. Thread-safety: free function; the calling thread does the work.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "catalogue/input.h"

namespace tessera::catalogue {

/// Called as an import and a build go on: `stage` is one of "import", "check", "sort", "trie",
/// "index", "write"; `done` of `total` units of the stage (items; bytes for "import" and "write").
/// May be empty.
using Progress = std::function<void(std::string_view stage, uint64_t done, uint64_t total)>;

struct BuildReport {
  std::string digest;  // of the snapshot: its version
  uint64_t item_count = 0;
  uint64_t path_count = 0;
  uint64_t node_count = 0;
  uint64_t file_bytes = 0;
  std::vector<uint32_t> level_sizes;
};

/// Checks `input` and writes its snapshot to `path` (through a temporary file; `path` is untouched
/// on error). Errors: CATALOGUE_INVALID naming the item and what was expected, IO_FAILED.
Result<BuildReport> build_snapshot(const CatalogueInput& input, const std::string& path,
                                   const Progress& progress);

}  // namespace tessera::catalogue
