// The limits that a request must keep to before anything is done for it.
#pragma once

#include "engine/options.h"
#include "engine/request.h"
#include "engine/served_model.h"

namespace tessera::engine {

/// REQUEST_INVALID naming the field, what was expected and what came.
Status check_limits(const Request& request, const EngineOptions& options, const ServedModel& model);

}  // namespace tessera::engine
