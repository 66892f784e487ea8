// Times that answers and metrics have.
#pragma once

#include <chrono>

#include "engine/request.h"

namespace tessera::engine {

inline float microseconds_since(Clock::time_point start) {
  return std::chrono::duration<float, std::micro>(Clock::now() - start).count();
}

}  // namespace tessera::engine
