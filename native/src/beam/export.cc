#include "beam/export.h"

#include <algorithm>
#include <array>
#include <utility>

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

/// Takes the items of path after path, as the policy says.
class ItemTaker {
 public:
  ItemTaker(const Reach& reach, const ExportOptions& options, Exported& result)
      : reach_(reach),
        options_(options),
        diversity_(reach.view(), options.policy),
        result_(result) {}

  /// Number of items taken of a SID; no more than there is room for in the answer.
  uint32_t take(const ItemList& items) {
    collect(items);
    uint32_t count = 0;
    for (const ItemOrdinal item : eligible_) {
      if (result_.item_ordinals.size() == options_.result_count) break;
      const bool is_capped = options_.items_per_sid > 0 && count == options_.items_per_sid;
      if (is_capped && options_.watched_item == catalogue::kNoItem) break;
      const bool is_watched = item == options_.watched_item;
      if (is_capped) {
        if (is_watched) result_.watched = ItemFate::kBehindSidCap;
        continue;
      }
      const uint32_t cap = diversity_.take(item);
      if (cap != catalogue::DiversityCount::kNone) {
        ++result_.left_out_by_diversity;
        if (is_watched) {
          result_.watched = ItemFate::kBehindDiversityCap;
          result_.watched_cap = cap;
        }
        continue;
      }
      if (is_watched) result_.watched = ItemFate::kTaken;
      result_.item_ordinals.push_back(item);
      ++count;
    }
    return count;
  }

 private:
  using ItemOrdinal = catalogue::ItemOrdinal;

  /// In the order in which they are to be taken.
  void collect(const ItemList& items) {
    eligible_.clear();
    const catalogue::ItemPolicy* policy = options_.policy;
    // Without a policy of its own the list is in order, and its first items are enough.
    const bool is_in_order = policy == nullptr && options_.watched_item == catalogue::kNoItem;
    const uint32_t enough = is_in_order ? cap() : UINT32_MAX;
    for (uint32_t i = 0; i < items.size() && eligible_.size() < enough; ++i) {
      if (reach_.may_get(items[i])) eligible_.push_back(items[i]);
    }
    if (policy == nullptr || !policy->has_order()) return;
    ordered_.clear();
    for (const ItemOrdinal item : eligible_) {
      ordered_.emplace_back(policy->order_of(reach_.view(), item), item);
    }
    std::stable_sort(ordered_.begin(), ordered_.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::transform(ordered_.begin(), ordered_.end(), eligible_.begin(),
                   [](const auto& entry) { return entry.second; });
  }

  uint32_t cap() const {
    const auto left = static_cast<uint32_t>(options_.result_count - result_.item_ordinals.size());
    return options_.items_per_sid > 0 ? std::min(options_.items_per_sid, left) : left;
  }

  const Reach& reach_;
  const ExportOptions& options_;
  catalogue::DiversityCount diversity_;
  Exported& result_;
  std::vector<ItemOrdinal> eligible_;
  std::vector<std::pair<double, ItemOrdinal>> ordered_;
};

}  // namespace

std::optional<float> score_when_full(std::span<const Finished> finished, const Reach& reach,
                                     const ExportOptions& options) {
  ExportOptions taking = options;
  taking.items_per_sid = std::max(options.items_per_sid, 1u);
  taking.watched_item = catalogue::kNoItem;
  Exported result;
  ItemTaker taker(reach, taking, result);
  for (const Finished& path : rank_paths(finished, reach.view(), UINT32_MAX)) {
    taker.take(reach.view().items(path.node));
    if (result.item_ordinals.size() == taking.result_count) return path.score;
  }
  return std::nullopt;
}

Exported export_items(std::span<const Finished> finished, const Reach& reach,
                      const ExportOptions& options, platform::ThreadPool& threads) {
  const View& view = reach.view();
  // A diversity cap may leave a path without items: then no path is surely enough.
  std::vector<Finished> paths =
      rank_paths(finished, view, options.is_diverse() ? UINT32_MAX : options.result_count);
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
  std::vector<Finished> taken_from;
  ItemTaker taker(reach, options, result);
  for (size_t p = 0; p < paths.size(); ++p) {
    if (result.item_ordinals.size() == options.result_count) break;
    const uint32_t taken = taker.take(lists[p]);
    if (taken == 0) {
      TESSERA_CHECK(options.is_diverse());
      continue;
    }
    result.item_scores.resize(result.item_ordinals.size(), paths[p].score);
    result.item_paths.resize(result.item_ordinals.size(), static_cast<uint32_t>(taken_from.size()));
    result.path_scores.push_back(paths[p].score);
    result.path_offsets.push_back(result.path_offsets.back() + depths[p]);
    taken_from.push_back(paths[p]);
  }
  result.path_codes.resize(result.path_offsets.back());
  for_paths(result.path_scores.size(), threads, [&](uint64_t begin, uint64_t end) {
    std::array<uint32_t, catalogue::kMaxDepth> sid;
    for (uint64_t p = begin; p < end; ++p) {
      const uint32_t depth = view.sid(taken_from[p].node, sid);
      std::copy_n(sid.begin(), depth, result.path_codes.begin() + result.path_offsets[p]);
    }
  });
  return result;
}

}  // namespace tessera::beam
