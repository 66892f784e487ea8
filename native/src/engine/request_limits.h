// The limits that a request must keep to before anything is done for it.
#pragma once

#include <cstdint>
#include <string>

#include "engine/options.h"
#include "engine/request.h"
#include "engine/served_model.h"

namespace tessera::engine {

/// REQUEST_INVALID, with a message that begins with the field.
Status invalid_request(const std::string& message);
/// "field: expected 1..max, got value".
std::string expected_range(const std::string& field, uint64_t max, uint64_t got);

/// REQUEST_INVALID naming the field, what was expected and what it got.
Status check_limits(const Request& request, const EngineOptions& options, const ServedModel& model);

}  // namespace tessera::engine
