// Catalogue files of others, read into a CatalogueInput: the format is detected by content. Files
// are bounded, every refusal names file, line or key, what was expected and what it got, and a
// refused file changes nothing.
//
//   index.json      {"item": [c0, c1, ...]} or {"item": ["<a_236>", "<b_231>", ...]} (MiniOneRec,
//   LC-Rec, LETTER) sid2pid.json    {"key": [{"pid" | "iid", "count"?, ...}]}, key = (c0 * base +
//   c1) * base + c2 (OpenOneRec, OneReason) JSON lines      {"item_id", "sid", "title"?,
//   "attributes"?, "priority"?} per line snapshot        a file this engine built: its items are
//   taken over
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "catalogue/builder.h"
#include "catalogue/input.h"

namespace tessera::catalogue {

enum class FileFormat : uint8_t { kSnapshot, kIndexCodes, kIndexTokens, kSid2Pid, kJsonLines };

inline constexpr uint64_t kMaxJsonBytes =
    0xFFFF0000ull;                                   // of one JSON document, the parser's limit
inline constexpr uint64_t kMaxLineBytes = 1u << 20;  // of one JSON line
inline constexpr uint32_t kMaxDomainBytes = 256;

/// One file and the domain of its items: kept as attribute "domain" of each. Empty: none.
struct ImportSource {
  std::string path;
  std::string domain;
};

struct ImportOptions {
  uint32_t sid2pid_base = 8192;  // codes per level in a sid2pid key
  std::string
      titles_path;  // JSON {"item": {"title"}} or TSV with columns item and title; empty: none
  std::vector<uint32_t>
      level_sizes;  // declared; empty: sid2pid_base for sid2pid files, else derived by the builder
};

/// Format of the file at `path`, from its first bytes.
/// Errors: CATALOGUE_NOT_FOUND, CATALOGUE_INVALID when it is none of the formats, IO_FAILED.
Result<FileFormat> detect_format(const std::string& path);

/// All sources joined, in their order, with titles applied. The builder checks items against each
/// other. Errors: CATALOGUE_NOT_FOUND, CATALOGUE_INVALID, CATALOGUE_CORRUPT (a snapshot),
/// IO_FAILED.
Result<CatalogueInput> import_files(std::span<const ImportSource> sources,
                                    const ImportOptions& options, const Progress& progress);

/// Imports one source.
Result<CatalogueInput> import_file(const ImportSource& source, const ImportOptions& options,
                                   const Progress& progress);

}  // namespace tessera::catalogue
