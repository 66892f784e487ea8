// The refusal of a member of a request.
#pragma once

#include <string>

#include "base/status.h"

namespace tessera::catalogue {

/// REQUEST_INVALID naming the member at `path`.
inline Status invalid_member(const std::string& path, const std::string& message) {
  return {Code::kRequestInvalid, path + ": " + message};
}

}  // namespace tessera::catalogue
