#include "attention/attention.h"

#include <algorithm>
#include <utility>

#include "attention/query_tile.h"
#include "attention/row_group.h"
#include "base/check.h"

namespace tessera::attention {
namespace {

/// Queries of one group for one KV head, in tiles of nearly equal size.
struct Tiles {
  uint32_t queries = 0;
  uint32_t tiles = 0;

  QueryRange range(uint32_t tile) const {
    const auto begin = static_cast<uint32_t>(uint64_t{queries} * tile / tiles);
    const auto end = static_cast<uint32_t>(uint64_t{queries} * (tile + 1) / tiles);
    return {begin, end - begin};
  }
};

// Sizes of tiles, of which the largest is taken that gives every thread several. Of each size,
// whole register tiles of 32 and of nearly 6 rows.
constexpr uint32_t kTileSizes[] = {kTileQueries, 64, 32};
constexpr uint32_t kTasksPerThread = 3;

Tiles tiles_of(const Layer& layer, const RowGroup& group, uint32_t tile_queries) {
  const uint32_t queries = group.row_count * (layer.heads / layer.layout.kv_heads);
  return {queries, (queries + tile_queries - 1) / tile_queries};
}

uint32_t task_count(const Layer& layer, std::span<const RowGroup> groups, uint32_t tile_queries) {
  uint32_t tasks = 0;
  for (const RowGroup& group : groups) {
    tasks += tiles_of(layer, group, tile_queries).tiles * layer.layout.kv_heads;
  }
  return tasks;
}

/// Positions that the group's last row sees.
uint32_t longest(const RowGroup& group) {
  return group.beam != nullptr ? group.prompt->length + group.step
                               : group.first_position + group.row_count;
}

}  // namespace

Result<Scratch> Scratch::allocate(device::Device& device, uint32_t head_dim) {
  const device::KernelTable& kernels = device.kernels();
  Scratch scratch;
  for (const device::PanelType type : {device::PanelType::kF32, device::PanelType::kBf16}) {
    scratch.bytes_per_thread_ = std::max(
        scratch.bytes_per_thread_, QueryTile::scratch_bytes(type, kernels.panel(type), head_dim));
  }
  scratch.head_dim_ = head_dim;
  scratch.thread_count_ = device.threads().thread_count();
  Result<device::Buffer> memory =
      device.allocate(scratch.thread_count_ * scratch.bytes_per_thread_);
  if (!memory.is_ok()) return memory.status();
  scratch.memory_ = std::move(memory).value();
  return scratch;
}

void Scratch::order_tasks(const Layer& layer, std::span<const RowGroup> groups) {
  for (const uint32_t queries : kTileSizes) {
    tile_queries_ = queries;
    if (task_count(layer, groups, queries) >= kTasksPerThread * thread_count_) break;
  }
  order_.clear();
  for (uint32_t i = 0; i < groups.size(); ++i) order_.push_back({i, 0});
  std::sort(order_.begin(), order_.end(), [&](const GroupTasks& a, const GroupTasks& b) {
    const uint32_t of_a = longest(groups[a.group]), of_b = longest(groups[b.group]);
    return of_a != of_b ? of_a > of_b : a.group < b.group;
  });
  uint32_t end = 0;
  for (GroupTasks& tasks : order_) {
    end += tiles_of(layer, groups[tasks.group], tile_queries_).tiles * layer.layout.kv_heads;
    tasks.end = end;
  }
}

void attend(device::Device& device, const Layer& layer, std::span<const RowGroup> groups,
            const float* q, float* out, Scratch& scratch) {
  const uint32_t kv_heads = layer.layout.kv_heads;
  TESSERA_CHECK(kv_heads > 0 && layer.heads % kv_heads == 0);
  TESSERA_CHECK(layer.layout.head_dim == scratch.head_dim());
  for (const RowGroup& group : groups) check_group(group);
  scratch.order_tasks(layer, groups);
  const std::span<const GroupTasks> order = scratch.order();
  device.threads().parallel_tasks(
      order.empty() ? 0 : order.back().end, [&](uint32_t task, uint32_t thread) {
        const auto of = std::upper_bound(
            order.begin(), order.end(), task,
            [](uint32_t number, const GroupTasks& tasks) { return number < tasks.end; });
        const RowGroup& group = groups[of->group];
        const Tiles tiles = tiles_of(layer, group, scratch.tile_queries());
        const uint32_t from_end = of->end - 1 - task;  // the last rows see most and come first
        QueryTile(device.kernels(), layer, group, from_end % kv_heads,
                  tiles.range(from_end / kv_heads), scratch.of_thread(thread))
            .run(q, out);
      });
}

}  // namespace tessera::attention
