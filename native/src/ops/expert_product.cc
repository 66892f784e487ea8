#include "ops/expert_product.h"

#include <algorithm>
#include <array>
#include <cstring>

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

namespace {

/// Each pair's own floats, or those of its row where it cannot be copied.
void write_pairs(device::Device& device, const ExpertRows& rows, const float* x, bool is_sorted,
                 std::span<const float> scales, const Operand& operand) {
  const device::PanelKernels& kernels = device.kernels().panel(operand.type);
  const std::span<const ExpertGroup> groups = rows.groups();
  for_rows(device, rows.rows().size(), operand.k, [&](uint64_t begin, uint64_t end) {
    auto group = std::partition_point(groups.begin(), groups.end(), [&](const ExpertGroup& one) {
      return one.first + one.count <= begin;
    });
    Operand to = operand;
    for (uint64_t pair = begin; pair < end; ++pair) {
      if (pair == group->first + group->count) ++group;
      if (!scales.empty()) to.fixed_scale = scales[group->expert];
      const float* const from = x + (is_sorted ? pair : rows.rows()[pair]) * operand.k;
      write_rows(kernels, from, operand.k, group->place + pair - group->first, 1, to);
    }
  });
}

/// Each row once, and copies of it. REQUIRES: rows of the operand lie one after the other.
void write_copies(device::Device& device, const ExpertRows& rows, const float* x,
                  const Operand& operand) {
  const device::PanelKernels& kernels = device.kernels().panel(operand.type);
  const uint64_t bytes = kernels.operand_row_bytes(operand.k);
  const uint64_t scales = device::operand_scales(operand.type, operand.k);
  char* const data = static_cast<char*>(operand.data);
  const auto write = [&](uint64_t begin, uint64_t end) {
    for (uint64_t row = begin; row < end; ++row) {
      const std::span<const uint32_t> places = rows.places_of(row);
      const uint64_t first = places[0];
      write_rows(kernels, x + row * operand.k, operand.k, first, 1, operand);
      for (const uint64_t place : places.subspan(1)) {
        std::memcpy(data + place * bytes, data + first * bytes, bytes);
        if (scales > 0)
          std::copy_n(operand.scales + first * scales, scales, operand.scales + place * scales);
      }
    }
  };
  const uint64_t count = rows.row_count();
  if (count > 0) for_rows(device, count, operand.k * rows.places_of(0).size(), write);
}

}  // namespace

void write_expert_rows(device::Device& device, const ExpertRows& rows, const float* x,
                       bool is_sorted, std::span<const float> scales, const Operand& operand) {
  TESSERA_CHECK(operand.rows >= rows.places());
  const bool can_copy = device.kernels().panel(operand.type).row_block == 1;
  if (is_sorted || !scales.empty() || !can_copy) {
    write_pairs(device, rows, x, is_sorted, scales, operand);
  } else {
    write_copies(device, rows, x, operand);
  }
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

uint64_t down_parts(uint64_t rows, uint64_t pairs, uint64_t groups, uint64_t panels,
                    uint64_t threads) {
  const uint64_t wanted = pieces(threads * kTasksPerThread, panels);
  // A part reads the weights of every expert that its rows chose: as many rows must share them.
  const uint64_t most = std::min(pairs / (groups * kMinRowBlock), rows);
  return threads < panels ? 1 : std::clamp<uint64_t>(most, 1, wanted);
}

namespace {

/// Pairs of a group whose rows are in [begin, end): they follow each other.
struct PairRange {
  uint64_t first = 0, end = 0;  // among the group's
};

PairRange pairs_of_rows(const ExpertRows& rows, const ExpertGroup& group, uint64_t begin,
                        uint64_t end) {
  if (begin == 0 && end == rows.row_count()) return {0, group.count};
  const std::span<const uint32_t> of_group = rows.rows().subspan(group.first, group.count);
  const auto first = std::lower_bound(of_group.begin(), of_group.end(), begin);
  const auto last = std::lower_bound(first, of_group.end(), end);
  return {static_cast<uint64_t>(first - of_group.begin()),
          static_cast<uint64_t>(last - of_group.begin())};
}

}  // namespace

void add_products(device::Device& device, const ExpertRows& rows, const Operand& operand,
                  const SummedExperts& experts) {
  const std::span<const ExpertGroup> groups = rows.groups();
  if (groups.empty()) return;
  const uint64_t columns = experts.matrices[0].columns, panels = experts.matrices[0].panel_count();
  TESSERA_CHECK(experts.matrices[0].k == operand.k && experts.matrices[0].type == operand.type);
  const device::KernelTable& kernels = device.kernels();
  const device::PanelKernels& products = kernels.panel(operand.type);
  // A product begins at a whole block of the operand: rows before the range are computed as well.
  const auto add_group = [&](const ExpertGroup& group, const PairRange& range, uint64_t panel,
                             float* tile) {
    const uint64_t column = panel * kPanelColumns;
    const uint64_t n = std::min<uint64_t>(kPanelColumns, columns - column);
    uint64_t first = range.first / products.row_block * products.row_block;
    for (; first < range.end; first += kRowBlock) {
      const uint64_t count = std::min<uint64_t>(kRowBlock, range.end - first);
      const uint64_t place = group.place + first;
      multiply_panel(products, operand, place, count, experts.matrices[group.expert], panel, tile);
      add_terms(kernels, experts.terms, place, count, panel, tile);
      for (uint64_t i = std::max(range.first, first) - first; i < count; ++i) {
        const uint64_t pair = group.first + first + i;
        float* const y = experts.y + rows.rows()[pair] * columns + column;
        const void* const product = tile + i * kPanelColumns;
        kernels.weighted_sum_f32(y, 1, &product, &rows.weights()[pair], 1, n, 1, y);
      }
    }
  };
  const uint64_t count = rows.row_count();
  const uint64_t parts =
      down_parts(count, rows.rows().size(), groups.size(), panels, device.threads().thread_count());
  const auto tasks = static_cast<uint32_t>(panels * parts);
  device.threads().parallel_tasks(tasks, [&](uint32_t task, uint32_t) {
    alignas(64) float tile[kRowBlock * kPanelColumns];
    const uint64_t begin = count * (task / panels) / parts;
    const uint64_t end = count * (task / panels + 1) / parts;
    for (const ExpertGroup& group : groups)
      add_group(group, pairs_of_rows(rows, group, begin, end), task % panels, tile);
  });
}

}  // namespace tessera::ops
