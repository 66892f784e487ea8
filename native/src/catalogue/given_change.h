// A change as a caller gives it, before the catalogue that it is for looks at it
// (check_changes.cc). Thread-safety: a free function.
#pragma once

#include <cstddef>

#include "base/status.h"
#include "catalogue/change.h"

namespace tessera::catalogue {

/// Checks what a change of its kind must have, and writes its attributes without spaces, none as
/// "{}". Errors: CATALOGUE_INVALID, the message beginning with `changes[index].member`.
Status complete_change(size_t index, Change& change);

}  // namespace tessera::catalogue
