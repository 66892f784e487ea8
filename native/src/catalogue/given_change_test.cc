// Changes by predicate and patches against a plain map of items: what they do, how many they
// match, and that a log, a compaction, a restart and a roll-back decide nothing again.
#include "catalogue/given_change.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "catalogue/live_catalogue.h"
#include "catalogue/test_clause.h"

namespace tessera::catalogue {
namespace given_change_test {

namespace fs = std::filesystem;

constexpr uint32_t kSeedItems = 60;
constexpr uint32_t kLevelSize = 8;
constexpr double kUnbounded = std::numeric_limits<double>::infinity();
const std::vector<std::string> kCampaigns = {"a", "b", "c"};
const std::vector<std::string> kLabels = {"new", "sale", "q\"\\\n"};

/// An item as the test knows it.
struct ModelItem {
  bool is_paused = false;
  std::optional<std::string> campaign;
  std::optional<std::set<std::string>> labels;
  std::optional<double> budget;

  bool operator==(const ModelItem&) const = default;
};
using Model = std::map<std::string, ModelItem>;

std::string quoted(const std::string& text) {
  if (text == kLabels[2]) return R"("q\"\\\n")";
  return '"' + text + '"';
}

std::string json_of(const ModelItem& item) {
  std::string json = R"({"kept":{"deep":[1,null]})";
  if (item.campaign) json += ",\"campaign\":" + quoted(*item.campaign);
  if (item.labels) {
    std::string list;
    for (const std::string& label : *item.labels) list += (list.empty() ? "" : ",") + quoted(label);
    json += ",\"labels\":[" + list + "]";
  }
  if (item.budget) json += ",\"budget\":" + std::to_string(*item.budget);
  return json + "}";
}

/// The items of a view, in the words of the model.
Model model_of(const View& view) {
  Model model;
  for (ItemOrdinal i = 0; i < view.item_count(); ++i) {
    if (view.state(i) == ItemState::kRemoved) continue;
    ModelItem& item = model[std::string(view.item_id(i))];
    item.is_paused = view.state(i) == ItemState::kPaused;
    const std::string_view json = view.attributes(i);
    EXPECT_NE(json.find(R"("kept":{"deep":[1,null]})"), json.npos) << json;
    for (const AttributeValue& value : read_attributes(json)) {
      if (value.name == "campaign") item.campaign = value.texts.at(0);
      if (value.name == "labels") {
        item.labels.emplace(value.texts.begin(), value.texts.end());
        EXPECT_EQ(item.labels->size(), value.texts.size());
      }
      if (value.name == "budget") item.budget = value.number;
    }
  }
  return model;
}

using Test = std::function<bool(const ModelItem&)>;

struct ModelPredicate {
  Clause clause;
  Test lets_pass;
};

ModelPredicate draw_predicate(std::mt19937_64& random) {
  switch (random() % 5) {
    case 0:
      return {text_clause(ClauseKind::kIn, "campaign", {"b", "a"}),
              [](const ModelItem& item) { return item.campaign == "a" || item.campaign == "b"; }};
    case 1:
      return {text_clause(ClauseKind::kContains, "labels", {"sale"}),
              [](const ModelItem& item) { return item.labels && item.labels->count("sale"); }};
    case 2:
      return {joined_clause(ClauseKind::kNot, {range_clause("budget", 2)}),
              [](const ModelItem& item) { return !(item.budget && *item.budget >= 2); }};
    case 3:
      return {text_clause(ClauseKind::kIn, "never", {"x"}), [](const ModelItem&) { return false; }};
    default:
      return {joined_clause(ClauseKind::kAll, {range_clause("budget", -kUnbounded, 1.5),
                                               text_clause(ClauseKind::kIn, "campaign", {"c"})}),
              [](const ModelItem& item) {
                return item.campaign == "c" && item.budget && *item.budget <= 1.5;
              }};
  }
}

/// A patch, and what it makes of an item.
struct ModelPatch {
  AttributePatch patch;
  std::function<void(ModelItem&)> apply;
};

ModelPatch draw_patch(std::mt19937_64& random) {
  ModelPatch result;
  const std::string campaign = kCampaigns[random() % kCampaigns.size()];
  const std::string label = kLabels[random() % kLabels.size()];
  const double delta = (static_cast<double>(random() % 9) - 4) / 2;
  const uint64_t of_campaign = random() % 3;
  const uint64_t of_labels = random() % 4;
  const bool has_delta = random() % 2 == 0 || (of_campaign == 2 && of_labels == 3);
  if (of_campaign == 0) result.patch.set = "{\"campaign\": " + quoted(campaign) + "}";
  if (of_campaign == 1) result.patch.unset = {"campaign", "absent"};
  if (of_labels == 0) result.patch.add = {{"labels", {label, "new", label}}};
  if (of_labels == 1) result.patch.take = {{"labels", {label, "never"}}};
  if (of_labels == 2) result.patch.unset.push_back("labels");
  if (has_delta) result.patch.delta = {{"budget", delta}};
  result.apply = [=](ModelItem& item) {
    if (of_campaign == 0) item.campaign = campaign;
    if (of_campaign == 1) item.campaign.reset();
    if (of_labels == 0) {
      if (!item.labels) item.labels.emplace();
      item.labels->insert({label, "new"});
    }
    if (of_labels == 1 && item.labels) item.labels->erase(label);
    if (of_labels == 2) item.labels.reset();
    if (has_delta) item.budget = item.budget.value_or(0) + delta;
  };
  return result;
}

/// Draws a change, and makes it in the model; how many items its predicate matches, where it has
/// one.
GivenChange draw(std::mt19937_64& random, Model& model, std::set<std::string>& named,
                 std::vector<uint32_t>& matched) {
  GivenChange change;
  const bool is_new = random() % 4 == 0;
  change.item_id = is_new || model.empty()
                       ? "new-" + std::to_string(random() % 20)
                       : std::next(model.begin(), random() % model.size())->first;
  if (random() % 5 < 2 || !named.insert(change.item_id).second) change.item_id.clear();
  if (!change.item_id.empty() && model.count(change.item_id) == 0) {
    ModelItem item{false, "a", std::nullopt, 1};
    change.sid = {static_cast<uint32_t>(random() % kLevelSize), 1};
    change.attributes = json_of(item);
    model[change.item_id] = item;
    return change;
  }
  Test test = [](const ModelItem&) { return true; };
  if (change.item_id.empty()) {
    const ModelPredicate predicate = draw_predicate(random);
    change.predicate = predicate.clause;
    test = predicate.lets_pass;
  }
  const ModelPatch patch = draw_patch(random);
  constexpr ChangeKind kKinds[] = {ChangeKind::kPause, ChangeKind::kResume,
                                   ChangeKind::kPatchAttributes, ChangeKind::kPatchAttributes};
  change.kind = random() % 12 == 0 ? ChangeKind::kRemove : kKinds[random() % 4];
  if (change.kind == ChangeKind::kPatchAttributes) change.patch = patch.patch;
  uint32_t count = 0;
  for (auto at = model.begin(); at != model.end();) {
    auto& [id, item] = *at;
    const bool is_meant = change.item_id.empty() ? test(item) : id == change.item_id;
    count += is_meant ? 1 : 0;
    if (is_meant && change.kind == ChangeKind::kPause) item.is_paused = true;
    if (is_meant && change.kind == ChangeKind::kResume) item.is_paused = false;
    if (is_meant && change.kind == ChangeKind::kPatchAttributes) patch.apply(item);
    at = is_meant && change.kind == ChangeKind::kRemove ? model.erase(at) : std::next(at);
  }
  if (change.item_id.empty()) matched.push_back(count);
  return change;
}

class GivenChangeTest : public testing::Test {
 protected:
  GivenChangeTest() {
    const fs::path root =
        fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
    folder_ = root / ("tessera-given-change-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    CatalogueInput input;
    input.level_sizes = {kLevelSize, kLevelSize};
    for (uint32_t i = 0; i < kSeedItems; ++i) {
      input.codes.insert(input.codes.end(), {i % kLevelSize, i * 5 % kLevelSize});
      input.sid_ends.push_back(input.codes.size());
      input.item_ids.add("seed-" + std::to_string(i));
      ModelItem item;
      if (i % 4 != 0) item.campaign = kCampaigns[i % 3];
      if (i % 3 != 0) item.labels = std::set<std::string>{kLabels[i % 3]};
      if (i % 5 != 0) item.budget = i % 7 / 2.0;
      input.attributes.add(json_of(item));
      items_["seed-" + std::to_string(i)] = item;
    }
    const std::string path = folder_ / "seed";
    EXPECT_TRUE(build_snapshot(input, path, {}).is_ok());
    seed_ = Snapshot::open(path).value();
  }
  ~GivenChangeTest() override { fs::remove_all(folder_); }

  std::unique_ptr<LiveCatalogue> open(const std::string& name) const {
    auto live = LiveCatalogue::open(seed_, {folder_ / name, SyncPolicy::kNever, {}});
    EXPECT_TRUE(live.is_ok()) << live.status().message();
    return live.is_ok() ? std::move(live).value() : nullptr;
  }

  static Result<Applied> apply(LiveCatalogue& live, std::vector<GivenChange> changes) {
    for (size_t i = 0; i < changes.size(); ++i) {
      TESSERA_RETURN_IF_ERROR(complete_change(i, changes[i]));
    }
    return live.apply(changes);
  }

  static GivenChange of(ChangeKind kind, const std::string& id,
                        std::optional<Clause> predicate = {}) {
    GivenChange change;
    change.kind = kind;
    change.item_id = id;
    change.predicate = std::move(predicate);
    return change;
  }

  fs::path folder_;
  Model items_;
  std::shared_ptr<const Snapshot> seed_;
};

TEST_F(GivenChangeTest, BatchesComeToWhatAPlainMapComesToAndAreKeptAsThat) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const std::string name = "changes-" + std::to_string(seed);
    auto live = open(name);
    Model model = items_;
    std::map<uint64_t, Model> versions = {{0, model}};
    for (uint32_t batch = 0; batch < 40; ++batch) {
      std::vector<GivenChange> changes;
      std::set<std::string> named;
      std::vector<uint32_t> matched;
      for (uint64_t i = 0; i <= random() % 5; ++i) {
        changes.push_back(draw(random, model, named, matched));
      }
      const uint64_t before = live->view()->sequence();
      const Result<Applied> applied = apply(*live, changes);
      ASSERT_TRUE(applied.is_ok()) << applied.status().message();
      EXPECT_EQ(applied.value().matched, matched);
      EXPECT_EQ(applied.value().sequence, live->view()->sequence());
      EXPECT_GE(applied.value().sequence, before);
      ASSERT_EQ(model_of(*live->view()), model);
      versions[applied.value().sequence] = model;
      if (random() % 8 == 0) {
        live.reset();
        live = open(name);
      } else if (random() % 8 == 0 && !model.empty()) {
        const Status compacted = live->compact({});
        ASSERT_TRUE(compacted.is_ok()) << compacted.message();
      } else if (random() % 10 == 0) {
        const auto& [sequence, old] = *std::next(versions.begin(), random() % versions.size());
        const auto back = live->roll_back(sequence);
        if (!back.is_ok()) continue;  // its generation is not kept any more
        model = old;
        versions[back.value()] = model;
      }
      ASSERT_EQ(model_of(*live->view()), model);
    }
  }
}

TEST_F(GivenChangeTest, APredicateSeesWhatTheChangesBeforeItHaveMade) {
  const auto live = open("changes");
  GivenChange fresh;
  fresh.item_id = "fresh";
  fresh.sid = {1, 1};
  fresh.attributes = R"({"campaign":"z","kept":{"deep":[1,null]}})";
  GivenChange moved = of(ChangeKind::kPatchAttributes, "seed-0");
  moved.patch.set = R"({"campaign":"z"})";
  const Clause of_z = text_clause(ClauseKind::kIn, "campaign", {"z"});
  GivenChange paid = of(ChangeKind::kPatchAttributes, "", of_z);
  paid.patch.delta = {{"budget", 3}};
  const auto applied = apply(*live, {fresh, moved, paid, of(ChangeKind::kPause, "", of_z),
                                     of(ChangeKind::kRemove, "", range_clause("budget", 3))});
  ASSERT_TRUE(applied.is_ok()) << applied.status().message();
  EXPECT_EQ(applied.value().matched[0], 2u);
  EXPECT_EQ(applied.value().matched[1], 2u);
  EXPECT_EQ(live->view()->state(live->view()->find_item("fresh")), ItemState::kRemoved);
  EXPECT_EQ(live->view()->state(live->view()->find_item("seed-0")), ItemState::kRemoved);
}

TEST_F(GivenChangeTest, APredicateThatMatchesNothingIsNoErrorAndNoVersion) {
  const auto live = open("changes");
  const auto applied = apply(
      *live, {of(ChangeKind::kRemove, "", text_clause(ClauseKind::kIn, "campaign", {"gone"}))});
  ASSERT_TRUE(applied.is_ok()) << applied.status().message();
  EXPECT_EQ(applied.value().matched, std::vector<uint32_t>{0});
  EXPECT_EQ(applied.value().sequence, 0u);
}

struct Refusal {
  AttributePatch patch;
  std::string message;  // begins so, behind "changes[1]."
  std::string item;     // which it names; "": none
};

std::vector<Refusal> refused_patches() {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string some = "(item \"seed-";
  AttributePatch sets;
  sets.set = R"({"budget":"much"})";
  AttributePatch list;
  list.set = "[1]";
  AttributePatch lengthy;
  lengthy.set = "{\"long\":\"" + std::string(65536, 'x') + "\"}";
  const std::vector<std::string> many(kPatchTextsMax + 1, "x");
  return {
      {{"", {}, {{"budget", {"x"}}}, {}, {}}, "attributes.budget: is a set, expected a num", some},
      {{"", {}, {}, {{"budget", {"x"}}}, {}}, "take.budget: expected a set, got a number", some},
      {{"", {}, {}, {{"kept", {"x"}}}, {}}, "take.kept: expected a set, got an object", some},
      {{"", {}, {}, {}, {{"labels", 1}}}, "attributes.labels: is a number, expected a s", some},
      {{"", {}, {}, {}, {{"budget", infinity}}}, "delta.budget: expected a finite number, got", ""},
      {sets, "attributes.budget: is a text, expected a number", some},
      {list, "set: expected a JSON object", ""},
      {{}, "set: expected set, unset, add, take or delta, got none", ""},
      {{"", {"budget"}, {}, {}, {{"budget", 1}}}, "delta.budget: expected an attribute named", ""},
      {{"", {}, {{"labels", many}}, {}, {}}, "add: expected at most 4096 texts", ""},
      {lengthy, "attributes: has 65", some},
  };
}

TEST_F(GivenChangeTest, ARefusedPatchNamesTheMemberAndHalfAppliesNothing) {
  const auto live = open("changes");
  for (const Refusal& refusal : refused_patches()) {
    GivenChange patch = of(ChangeKind::kPatchAttributes, "", joined_clause(ClauseKind::kAll, {}));
    patch.patch = refusal.patch;
    const auto applied = apply(*live, {of(ChangeKind::kPause, "seed-7"), patch});
    ASSERT_FALSE(applied.is_ok()) << refusal.message;
    const std::string& message = applied.status().message();
    EXPECT_EQ(applied.status().code(), Code::kCatalogueInvalid);
    EXPECT_EQ(message.rfind("changes[1]." + refusal.message, 0), 0u) << message;
    EXPECT_NE(message.find(refusal.item), message.npos) << message;
    EXPECT_EQ(model_of(*live->view()), items_);
    EXPECT_EQ(live->view()->sequence(), 0u);
  }
}

TEST_F(GivenChangeTest, ItemsThatCannotBeFoundOutAreRefused) {
  const auto live = open("changes");
  const auto expect_refusal = [&](const GivenChange& change, Code code, const std::string& start) {
    const Status status = apply(*live, {change}).status();
    EXPECT_EQ(status.code(), code);
    EXPECT_EQ(status.message().rfind("changes[0]." + start, 0), 0u) << status.message();
  };
  const ChangeKind pause = ChangeKind::kPause;
  const Clause about_text = text_clause(ClauseKind::kIn, "budget", {"x"});
  expect_refusal(of(pause, "", about_text), Code::kCatalogueInvalid,
                 "predicate: attribute \"budget\" is a number, the clause asks about a text");
  expect_refusal(
      of(pause, "", joined_clause(ClauseKind::kAll, {range_clause("budget", -kUnbounded)})),
      Code::kCatalogueInvalid, "predicate.all[0]: expected min or max, got neither");
  expect_refusal(of(pause, "seed-1", joined_clause(ClauseKind::kAll, {})), Code::kCatalogueInvalid,
                 "predicate: expected none beside an item ID");
  expect_refusal(of(ChangeKind::kSetPriority, "", joined_clause(ClauseKind::kAll, {})),
                 Code::kCatalogueInvalid,
                 "predicate: expected none beside an item ID, and none of this kind");
  GivenChange patch = of(ChangeKind::kPatchAttributes, "nobody");
  patch.patch.unset = {"labels"};
  expect_refusal(patch, Code::kItemNotFound, "itemId: \"nobody\" is not in the catalogue");
}

TEST(AttributePatchTest, WhatIsNotNamedStaysToTheLetter) {
  AttributePatch patch;
  patch.set = R"({"b": [ {"x": 1} ], "new": null})";
  patch.take = {{"s", {"y"}}};
  patch.delta = {{"n", 0.25}, {"fresh", -2}};
  const auto patcher = AttributePatcher::make(patch);
  ASSERT_TRUE(patcher.is_ok()) << patcher.status().message();
  const auto text = patcher.value().apply(
      R"({"z": 18446744073709551615, "b": true, "s": ["x","y","x"], "z": 1, "n": 2, )"
      R"("n": "twice", "\u0001": null})");
  ASSERT_TRUE(text.is_ok()) << text.status().message();
  EXPECT_EQ(text.value(), R"({"z":18446744073709551615,"b":[{"x":1}],"s":["x"],"z":1,"n":2.25,)"
                          R"("\u0001":null,"new":null,"fresh":-2})");
}

}  // namespace given_change_test
}  // namespace tessera::catalogue
