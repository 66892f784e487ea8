#include "engine/tasks/tasks.h"

#include <array>

namespace tessera::engine {

const Task* task_of(uint8_t code) {
  // The order is the boundary's (libs/engine/src/request-kinds.ts): a new kind goes to the end.
  static const std::array<const Task*, 3> tasks{&recall_task(), &score_task(), &append_task()};
  return code < tasks.size() ? tasks[code] : nullptr;
}

}  // namespace tessera::engine
