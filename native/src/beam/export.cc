#include "beam/export.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace tessera::beam {

using catalogue::ItemList;
using catalogue::Reach;
using catalogue::View;

namespace {

// Below this many paths waking the pool costs more than it saves (bench/catalogue_bench.cc prints
// both).
constexpr size_t kPathsPerThread = 2048;

void for_paths(size_t count, platform::ThreadPool& threads, const auto& work) {
  if (count < 2 * kPathsPerThread || threads.thread_count() == 1) {
    work(0, count);
  } else {
    threads.parallel_for(count, work);
  }
}

/// Distinct nodes with their best score, best first, no more than result_count: each gives an item
/// at least.
std::vector<Finished> rank_paths(std::span<const Finished> finished, const View& view,
                                 uint32_t result_count) {
  std::vector<Finished> paths(finished.begin(), finished.end());
  std::sort(paths.begin(), paths.end(), [](const Finished& a, const Finished& b) {
    return a.node != b.node ? a.node < b.node : a.score > b.score;
  });
  const auto is_same = [](const Finished& a, const Finished& b) { return a.node == b.node; };
  paths.erase(std::unique(paths.begin(), paths.end(), is_same), paths.end());
  const auto before = [&view](const Finished& a, const Finished& b) {
    return a.score != b.score ? a.score > b.score : view.sid_before(a.node, b.node);
  };
  if (paths.size() > result_count) {
    std::nth_element(paths.begin(), paths.begin() + result_count, paths.end(), before);
    paths.resize(result_count);
  }
  std::sort(paths.begin(), paths.end(), before);
  return paths;
}

/// Appends the first `count_max` items of the list that may be had; returns their number.
uint32_t take_items(const ItemList& items, const Reach& reach, uint32_t count_max,
                    std::vector<catalogue::ItemOrdinal>& taken) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < items.size() && count < count_max; ++i) {
    if (!reach.may_get(items[i])) continue;
    taken.push_back(items[i]);
    ++count;
  }
  return count;
}

}  // namespace

Exported export_items(std::span<const Finished> finished, const Reach& reach,
                      const ExportOptions& options, platform::ThreadPool& threads) {
  const View& view = reach.view();
  std::vector<Finished> paths = rank_paths(finished, view, options.result_count);
  std::vector<ItemList> lists(paths.size());
  std::vector<uint32_t> depths(paths.size());
  for_paths(paths.size(), threads, [&](uint64_t begin, uint64_t end) {
    for (uint64_t p = begin; p < end; ++p) {
      lists[p] = view.items(paths[p].node);
      depths[p] = view.depth_of(paths[p].node);
    }
  });
  Exported result;
  result.path_offsets.push_back(0);
  for (size_t p = 0; p < paths.size(); ++p) {
    const auto left = static_cast<uint32_t>(options.result_count - result.item_ordinals.size());
    if (left == 0) break;
    const uint32_t cap = options.items_per_sid > 0 ? std::min(options.items_per_sid, left) : left;
    const uint32_t taken = take_items(lists[p], reach, cap, result.item_ordinals);
    TESSERA_CHECK(taken > 0);
    result.item_scores.resize(result.item_ordinals.size(), paths[p].score);
    result.item_paths.resize(result.item_ordinals.size(), static_cast<uint32_t>(p));
    result.path_scores.push_back(paths[p].score);
    result.path_offsets.push_back(result.path_offsets.back() + depths[p]);
  }
  result.path_codes.resize(result.path_offsets.back());
  for_paths(result.path_scores.size(), threads, [&](uint64_t begin, uint64_t end) {
    std::array<uint32_t, catalogue::kMaxDepth> sid;
    for (uint64_t p = begin; p < end; ++p) {
      const uint32_t depth = view.sid(paths[p].node, sid);
      std::copy_n(sid.begin(), depth, result.path_codes.begin() + result.path_offsets[p]);
    }
  });
  return result;
}

}  // namespace tessera::beam
