#include "beam/found_items.h"

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_map>
#include <utility>

#include "catalogue/checksum.h"

namespace tessera::beam {
namespace {

using catalogue::ItemList;
using catalogue::ItemOrdinal;
using catalogue::Reach;

class Finder {
 public:
  Finder(const Keys& keys, const Reach& reach, const FoundOptions& options)
      : keys_(keys), reach_(reach), options_(options) {}

  /// True if items of further paths, whose keys are no higher, may still be among the best.
  bool may_gain(float key) const {
    const size_t wanted = options_.answer.result_count;
    if (has_caps() || best_.size() < wanted) return true;
    return key >= best_.front();
  }

  void add(const FoundPath& path) {
    const size_t first = found_.size();
    const ItemList items = reach_.view().items(path.node);
    ordinals_.clear();
    for (uint32_t i = 0; i < items.size(); ++i) {
      if (reach_.may_get(items[i])) ordinals_.push_back(items[i]);
    }
    order();
    values_.clear();
    for (const ItemOrdinal item : ordinals_) {
      const float value = value_of(path.score, item);
      if (value == catalogue::kExcluded) continue;
      const auto place = static_cast<uint32_t>(values_.size());
      found_.push_back({value, path.score, path.node, item, place, 0});
      values_.push_back(value);
    }
    if (keys_.draw) draw(path, std::span(found_).subspan(first));
    const size_t cap = ordered_cap();
    size_t left = first;
    for (size_t i = first; i < found_.size() && left - first < cap; ++i) {
      if (is_out(found_[i], values_[i - first])) continue;
      note(found_[i].key);
      found_[left++] = found_[i];
    }
    found_.resize(left);
  }

  std::vector<FoundItem> take(Exported* counts) {
    std::sort(found_.begin(), found_.end(), [this](const FoundItem& a, const FoundItem& b) {
      return comes_before(reach_.view(), a, b);
    });
    const ExportOptions& answer = options_.answer;
    catalogue::DiversityCount diversity(reach_.view(), answer.policy);
    std::unordered_map<catalogue::NodeIndex, uint32_t> of_sid;
    for (const ItemOrdinal item : options_.taken) {
      (void)diversity.take(item);
      ++of_sid[reach_.view().node_of(item)];
    }
    std::vector<FoundItem> taken;
    Exported ignored;
    Exported& told = counts == nullptr ? ignored : *counts;
    for (const FoundItem& item : found_) {
      if (taken.size() == answer.result_count) break;
      const bool is_watched = item.item == answer.watched_item;
      if (answer.items_per_sid > 0 && of_sid[item.node] == answer.items_per_sid) {
        if (is_watched) told.watched = ItemFate::kBehindSidCap;
        continue;
      }
      const uint32_t cap = diversity.take(item.item);
      if (cap != catalogue::DiversityCount::kNone) {
        ++told.left_out_by_diversity;
        if (is_watched) told.watched = ItemFate::kBehindDiversityCap;
        if (is_watched) told.watched_cap = cap;
        continue;
      }
      if (is_watched) told.watched = ItemFate::kTaken;
      ++of_sid[item.node];
      taken.push_back(item);
    }
    return taken;
  }

 private:
  bool has_caps() const {
    return options_.answer.items_per_sid > 0 || options_.answer.is_diverse() ||
           options_.answer.watched_item != catalogue::kNoItem;
  }

  bool is_ordered() const {
    return options_.answer.policy != nullptr && options_.answer.policy->has_order();
  }

  /// A policy that orders the items of a SID decides which of them a cap lets pass.
  size_t ordered_cap() const {
    const uint32_t cap = options_.answer.items_per_sid;
    return is_ordered() && cap > 0 ? cap : SIZE_MAX;
  }

  void order() {
    const catalogue::ItemPolicy* policy = options_.answer.policy;
    if (!is_ordered()) return;
    std::stable_sort(ordinals_.begin(), ordinals_.end(), [&](ItemOrdinal a, ItemOrdinal b) {
      return policy->order_of(reach_.view(), a) > policy->order_of(reach_.view(), b);
    });
  }

  /// kExcluded: it is not to be had. Of a draw without a valuation nothing is excluded.
  float value_of(float score, ItemOrdinal item) const {
    if (keys_.appraiser == nullptr) return 0;
    return keys_.appraiser->value(score, keys_.appraiser->sum(item));
  }

  bool is_out(const FoundItem& item, float value) const {
    if (std::binary_search(options_.taken.begin(), options_.taken.end(), item.item)) return true;
    return keys_.appraiser != nullptr && value < keys_.appraiser->floor();
  }

  /// Items of a SID are as likely as each other.
  void draw(const FoundPath& path, std::span<FoundItem> items) {
    drawn_.assign(items.size(), Drawn{});
    const double share = exact_log(static_cast<double>(items.size()));
    for (size_t i = 0; i < items.size(); ++i) {
      const uint64_t name = catalogue::hash_item_id(reach_.view().item_id(items[i].item));
      drawn_[i].path = child_path(path.drawn.path, name);
      drawn_[i].log_p = path.drawn.log_p - share;
    }
    draw_children(path.drawn, drawn_);
    for (size_t i = 0; i < items.size(); ++i) {
      items[i].key = static_cast<float>(drawn_[i].key);
      items[i].log_p = drawn_[i].log_p;
    }
  }

  /// best_ is a heap, its least in front.
  void note(float key) {
    const size_t wanted = options_.answer.result_count;
    if (best_.size() == wanted && key <= best_.front()) return;
    if (best_.size() == wanted) {
      std::pop_heap(best_.begin(), best_.end(), std::greater<>());
      best_.pop_back();
    }
    best_.push_back(key);
    std::push_heap(best_.begin(), best_.end(), std::greater<>());
  }

  const Keys& keys_;
  const Reach& reach_;
  const FoundOptions& options_;
  std::vector<FoundItem> found_;
  std::vector<ItemOrdinal> ordinals_;
  std::vector<float> values_;  // of the path's items that are not excluded
  std::vector<Drawn> drawn_;
  std::vector<float> best_;
};

}  // namespace

bool comes_before(const catalogue::View& view, const FoundItem& a, const FoundItem& b) {
  if (a.key != b.key) return a.key > b.key;
  if (a.node != b.node) return view.sid_before(a.node, b.node);
  return a.place < b.place;
}

std::vector<FoundItem> find_items(std::span<const FoundPath> paths, const Keys& keys,
                                  const Reach& reach, const FoundOptions& options,
                                  Exported* counts) {
  std::vector<FoundPath> ordered(paths.begin(), paths.end());
  std::sort(ordered.begin(), ordered.end(),
            [](const FoundPath& a, const FoundPath& b) { return a.key > b.key; });
  Finder finder(keys, reach, options);
  for (const FoundPath& path : ordered) {
    if (!finder.may_gain(path.key)) break;
    finder.add(path);
  }
  return finder.take(counts);
}

void add_items(std::span<const FoundItem> items, const Reach& reach, Exported& exported) {
  if (exported.path_offsets.empty()) exported.path_offsets.push_back(0);
  std::unordered_map<catalogue::NodeIndex, uint32_t> paths;
  std::array<uint32_t, catalogue::kMaxDepth> sid;
  for (const FoundItem& item : items) {
    const auto next = static_cast<uint32_t>(exported.path_scores.size());
    const auto [path, is_new] = paths.emplace(item.node, next);
    if (is_new) {
      const uint32_t depth = reach.view().sid(item.node, sid);
      exported.path_scores.push_back(item.score);
      exported.path_codes.insert(exported.path_codes.end(), sid.begin(), sid.begin() + depth);
      exported.path_offsets.push_back(static_cast<uint32_t>(exported.path_codes.size()));
    }
    exported.item_ordinals.push_back(item.item);
    exported.item_scores.push_back(item.score);
    exported.item_paths.push_back(path->second);
  }
}

}  // namespace tessera::beam
