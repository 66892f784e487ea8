#include "ops/matmul.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "ops/for_rows.h"
#include "ops/panel_product.h"

namespace tessera::ops {
namespace {

using device::kPanelColumns;

constexpr uint64_t kGroupBytes = 1 << 20;  // of panels that a block of rows meets in turn
/// Columns of a task that writes an operand with static scales: a tile of it.
constexpr uint64_t kOperandColumns = device::panel_tile_depth(device::PanelType::kStaticI8);

/// Rows per task: a multiple of 32, which every operand form's row_block divides.
uint64_t row_block(uint64_t rows, uint64_t panels, uint64_t threads) {
  const uint64_t blocks = (threads * kTasksPerThread + panels - 1) / panels;
  const uint64_t wanted = (rows / blocks + kMinRowBlock - 1) / kMinRowBlock * kMinRowBlock;
  return std::clamp(wanted, kMinRowBlock, kRowBlock);
}

/// Panels that one block of rows meets before the next block does: the rows then come from the
/// second-level cache but once, and the panels are still near when the next block wants them.
uint64_t group_panels(device::PanelType type, uint64_t k) {
  return std::max<uint64_t>(1, kGroupBytes / device::panel_bytes(type, k));
}

struct Task {
  uint64_t panel, block;
};

/// In the order group by group, block by block, panel by panel.
Task nth_task(uint64_t n, uint64_t panels, uint64_t blocks, uint64_t group) {
  const uint64_t begin = n / (group * blocks) * group;
  const uint64_t count = std::min(group, panels - begin);
  const uint64_t rest = n - begin * blocks;
  return {begin + rest % count, rest / count};
}

/// INT8 products are four times as fast as those of floats, so what writing them costs counts; and
/// their kernels write once, where those of floats come back after each run of k.
bool writes_once(const Operand& operand) {
  return operand.type == device::PanelType::kI8 || operand.type == device::PanelType::kStaticI8;
}

/// Nothing that finish() does but the copy follows the product: it may be written where it belongs
/// at once.
bool is_product_alone(const Target& target) {
  return target.operand == nullptr && target.up == nullptr && !target.has_gelu &&
         target.bias == nullptr && !target.adds_to_y && target.terms.empty();
}

/// The lines that a task will write come into the cache while it multiplies.
void fetch_places(const Target& target, uint64_t first, uint64_t rows, uint64_t panel) {
  const float* y = target.y + first * target.y_stride + panel * kPanelColumns;
  for (uint64_t i = 0; i < rows; ++i, y += target.y_stride) {
    __builtin_prefetch(y, 1);
    __builtin_prefetch(y + kPanelColumns / 2, 1);
  }
}

/// The tile of one target's panel goes where it belongs.
void finish(const device::KernelTable& kernels, const Target& target, uint64_t first, uint64_t rows,
            uint64_t panel, float* tile, const float* up) {
  const uint64_t column = panel * kPanelColumns;
  const uint64_t n = std::min<uint64_t>(kPanelColumns, target.w->columns - column);
  for (uint64_t i = 0; i < rows; ++i) {
    float* row = tile + i * kPanelColumns;
    float* y = target.y + (first + i) * target.y_stride + column;
    if (target.bias != nullptr) kernels.add(target.bias + column, n, row);
    if (target.up != nullptr) {
      const auto gate = target.has_gelu ? kernels.gelu_mul : kernels.silu_mul;
      gate(row, up + i * kPanelColumns, n, y);
    } else if (target.has_gelu) {
      kernels.gelu(row, n, y);
    } else if (target.adds_to_y) {
      kernels.add(row, n, y);
    } else {
      std::memcpy(y, row, n * sizeof(float));
    }
  }
}

/// Tiles of a task on the stack.
struct Tiles {
  alignas(64) float product[kRowBlock * kOperandColumns];
  alignas(64) float up[kRowBlock * kOperandColumns];
};

/// Rows [first, first + rows) times the columns of two panels from `panel` on, written as columns
/// of the target's operand.
void run_to_operand(const device::KernelTable& kernels, const Operand& operand,
                    const Target& target, uint64_t first, uint64_t rows, uint64_t panel,
                    Tiles& tiles) {
  const device::PanelKernels& products = kernels.panel(operand.type);
  const uint64_t column = panel * kPanelColumns;
  const uint64_t n = std::min<uint64_t>(kOperandColumns, target.w->columns - column);
  multiply_panel(products, operand, first, rows, *target.w, panel, tiles.product, kOperandColumns);
  if (target.up != nullptr) {
    multiply_panel(products, operand, first, rows, *target.up, panel, tiles.up, kOperandColumns);
  }
  for (uint64_t i = 0; i < rows; ++i) {
    float* row = tiles.product + i * kOperandColumns;
    if (target.bias != nullptr) kernels.add(target.bias + column, n, row);
    if (target.up != nullptr) {
      const auto gate = target.has_gelu ? kernels.gelu_mul : kernels.silu_mul;
      gate(row, tiles.up + i * kOperandColumns, n, row);
    } else if (target.has_gelu) {
      kernels.gelu(row, n, row);
    }
  }
  write_columns(kernels.panel(target.operand->type), tiles.product, kOperandColumns, first, rows,
                column, n, *target.operand);
}

/// Multiplies by one panel and writes to the target's y.
void run_to_floats(const device::KernelTable& kernels, const Operand& operand, const Target& target,
                   uint64_t first, uint64_t rows, uint64_t panel, Tiles& tiles) {
  const device::PanelKernels& products = kernels.panel(operand.type);
  const bool at_once = writes_once(operand);
  if (at_once) fetch_places(target, first, rows, panel);
  if (at_once && is_product_alone(target)) {
    const uint64_t column = panel * kPanelColumns;
    multiply_panels(products, operand, first, rows, *target.w, panel,
                    std::min<uint64_t>(kPanelColumns, target.w->columns - column),
                    target.y + first * target.y_stride + column, target.y_stride);
    return;
  }
  multiply_panel(products, operand, first, rows, *target.w, panel, tiles.product);
  add_terms(kernels, target.terms, first, rows, panel, tiles.product);
  if (target.up != nullptr) {
    multiply_panel(products, operand, first, rows, *target.up, panel, tiles.up);
    add_terms(kernels, target.up_terms, first, rows, panel, tiles.up);
  }
  finish(kernels, target, first, rows, panel, tiles.product, tiles.up);
}

/// Panels of a target that a task multiplies.
uint64_t panels_of_task(const Target& target) {
  return target.operand == nullptr ? 1 : kOperandColumns / kPanelColumns;
}

uint64_t tasks_of(const Target& target) {
  const uint64_t panels = panels_of_task(target);
  return (target.w->panel_count() + panels - 1) / panels;
}

void check(const Operand& operand, const Target& target) {
  TESSERA_CHECK(target.w->k == operand.k && target.w->type == operand.type);
  TESSERA_CHECK(target.up == nullptr || target.up->columns == target.w->columns);
  TESSERA_CHECK(!(target.has_gelu && target.adds_to_y));
  if (target.operand == nullptr) {
    TESSERA_CHECK(target.y_stride >= target.w->columns);
    return;
  }
  const Operand& to = *target.operand;
  TESSERA_CHECK(to.type == device::PanelType::kStaticI8 && to.data != operand.data);
  TESSERA_CHECK(to.k == target.w->columns && to.rows == operand.rows);
  TESSERA_CHECK(!target.adds_to_y && target.terms.empty() && target.up_terms.empty());
}

}  // namespace

void matmul(device::Device& device, const Operand& operand, std::span<const Target> targets) {
  uint64_t panels = 0;  // or pairs of them: what a task multiplies
  for (const Target& target : targets) {
    check(operand, target);
    TESSERA_CHECK((target.operand == nullptr) == (targets[0].operand == nullptr));
    panels += tasks_of(target);
  }
  if (operand.rows == 0 || panels == 0) return;
  const device::KernelTable& kernels = device.kernels();
  const uint64_t block = row_block(operand.rows, panels, device.threads().thread_count());
  const uint64_t blocks = (operand.rows + block - 1) / block;
  const uint64_t at_once = panels_of_task(targets[0]);
  const uint64_t group = group_panels(operand.type, operand.k * at_once);
  const auto run_task = targets[0].operand == nullptr ? run_to_floats : run_to_operand;
  const auto run = [&](uint64_t begin, uint64_t end) {
    Tiles tiles;
    for (uint64_t task = begin; task < end; ++task) {
      const Target* target = targets.data();
      auto [panel, part] = nth_task(task, panels, blocks, group);
      while (panel >= tasks_of(*target)) panel -= tasks_of(*target++);
      const uint64_t first = part * block;
      const uint64_t rows = std::min(block, operand.rows - first);
      run_task(kernels, operand, *target, first, rows, panel * at_once, tiles);
    }
  };
  const uint64_t rows_of_task = std::min(block, operand.rows);
  const uint64_t columns_of_task = at_once * kPanelColumns;
  for_rows(device, panels * blocks,
           rows_of_task * columns_of_task * operand.k / kProductsPerElement, run);
}

}  // namespace tessera::ops
