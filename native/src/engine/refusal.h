// Why a request ends without having been computed to its end, and its completion.
#pragma once

#include <utility>

#include "engine/request.h"

namespace tessera::engine {

inline Completion refusal_of(const Request& request, Status status, uint32_t retry_after_us = 0) {
  Completion completion;
  completion.ticket = request.ticket;
  completion.status = std::move(status);
  completion.retry_after_us = retry_after_us;
  return completion;
}

/// Not ok once the deadline is over.
inline Status deadline_status(const Request& request, Clock::time_point now) {
  if (now < request.deadline) return Status::ok();
  return {Code::kDeadlineExceeded, "the deadline passed before the answer was ready"};
}

}  // namespace tessera::engine
