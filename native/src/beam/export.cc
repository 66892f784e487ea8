#include "beam/export.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/check.h"

namespace tessera::beam {

using catalogue::ItemRange;
using catalogue::Snapshot;

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
std::vector<Finished> rank_paths(std::span<const Finished> finished, const Snapshot& snapshot,
                                 uint32_t result_count) {
  std::vector<Finished> paths(finished.begin(), finished.end());
  std::sort(paths.begin(), paths.end(), [](const Finished& a, const Finished& b) {
    return a.node != b.node ? a.node < b.node : a.score > b.score;
  });
  const auto is_same = [](const Finished& a, const Finished& b) { return a.node == b.node; };
  paths.erase(std::unique(paths.begin(), paths.end(), is_same), paths.end());
  const auto before = [&snapshot](const Finished& a, const Finished& b) {
    return a.score != b.score ? a.score > b.score : snapshot.sid_before(a.node, b.node);
  };
  if (paths.size() > result_count) {
    std::nth_element(paths.begin(), paths.begin() + result_count, paths.end(), before);
    paths.resize(result_count);
  }
  std::sort(paths.begin(), paths.end(), before);
  return paths;
}

}  // namespace

Exported export_items(std::span<const Finished> finished, const Snapshot& snapshot,
                      const ExportOptions& options, platform::ThreadPool& threads) {
  std::vector<Finished> paths = rank_paths(finished, snapshot, options.result_count);
  std::vector<ItemRange> ranges(paths.size());
  std::vector<uint32_t> depths(paths.size());
  for_paths(paths.size(), threads, [&](uint64_t begin, uint64_t end) {
    for (uint64_t p = begin; p < end; ++p) {
      ranges[p] = snapshot.items(paths[p].node);
      depths[p] = snapshot.depth_of(paths[p].node);
    }
  });
  Exported result;
  result.path_offsets.push_back(0);
  for (size_t p = 0; p < paths.size(); ++p) {
    const auto left = static_cast<uint32_t>(options.result_count - result.item_ordinals.size());
    if (left == 0) break;
    TESSERA_CHECK(ranges[p].count > 0);
    uint32_t taken = std::min(ranges[p].count, left);
    if (options.items_per_sid > 0) taken = std::min(taken, options.items_per_sid);
    const size_t first = result.item_ordinals.size();
    result.item_ordinals.resize(first + taken);
    std::iota(result.item_ordinals.begin() + first, result.item_ordinals.end(), ranges[p].first);
    result.item_scores.resize(first + taken, paths[p].score);
    result.item_paths.resize(first + taken, static_cast<uint32_t>(p));
    result.path_scores.push_back(paths[p].score);
    result.path_offsets.push_back(result.path_offsets.back() + depths[p]);
  }
  result.path_codes.resize(result.path_offsets.back());
  for_paths(result.path_scores.size(), threads, [&](uint64_t begin, uint64_t end) {
    std::array<uint32_t, catalogue::kMaxDepth> sid;
    for (uint64_t p = begin; p < end; ++p) {
      const uint32_t depth = snapshot.sid(paths[p].node, sid);
      std::copy_n(sid.begin(), depth, result.path_codes.begin() + result.path_offsets[p]);
    }
  });
  return result;
}

}  // namespace tessera::beam
