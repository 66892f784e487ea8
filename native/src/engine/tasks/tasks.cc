#include "engine/tasks/tasks.h"

#include <algorithm>
#include <array>
#include <span>

namespace tessera::engine {

namespace {

/// In the order of the boundary (native/abi/request.mjs): a new kind goes to the end.
std::span<const Task* const> all_tasks() {
  static const std::array<const Task*, 5> tasks{&recall_task(), &score_task(), &append_task(),
                                                &relevance_task(), &rank_task()};
  return tasks;
}

}  // namespace

const Task* task_of(uint32_t code) {
  return code < all_tasks().size() ? all_tasks()[code] : nullptr;
}

uint32_t code_of(const Task* task) {
  const auto tasks = all_tasks();
  const auto found = std::find(tasks.begin(), tasks.end(), task);
  return task == nullptr ? 0 : static_cast<uint32_t>(found - tasks.begin());
}

}  // namespace tessera::engine
