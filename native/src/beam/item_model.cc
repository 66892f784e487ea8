#include "beam/item_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "catalogue/test_clause.h"

namespace tessera::beam {

using catalogue::Change;
using catalogue::ChangeKind;
using catalogue::Clause;
using catalogue::ClauseKind;
using catalogue::CountedCap;
using catalogue::joined_clause;
using catalogue::range_clause;
using catalogue::text_clause;

namespace {

ModelAttributes random_attributes(std::mt19937_64& random) {
  ModelAttributes attributes;
  const char* countries[] = {"", "de", "fr", "jp"};
  attributes.country = countries[random() % 4];
  for (const char* label : {"new", "sale", "top"}) {
    if (random() % 3 == 0) attributes.labels.push_back(label);
  }
  if (random() % 4 != 0) attributes.bid = static_cast<double>(random() % 8) / 2;
  return attributes;
}

using Test = std::function<bool(const ModelAttributes&)>;

/// A predicate as a request gives it and as a function.
std::pair<Clause, Test> random_predicate(std::mt19937_64& random, uint32_t depth) {
  const uint64_t kind = random() % (depth == 0 ? 3 : 6);
  if (kind == 0) {
    const std::string country = random() % 2 == 0 ? "de" : "xx";
    return {
        text_clause(ClauseKind::kIn, "country", {"fr", country}),
        [country](const ModelAttributes& a) { return a.country == "fr" || a.country == country; }};
  }
  if (kind == 1) {
    const std::string label = random() % 2 == 0 ? "new" : "top";
    return {text_clause(ClauseKind::kContains, "labels", {label}),
            [label](const ModelAttributes& a) {
              return std::count(a.labels.begin(), a.labels.end(), label) > 0;
            }};
  }
  if (kind == 2) {
    const double min = static_cast<double>(random() % 8) / 2;
    const bool has_max = random() % 2 == 0;
    const double max = has_max ? min + 1 : std::numeric_limits<double>::infinity();
    return {range_clause("bid", min, max), [min, has_max](const ModelAttributes& a) {
              return a.bid >= min && (!has_max || a.bid <= min + 1);
            }};
  }
  const auto [one, is_one] = random_predicate(random, depth - 1);
  if (kind == 3) {
    return {joined_clause(ClauseKind::kNot, {one}),
            [is_one](const ModelAttributes& a) { return !is_one(a); }};
  }
  const auto [two, is_two] = random_predicate(random, depth - 1);
  const bool is_all = kind == 4;
  return {joined_clause(is_all ? ClauseKind::kAll : ClauseKind::kAny, {one, two}),
          [is_one, is_two, is_all](const ModelAttributes& a) {
            return is_all ? is_one(a) && is_two(a) : is_one(a) || is_two(a);
          }};
}

std::vector<std::string> some_items(const ItemModel& model, std::mt19937_64& random) {
  std::vector<std::string> ids = {"never-was"};
  for (const auto& [id, item] : model.items()) {
    if (random() % 3 == 0) ids.push_back(id);
  }
  return ids;
}

std::vector<CountedCap> random_caps(const ItemModel& model, std::mt19937_64& random) {
  std::vector<CountedCap> caps(1 + random() % 3);
  for (size_t i = 0; i < caps.size(); ++i) {
    CountedCap& cap = caps[i];
    cap.path = "frequencyCaps[" + std::to_string(i) + "]";
    cap.attribute = random() % 2 == 0 ? "country" : "";
    cap.behaviours_max = static_cast<uint32_t>(1 + random() % 6);
    cap.items = some_items(model, random);
    for (size_t k = 0; k < cap.items.size(); ++k) {
      cap.behaviours.push_back(static_cast<uint32_t>(1 + random() % 3));
    }
  }
  return caps;
}

/// By the rule of docs/concepts/eligibility.md: each behaviour of the user with the item, or with
/// one that shares its country, counts.
bool is_full(const CountedCap& cap, const ItemModel& model, const std::string& id,
             const ModelItem& item) {
  uint32_t count = 0;
  for (size_t i = 0; i < cap.items.size(); ++i) {
    const auto other = model.items().find(cap.items[i]);
    const bool is_counted =
        cap.attribute.empty() ? cap.items[i] == id
                              : other != model.items().end() && !item.attributes.country.empty() &&
                                    other->second.attributes.country == item.attributes.country;
    if (is_counted) count += cap.behaviours[i];
  }
  return count >= cap.behaviours_max;
}

}  // namespace

std::string ModelAttributes::json() const {
  std::string text = "{";
  const auto add = [&text](const std::string& member) {
    text += (text.size() > 1 ? "," : "") + member;
  };
  if (!country.empty()) add("\"country\":\"" + country + "\"");
  std::string list;
  for (const std::string& label : labels) list += (list.empty() ? "\"" : ",\"") + label + "\"";
  if (!labels.empty()) add("\"labels\":[" + list + "]");
  if (bid >= 0) add("\"bid\":" + std::to_string(bid));
  return text + "}";
}

ItemModel::ItemModel(const RandomCase& test) : level_sizes_(test.level_sizes) {
  for (size_t i = 0; i < test.sids.size(); ++i) {
    items_[test.item_ids[i]] = {test.sids[i], test.priorities[i], false, test_attributes(i)};
  }
}

ModelAttributes ItemModel::test_attributes(uint64_t i) {
  std::mt19937_64 random(i);
  return random_attributes(random);
}

Change ItemModel::draw(std::mt19937_64& random) {
  Change change;
  const bool is_known = !items_.empty() && random() % 4 != 0;
  if (is_known) {
    change.item_id = std::next(items_.begin(), random() % items_.size())->first;
    change.kind = static_cast<ChangeKind>(random() % catalogue::kItemChangeKinds);
  } else {
    change.item_id = "new-" + std::to_string(random() % 30);
  }
  change.priority = static_cast<double>(random() % 3);
  const ModelAttributes attributes = random_attributes(random);
  change.attributes = attributes.json();
  drawn_[change.attributes] = attributes;
  if (change.kind != ChangeKind::kUpsert) return change;
  const uint64_t length = 1 + random() % level_sizes_.size();
  for (uint64_t level = 0; level < length; ++level) {
    change.sid.push_back(static_cast<uint32_t>(random() % level_sizes_[level]));
  }
  return change;
}

void ItemModel::learn(const ItemModel& other) {
  drawn_.insert(other.drawn_.begin(), other.drawn_.end());
}

void ItemModel::apply(const Change& change) {
  switch (change.kind) {
    case ChangeKind::kUpsert: {
      ModelItem& item = items_[change.item_id];
      item = {change.sid, change.priority, item.is_paused, drawn_.at(change.attributes)};
      break;
    }
    case ChangeKind::kPause: items_.at(change.item_id).is_paused = true; break;
    case ChangeKind::kResume: items_.at(change.item_id).is_paused = false; break;
    case ChangeKind::kRemove: items_.erase(change.item_id); break;
    case ChangeKind::kSetAttributes:
      items_.at(change.item_id).attributes = drawn_.at(change.attributes);
      break;
    case ChangeKind::kSetPriority: items_.at(change.item_id).priority = change.priority; break;
    case ChangeKind::kSetPace:
    case ChangeKind::kPatchAttributes: FAIL() << "expected a change of one item as it is applied";
  }
}

std::vector<Sid> ItemModel::sids_to_be_had(const ModelFilter& filter) const {
  std::vector<Sid> sids;
  for (const auto& [id, item] : items_) {
    if (!item.is_paused && filter.lets_pass(*this, id, item)) sids.push_back(item.sid);
  }
  return sids;
}

std::vector<Sid> ItemModel::live_sids() const {
  std::vector<Sid> sids;
  for (const auto& [id, item] : items_) {
    if (!item.is_paused) sids.push_back(item.sid);
  }
  return sids;
}

std::vector<std::string> ItemModel::items_to_be_had(const Sid& sid,
                                                    const ModelFilter& filter) const {
  std::vector<std::pair<double, std::string>> found;
  for (const auto& [id, item] : items_) {
    if (item.is_paused || item.sid != sid || !filter.lets_pass(*this, id, item)) continue;
    found.emplace_back(-item.priority, id);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> ids;
  for (const auto& [minus_priority, id] : found) ids.push_back(id);
  return ids;
}

ModelFilter random_filter(const ItemModel& model, std::mt19937_64& random) {
  ModelFilter filter;
  Test test = [](const ModelAttributes&) { return true; };
  if (random() % 3 != 0) {
    auto [predicate, function] = random_predicate(random, 2);
    const Status completed = catalogue::complete_predicate(predicate);
    EXPECT_TRUE(completed.is_ok()) << completed.message();
    filter.request.predicate = std::move(predicate);
    test = function;
  }
  if (random() % 4 == 0) filter.request.allowed = some_items(model, random);
  if (random() % 4 == 0) filter.request.denied = some_items(model, random);
  if (random() % 4 == 0) filter.request.seen = some_items(model, random);
  if (random() % 3 == 0) filter.request.caps = random_caps(model, random);
  const catalogue::EligibilityRequest request = filter.request;
  filter.is_capped = [request](const ItemModel& now, const std::string& id, const ModelItem& item) {
    return std::any_of(request.caps.begin(), request.caps.end(),
                       [&](const CountedCap& cap) { return is_full(cap, now, id, item); });
  };
  filter.lets_pass = [request, test, is_capped = filter.is_capped](
                         const ItemModel& now, const std::string& id, const ModelItem& item) {
    const auto has = [&id](const std::vector<std::string>& list) {
      return std::find(list.begin(), list.end(), id) != list.end();
    };
    return test(item.attributes) && (!request.allowed || has(*request.allowed)) &&
           !has(request.denied) && !has(request.seen) && !is_capped(now, id, item);
  };
  return filter;
}

std::vector<Change> random_batch(ItemModel& model, std::mt19937_64& random, uint64_t changes_max) {
  std::map<std::string, Change> batch;
  const uint64_t count = 1 + random() % changes_max;
  for (uint64_t i = 0; i < count; ++i) {
    const Change change = model.draw(random);
    batch.emplace(change.item_id, change);
  }
  std::vector<Change> changes;
  for (const auto& [id, change] : batch) changes.push_back(change);
  return changes;
}

}  // namespace tessera::beam
