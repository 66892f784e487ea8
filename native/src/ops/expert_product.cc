#include "ops/expert_product.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "ops/for_rows.h"
#include "ops/panel_product.h"

namespace tessera::ops {
namespace {

using device::kPanelColumns;

constexpr uint64_t kTaskRows = 32;  // rows times panels of a task, at most about

uint64_t pieces(uint64_t count, uint64_t size) { return (count + size - 1) / size; }

struct ExpertTask {
  const ExpertGroup* group = nullptr;
  uint64_t first = 0, rows = 0;  // among the group's
  uint64_t panel = 0, panels = 0;
};

/// The tasks of all groups over `panels` panels, group by group.
class ExpertTasks {
 public:
  ExpertTasks(std::span<const ExpertGroup> groups, uint64_t panels, uint64_t threads)
      : groups_(groups), panels_(panels) {
    const uint64_t pairs = groups.back().first + groups.back().count;
    task_rows_ = std::min(kTaskRows, pairs * panels / (threads * kTasksPerThread));
    uint64_t end = 0;
    for (size_t i = 0; i < groups.size(); ++i) {
      end += pieces(groups[i].count, kRowBlock) * pieces(panels, panels_of_task(groups[i]));
      ends_[i] = static_cast<uint32_t>(end);
    }
  }

  uint32_t count() const { return ends_[groups_.size() - 1]; }
  ExpertTask operator[](uint32_t number) const {
    const size_t i = static_cast<size_t>(
        std::upper_bound(ends_.begin(), ends_.begin() + groups_.size(), number) - ends_.begin());
    const ExpertGroup& group = groups_[i];
    const uint64_t task = number - (i == 0 ? 0 : ends_[i - 1]);
    const uint64_t blocks = pieces(group.count, kRowBlock);
    const uint64_t first = task % blocks * kRowBlock;
    const uint64_t panel = task / blocks * panels_of_task(group);
    return {&group, first, std::min<uint64_t>(kRowBlock, group.count - first), panel,
            std::min(panels_of_task(group), panels_ - panel)};
  }

 private:
  /// Panels of one task over a group's block of rows: few rows are read with many.
  uint64_t panels_of_task(const ExpertGroup& group) const {
    return std::max<uint64_t>(1, task_rows_ / group.count);
  }

  std::span<const ExpertGroup> groups_;
  uint64_t panels_;
  uint64_t task_rows_ = 0;                  // rows times panels of a task
  std::array<uint32_t, kExpertsMax> ends_;  // of each group
};

}  // namespace

void write_expert_rows(device::Device& device, const ExpertRows& rows, const float* x,
                       bool is_sorted, const Operand& operand) {
  TESSERA_CHECK(operand.rows >= rows.places());
  const device::PanelKernels& kernels = device.kernels().panel(operand.type);
  const std::span<const ExpertGroup> groups = rows.groups();
  for_rows(device, rows.rows().size(), operand.k, [&](uint64_t begin, uint64_t end) {
    auto group = std::partition_point(groups.begin(), groups.end(), [&](const ExpertGroup& one) {
      return one.first + one.count <= begin;
    });
    for (uint64_t pair = begin; pair < end; ++pair) {
      if (pair == group->first + group->count) ++group;
      const float* const from = x + (is_sorted ? pair : rows.rows()[pair]) * operand.k;
      write_rows(kernels, from, operand.k, group->place + pair - group->first, 1, operand);
    }
  });
}

void multiply_gated(device::Device& device, const ExpertRows& rows, const Operand& operand,
                    const GatedExperts& experts) {
  const std::span<const ExpertGroup> groups = rows.groups();
  if (groups.empty()) return;
  const uint64_t columns = experts.gates[0].columns, panels = experts.gates[0].panel_count();
  TESSERA_CHECK(experts.gates[0].k == operand.k && experts.gates[0].type == operand.type);
  const device::KernelTable& kernels = device.kernels();
  const device::PanelKernels& products = kernels.panel(operand.type);
  const ExpertTasks tasks(groups, panels, device.threads().thread_count());
  device.threads().parallel_tasks(tasks.count(), [&](uint32_t number, uint32_t) {
    alignas(64) float gate[kRowBlock * kPanelColumns];
    alignas(64) float up[kRowBlock * kPanelColumns];
    const ExpertTask task = tasks[number];
    const uint64_t place = task.group->place + task.first;
    for (uint64_t panel = task.panel; panel < task.panel + task.panels; ++panel) {
      multiply_panel(products, operand, place, task.rows, experts.gates[task.group->expert], panel,
                     gate);
      add_terms(kernels, experts.gate_terms, place, task.rows, panel, gate);
      multiply_panel(products, operand, place, task.rows, experts.ups[task.group->expert], panel,
                     up);
      add_terms(kernels, experts.up_terms, place, task.rows, panel, up);
      const uint64_t column = panel * kPanelColumns;
      const uint64_t n = std::min<uint64_t>(kPanelColumns, columns - column);
      float* y = experts.y + (task.group->first + task.first) * columns + column;
      for (uint64_t i = 0; i < task.rows; ++i, y += columns)
        kernels.silu_mul(gate + i * kPanelColumns, up + i * kPanelColumns, n, y);
    }
  });
}

void add_products(device::Device& device, const ExpertRows& rows, const Operand& operand,
                  const SummedExperts& experts) {
  const std::span<const ExpertGroup> groups = rows.groups();
  if (groups.empty()) return;
  const uint64_t columns = experts.matrices[0].columns, panels = experts.matrices[0].panel_count();
  TESSERA_CHECK(experts.matrices[0].k == operand.k && experts.matrices[0].type == operand.type);
  const device::KernelTable& kernels = device.kernels();
  const device::PanelKernels& products = kernels.panel(operand.type);
  const auto add_group = [&](const ExpertGroup& group, uint64_t panel, float* tile) {
    const uint64_t column = panel * kPanelColumns;
    const uint64_t n = std::min<uint64_t>(kPanelColumns, columns - column);
    for (uint64_t first = 0; first < group.count; first += kRowBlock) {
      const uint64_t count = std::min<uint64_t>(kRowBlock, group.count - first);
      const uint64_t place = group.place + first;
      multiply_panel(products, operand, place, count, experts.matrices[group.expert], panel, tile);
      add_terms(kernels, experts.terms, place, count, panel, tile);
      for (uint64_t i = 0; i < count; ++i) {
        const uint64_t pair = group.first + first + i;
        float* const y = experts.y + rows.rows()[pair] * columns + column;
        const void* const product = tile + i * kPanelColumns;
        kernels.weighted_sum_f32(y, 1, &product, &rows.weights()[pair], 1, n, 1, y);
      }
    }
  };
  device.threads().parallel_tasks(static_cast<uint32_t>(panels), [&](uint32_t panel, uint32_t) {
    alignas(64) float tile[kRowBlock * kPanelColumns];
    for (const ExpertGroup& group : groups) add_group(group, panel, tile);
  });
}

}  // namespace tessera::ops
