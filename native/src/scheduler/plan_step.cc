#include "scheduler/plan_step.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/check.h"

namespace tessera::scheduler {
namespace {

class Planner {
 public:
  Planner(std::span<const Runnable> runnable, std::span<const Link> links, const Budget& budget,
          PlanScratch& scratch, std::vector<Slice>& plan)
      : runnable_(runnable), links_(links), budget_(budget), scratch_(scratch), plan_(plan) {
    plan_.clear();
    scratch_.lengths.clear();
    for (const Runnable& r : runnable_) scratch_.lengths.push_back(r.length);
    scratch_.shared.resize(runnable_.size());
  }

  void plan_decodes();
  void plan_prompts();

 private:
  uint32_t prompt_left(uint32_t i) const {
    return runnable_[i].prompt_tokens - scratch_.lengths[i];
  }
  bool add_decode(uint32_t i);
  /// Rows of a prompt of any length, from where request i is, that the pass has room and time for.
  uint32_t rows_in_pass(uint32_t i) const;
  /// These rows of its prompt, or as many as may not be cut, or none where the pass has no room.
  uint32_t whole_rows(uint32_t i, uint32_t rows, bool is_oldest) const;
  void add_prompt(uint32_t i, uint32_t rows);

  std::span<const Runnable> runnable_;
  std::span<const Link> links_;
  const Budget& budget_;
  PlanScratch& scratch_;  // lengths: positions computed when the plan so far has run
  std::vector<Slice>& plan_;
  uint32_t rows_ = 0;         // planned
  uint32_t prompt_rows_ = 0;  // of these, prompt rows
  PassWork work_{};
};

bool Planner::add_decode(uint32_t i) {
  const Runnable& r = runnable_[i];
  TESSERA_CHECK(r.decode_rows <= budget_.rows && r.length == r.prompt_tokens);
  if (r.decode_rows > budget_.rows - rows_) return false;
  plan_.push_back({i, r.length, r.decode_rows});
  rows_ += r.decode_rows;
  work_.add_rows(r.decode_rows, r.length, false);
  return true;
}

void Planner::plan_decodes() {
  std::vector<uint32_t>& order = scratch_.order;
  order.clear();
  for (uint32_t i = 0; i < runnable_.size(); ++i) {
    if (runnable_[i].decode_rows > 0) order.push_back(i);
  }
  if (order.empty()) return;
  std::sort(order.begin() + 1, order.end(), [this](uint32_t a, uint32_t b) {
    return std::tuple(runnable_[a].priority, a) < std::tuple(runnable_[b].priority, b);
  });
  for (const uint32_t i : order) {
    if (!add_decode(i)) break;
  }
}

uint32_t Planner::rows_in_pass(uint32_t i) const {
  const uint32_t of_prompts = budget_.prompt_rows - std::min(budget_.prompt_rows, prompt_rows_);
  const uint32_t most = std::min(budget_.rows - rows_, of_prompts);
  if (budget_.time_us <= 0) return most;
  const PassCost& cost = budget_.cost;
  const double others = std::sqrt(static_cast<double>(runnable_.size()));
  const auto fits = [&](uint32_t rows) {
    PassWork work = work_;
    work.add_rows(rows, scratch_.lengths[i], true);
    const double alone_us = std::max(budget_.time_us, kPassParts * cost.fixed_us(work.rows));
    return cost.predict_us(work) <= alone_us * others;
  };
  uint32_t fitting = 0;
  for (uint32_t bound = most; fitting < bound;) {
    const uint32_t middle = bound - (bound - fitting) / 2;
    if (fits(middle)) {
      fitting = middle;
    } else {
      bound = middle - 1;
    }
  }
  const uint32_t least = runnable_.size() == 1 ? kPromptRowsMinAlone : kPromptRowsMin;
  const uint32_t sure = least - std::min(least, prompt_rows_);
  return std::max(fitting, std::min(most, sure));
}

uint32_t Planner::whole_rows(uint32_t i, uint32_t rows, bool is_oldest) const {
  const uint32_t length = scratch_.lengths[i];
  if (length >= runnable_[i].uncut) return rows;
  const uint32_t needed = runnable_[i].uncut - length;
  if (rows >= needed) return rows;
  return is_oldest && needed <= budget_.rows - rows_ ? needed : 0;
}

void Planner::add_prompt(uint32_t i, uint32_t rows) {
  if (rows == 0) return;
  const uint32_t first = scratch_.lengths[i];
  if (!plan_.empty() && plan_.back().runnable == i &&
      plan_.back().first + plan_.back().rows == first) {
    plan_.back().rows += rows;
  } else {
    plan_.push_back({i, first, rows});
  }
  rows_ += rows;
  prompt_rows_ += rows;
  work_.add_rows(rows, first, true);
  shared_with(links_, i, scratch_.shared);
  for (uint32_t j = 0; j < runnable_.size(); ++j) {
    uint32_t& length = scratch_.lengths[j];
    length = std::max(length, std::min(first + rows, scratch_.shared[j]));
  }
}

void Planner::plan_prompts() {
  std::vector<uint32_t>& order = scratch_.order;
  order.clear();
  for (uint32_t i = 0; i < runnable_.size(); ++i) {
    if (prompt_left(i) > 0) order.push_back(i);
  }
  if (order.empty()) return;
  const uint32_t oldest = order.front();
  const uint32_t rows = rows_in_pass(oldest);
  const uint32_t share =
      std::min({prompt_left(oldest), rows, std::max(1u, rows / kOldestPromptShare)});
  add_prompt(oldest, whole_rows(oldest, share, true));
  std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
    const auto key = [this](uint32_t i) {
      const Runnable& r = runnable_[i];
      return std::tuple(r.priority, r.prompt_tokens - r.length, r.slack_us, i);
    };
    return key(a) < key(b);
  });
  for (const uint32_t i : order) {
    add_prompt(i, whole_rows(i, std::min(prompt_left(i), rows_in_pass(i)), false));
  }
}

}  // namespace

void plan_step(std::span<const Runnable> runnable, std::span<const Link> links,
               const Budget& budget, PlanScratch& scratch, std::vector<Slice>& plan) {
  TESSERA_CHECK(runnable.size() == links.size());
  Planner planner(runnable, links, budget, scratch, plan);
  planner.plan_decodes();
  planner.plan_prompts();
}

}  // namespace tessera::scheduler
