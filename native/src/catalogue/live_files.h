// Names and marks of the files in a folder of changes: NUMBER.changes, DIGEST.snapshot, marks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "catalogue/change_log.h"

namespace tessera::catalogue {

std::string log_path_in(const std::string& folder, uint64_t generation);
std::string snapshot_path_in(const std::string& folder, const std::string& digest);
std::string marks_path_in(const std::string& folder);
/// Numbers of the logs, ascending.
std::vector<uint64_t> generations_in(const std::string& folder);

/// The newest log that the marks name is there, and marks are there where logs have a chain.
/// Errors: CATALOGUE_CORRUPT, IO_FAILED.
Status check_marks(const std::string& folder);
/// A log has what was acknowledged of it, and ends as a crash may leave it. Errors:
/// CATALOGUE_CORRUPT with the place and what can be read, IO_FAILED.
Status check_whole(const std::string& folder, uint64_t number, const LogContent& content);

}  // namespace tessera::catalogue
