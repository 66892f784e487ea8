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
bool writes_once(const Operand& operand) { return operand.type == device::PanelType::kI8; }

/// Nothing that finish() does but the copy follows the product: it may be written where it belongs
/// at once.
bool is_product_alone(const Target& target) {
  return target.up == nullptr && !target.has_gelu && target.bias == nullptr && !target.adds_to_y &&
         target.terms.empty();
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

}  // namespace

void matmul(device::Device& device, const Operand& operand, std::span<const Target> targets) {
  uint64_t panels = 0;
  for (const Target& target : targets) {
    TESSERA_CHECK(target.w->k == operand.k && target.w->type == operand.type);
    TESSERA_CHECK(target.y_stride >= target.w->columns);
    TESSERA_CHECK(target.up == nullptr || target.up->columns == target.w->columns);
    TESSERA_CHECK(!(target.has_gelu && target.adds_to_y));
    panels += target.w->panel_count();
  }
  if (operand.rows == 0 || panels == 0) return;
  const device::KernelTable& kernels = device.kernels();
  const device::PanelKernels& products = kernels.panel(operand.type);
  const uint64_t block = row_block(operand.rows, panels, device.threads().thread_count());
  const uint64_t blocks = (operand.rows + block - 1) / block;
  const uint64_t group = group_panels(operand.type, operand.k);
  const bool at_once = writes_once(operand);
  const auto run = [&](uint64_t begin, uint64_t end) {
    alignas(64) float tile[kRowBlock * kPanelColumns];
    alignas(64) float up[kRowBlock * kPanelColumns];
    for (uint64_t task = begin; task < end; ++task) {
      const Target* target = targets.data();
      auto [panel, part] = nth_task(task, panels, blocks, group);
      while (panel >= target->w->panel_count()) panel -= (target++)->w->panel_count();
      const uint64_t first = part * block;
      const uint64_t rows = std::min(block, operand.rows - first);
      if (at_once) fetch_places(*target, first, rows, panel);
      if (at_once && is_product_alone(*target)) {
        const uint64_t column = panel * kPanelColumns;
        multiply_panels(products, operand, first, rows, *target->w, panel,
                        std::min<uint64_t>(kPanelColumns, target->w->columns - column),
                        target->y + first * target->y_stride + column, target->y_stride);
        continue;
      }
      multiply_panel(products, operand, first, rows, *target->w, panel, tile);
      add_terms(kernels, target->terms, first, rows, panel, tile);
      if (target->up != nullptr) {
        multiply_panel(products, operand, first, rows, *target->up, panel, up);
        add_terms(kernels, target->up_terms, first, rows, panel, up);
      }
      finish(kernels, *target, first, rows, panel, tile, up);
    }
  };
  const uint64_t rows_of_task = std::min(block, operand.rows);
  for_rows(device, panels * blocks, rows_of_task * kPanelColumns * operand.k / kProductsPerElement,
           run);
}

}  // namespace tessera::ops
