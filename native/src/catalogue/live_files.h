// Names and marks of the files in a folder of changes: NUMBER.changes, DIGEST.snapshot, marks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "catalogue/change_log.h"
#include "platform/log_marks.h"

namespace tessera::catalogue {

std::string log_path_in(const std::string& folder, uint64_t generation);
std::string snapshot_path_in(const std::string& folder, const std::string& digest);
std::string marks_path_in(const std::string& folder);
/// Numbers of the logs, ascending.
std::vector<uint64_t> generations_in(const std::string& folder);

/// The newest log that the marks name is there, and marks are there where logs have a chain.
/// Errors: CATALOGUE_CORRUPT, IO_FAILED.
Status check_marks(const std::string& folder);
/// A log has its acknowledged changes, and ends as a crash may leave it. `marks` were read before
/// the log, since both go on meanwhile. Errors: CATALOGUE_CORRUPT with the place.
Status check_whole(const std::string& folder, uint64_t number, const LogContent& content,
                   std::span<const platform::LogMark> marks);
/// A log that is whole. Errors: those of ChangeLog::read and check_whole, IO_FAILED.
Result<LogContent> read_whole(const std::string& folder, uint64_t number);

}  // namespace tessera::catalogue
