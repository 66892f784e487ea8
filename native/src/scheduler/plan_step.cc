#include "scheduler/plan_step.h"

#include <algorithm>

#include "base/check.h"

namespace tessera::scheduler {

void plan_step(std::span<const Runnable> runnable, const Budget& budget, std::vector<Share>& plan) {
  plan.clear();
  uint32_t rows_left = budget.rows;
  for (uint32_t i = 0; i < runnable.size(); ++i) {
    const uint32_t rows = runnable[i].decode_rows;
    if (rows == 0) continue;
    TESSERA_CHECK(rows <= budget.rows && runnable[i].prompt_rows == 0);
    if (rows > rows_left) break;
    plan.push_back({i, rows});
    rows_left -= rows;
  }
  uint32_t prompt_rows_left = std::min(rows_left, budget.prompt_rows);
  for (uint32_t i = 0; i < runnable.size() && prompt_rows_left > 0; ++i) {
    const uint32_t rows = std::min(runnable[i].prompt_rows, prompt_rows_left);
    if (rows == 0) continue;
    plan.push_back({i, rows});
    prompt_rows_left -= rows;
  }
}

}  // namespace tessera::scheduler
