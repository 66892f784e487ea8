// Saves the readable changes of a damaged folder, and makes a log of them.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace tessera::catalogue {

struct ChangesRepair {
  std::string damage;         // empty: the folder is whole, nothing was done
  uint64_t acknowledged = 0;  // number of the newest change, at least
  uint64_t readable = 0;      // changes up to this number can be had
  std::string log;            // the one that they are read from
  std::string aside;          // folder with the damaged files; empty where nothing was changed
};

enum class ChangesRepairMode : uint8_t {
  kLook = 0,   // changes nothing
  kApply = 1,  // a new log is made of what can be read; numbers go on behind `acknowledged`
};

/// Repairs a folder that no process has open. Errors: IO_FAILED, also when it is in use;
/// STORE_FULL; CATALOGUE_CORRUPT when no log can be read.
Result<ChangesRepair> repair_changes(const std::string& folder, ChangesRepairMode mode);

}  // namespace tessera::catalogue
