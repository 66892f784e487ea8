// Test only: the catalogue as a plain map of items, changes and filters drawn at random for it, and
// what may be had of it by the rules.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "beam/brute_force_oracle.h"
#include "beam/random_case.h"
#include "catalogue/change.h"
#include "catalogue/eligibility.h"
#include "catalogue/view.h"

namespace tessera::beam {

/// Attributes as a test knows them; empty and negative: the item has none.
struct ModelAttributes {
  std::string country;
  std::vector<std::string> labels;
  double bid = -1;

  std::string json() const;
};

struct ModelItem {
  Sid sid;
  double priority = 0;
  bool is_paused = false;
  ModelAttributes attributes;
};

class ItemModel;

/// The items that a request may get: for the engine, and for the map.
struct ModelFilter {
  using Rule = std::function<bool(const ItemModel&, const std::string& id, const ModelItem&)>;

  catalogue::EligibilityRequest request;
  Rule lets_pass;
  Rule is_capped;  // by a frequency cap, whatever the rest says
};

/// The catalogue as a plain map, and changes drawn at random.
class ItemModel {
 public:
  explicit ItemModel(const RandomCase& test);

  /// Attributes of item i of a case, as its snapshot was built.
  static ModelAttributes test_attributes(uint64_t i);

  catalogue::Change draw(std::mt19937_64& random);
  /// Changes that `other` has drawn may be applied here too.
  void learn(const ItemModel& other);
  void apply(const catalogue::Change& change);

  bool has(const std::string& item_id) const { return items_.count(item_id) > 0; }
  const std::map<std::string, ModelItem>& items() const { return items_; }

  std::vector<Sid> sids_to_be_had(const ModelFilter& filter) const;
  std::vector<Sid> live_sids() const;
  /// Items of a SID in export order.
  std::vector<std::string> items_to_be_had(const Sid& sid, const ModelFilter& filter) const;

 private:
  std::map<std::string, ModelItem> items_;
  std::map<std::string, ModelAttributes> drawn_;  // by their JSON
  std::vector<uint32_t> level_sizes_;
};

/// Predicate, allowed, denied and seen items and frequency caps, each or none. Fails the running
/// test where the predicate is refused.
ModelFilter random_filter(const ItemModel& model, std::mt19937_64& random);

/// A batch of up to `changes_max` changes, each item at most once.
std::vector<catalogue::Change> random_batch(ItemModel& model, std::mt19937_64& random,
                                            uint64_t changes_max);

}  // namespace tessera::beam
