// A catalogue that changes, against a plain map of its items: after every batch of random changes a
// search over the view must equal brute force over what the map says is live and, where a request
// says so, eligible.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include "base/test_count.h"
#include "beam/explain.h"
#include "beam/export.h"
#include "beam/item_model.h"
#include "beam/naive_beam_search.h"
#include "beam/random_case.h"
#include "catalogue/eligibility.h"
#include "catalogue/given_change.h"
#include "catalogue/view_editor.h"

namespace tessera::beam {
namespace live_test {

using catalogue::Change;
using catalogue::ChangeKind;
using catalogue::Reach;
using catalogue::View;

constexpr uint64_t kBatches = 6;

const uint64_t seeds = test_count("SEEDS", 300);

std::string snapshot_path() {
  const std::filesystem::path folder = std::filesystem::is_directory("/dev/shm")
                                           ? std::filesystem::path("/dev/shm")
                                           : std::filesystem::temp_directory_path();
  return folder / ("tessera-live-" + std::to_string(::getpid()) + ".tsra");
}

/// A batch of changes applied to both.
std::shared_ptr<const View> change_both(const View& view, ItemModel& model,
                                        std::mt19937_64& random) {
  const std::vector<Change> changes = random_batch(model, random, 12);
  catalogue::ViewEditor editor(view);
  EXPECT_TRUE(apply_changes(editor, changes).is_ok());
  for (const Change& change : changes) model.apply(change);
  EXPECT_EQ(editor.sequence(), view.sequence() + changes.size());
  return editor.finish();
}

class LiveTest : public testing::Test {
 protected:
  ~LiveTest() override { std::filesystem::remove(snapshot_path()); }

  /// Every item of the model, and none beside, is found in the view as the model has it.
  void expect_same_items(const View& view, const ItemModel& model) {
    uint64_t live = 0;
    for (const auto& [id, item] : model.items()) {
      const catalogue::ItemOrdinal ordinal = view.find_item(id);
      ASSERT_NE(ordinal, catalogue::kNoItem) << id;
      ASSERT_EQ(view.item_id(ordinal), id);
      ASSERT_EQ(sid_of(view, view.node_of(ordinal)), item.sid);
      ASSERT_EQ(view.find_node(item.sid), view.node_of(ordinal));
      ASSERT_EQ(view.priority(ordinal), item.priority);
      ASSERT_EQ(view.state(ordinal),
                item.is_paused ? catalogue::ItemState::kPaused : catalogue::ItemState::kLive);
      live += item.is_paused ? 0 : 1;
    }
    ASSERT_EQ(view.live_item_count(), live);
    for (catalogue::ItemOrdinal i = 0; i < view.item_count(); ++i) {
      const bool is_known = model.has(std::string(view.item_id(i)));
      ASSERT_EQ(view.state(i) != catalogue::ItemState::kRemoved, is_known) << view.item_id(i);
    }
  }

  /// A search and its export over the view against the rules over the model.
  void expect_same_recall(const std::shared_ptr<const View>& view, const ItemModel& model,
                          const ModelFilter& filter, const OracleModel& logits,
                          std::mt19937_64& random, bool is_exact) {
    DecodeOptions options;
    options.widths = {static_cast<uint32_t>(1 + random() % 8),
                      static_cast<uint32_t>(1 + random() % 60)};
    options.terminal_count = static_cast<uint32_t>(random() % 3);
    if (!is_exact) options.norm = static_cast<ScoreNorm>(random() % 3);
    const Status checked = check_eligibility(*view, filter.request);
    ASSERT_TRUE(checked.is_ok()) << checked.message();
    const Reach reach(view, compile_eligibility(*view, filter.request));
    NaiveBeamSearch naive(model.sids_to_be_had(filter), model.live_sids(), logits, options);
    const std::vector<OraclePath> expected = naive.run();
    if (!is_exact && naive.margin() < kTolerance) return;
    const auto finished = decode_loop(reach, logits, options, *scratch_);
    expect_same_paths(ranked(*view, finished), expected, is_exact);
    if (HasFatalFailure() || !is_exact) return;

    const uint32_t cap = static_cast<uint32_t>(random() % 3);
    std::vector<std::string> ids;
    for (const OraclePath& path : expected) {
      const std::vector<std::string> items = model.items_to_be_had(path.sid, filter);
      const size_t count = cap == 0 ? items.size() : std::min<size_t>(cap, items.size());
      ids.insert(ids.end(), items.begin(), items.begin() + count);
    }
    const Exported exported = export_items(finished, reach, {10000, cap}, threads_);
    ASSERT_EQ(exported.item_ordinals.size(), ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      ASSERT_EQ(view->item_id(exported.item_ordinals[i]), ids[i]) << "rank " << i;
    }
  }

  std::unique_ptr<Scratch, ScratchDeleter> scratch_ = make_scratch();
  platform::ThreadPool threads_{1};
};

TEST_F(LiveTest, EveryVersionIsSearchedAsIfItWereASnapshotOfItsOwn) {
  const ModelFilter everything{
      {}, [](const ItemModel&, const std::string&, const ModelItem&) { return true; }, {}};
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const RandomCase test = random_case(
        random, snapshot_path(), [](uint64_t i) { return ItemModel::test_attributes(i).json(); });
    ItemModel model(test);
    const bool is_exact = seed % 2 == 0;
    const OracleModel logits = random_model(random(), test.level_sizes, is_exact);
    std::vector<std::pair<std::shared_ptr<const View>, ItemModel>> versions = {
        {View::of(test.snapshot), model}};
    for (uint64_t batch = 0; batch < kBatches; ++batch) {
      versions.emplace_back(change_both(*versions.back().first, model, random), model);
    }
    // Later changes leave earlier versions as they were.
    for (const auto& [view, items] : versions) {
      expect_same_items(*view, items);
      for (uint32_t i = 0; i < 3 && !HasFatalFailure(); ++i) {
        const ModelFilter filter = i == 0 ? everything : random_filter(items, random);
        expect_same_recall(view, items, filter, logits, random, is_exact);
      }
      if (HasFatalFailure()) return;
    }
  }
}

/// The place at which a SID stands after some selections.
Hypothesis place_of(const Sid& sid, size_t steps) {
  Hypothesis place{Sid(sid.begin(), sid.begin() + std::min(sid.size(), steps))};
  place.path.resize(steps, kTerminalCode);
  return place;
}

/// A path by the rules of the search: the step that dropped it, or none.
Explanation naive_pruning(const NaiveBeamSearch& naive, const Sid& sid, uint32_t terminal_count) {
  Explanation expected;
  for (size_t s = 0; s < naive.steps().size(); ++s) {
    const NaiveStep& step = naive.steps()[s];
    const Hypothesis wanted = place_of(sid, s + 1);
    const auto is_wanted = [&](const Hypothesis& other) { return other.path == wanted.path; };
    const auto found = std::find_if(step.candidates.begin(), step.candidates.end(), is_wanted);
    EXPECT_NE(found, step.candidates.end());
    const bool ends = s + 1 == sid.size() + terminal_count;
    const auto rank = static_cast<size_t>(found - step.candidates.begin()) + 1;
    const bool is_running = std::any_of(step.running.begin(), step.running.end(), is_wanted);
    if (ends ? rank <= step.width : is_running) {
      if (ends) return expected;
      continue;
    }
    // Without terminal tokens, paths that end have a place in the width too.
    if (terminal_count == 0 && rank <= step.width) continue;
    const Hypothesis& last =
        terminal_count > 0 && !ends ? step.running.back() : step.candidates[step.width - 1];
    expected.verdict = Verdict::kPruned;
    expected.step = static_cast<uint32_t>(s);
    expected.rank = static_cast<uint32_t>(rank);
    expected.score = static_cast<float>(found->score);
    expected.cut_score = static_cast<float>(last.score);
    return expected;
  }
  ADD_FAILURE() << "the path neither ended nor was dropped";
  return expected;
}

/// The items of an answer by the rules, and why those of the found SIDs are not in it.
struct Taken {
  std::vector<std::string> ids;
  std::map<std::string, Verdict> left_out;
};

Taken take_by_rules(const std::vector<OraclePath>& paths, const ItemModel& model,
                    const ModelFilter& filter, const catalogue::ItemPolicyRequest& policy,
                    const ExportOptions& results) {
  Taken taken;
  std::map<std::string, uint32_t> of_country;
  for (const OraclePath& path : paths) {
    std::vector<std::string> ids = model.items_to_be_had(path.sid, filter);
    const auto attributes_of = [&](const std::string& id) -> const ModelAttributes& {
      return model.items().at(id).attributes;
    };
    if (!policy.order_by.empty()) {
      std::stable_sort(ids.begin(), ids.end(), [&](const auto& a, const auto& b) {
        return attributes_of(a).bid > attributes_of(b).bid;
      });
    }
    uint32_t of_sid = 0;
    for (const std::string& id : ids) {
      const std::string& country = attributes_of(id).country;
      const bool is_counted = !policy.diversity.empty() && !country.empty();
      if (taken.ids.size() == results.result_count) {
        taken.left_out[id] = Verdict::kBehindResults;
      } else if (results.items_per_sid > 0 && of_sid == results.items_per_sid) {
        taken.left_out[id] = Verdict::kBehindSidCap;
      } else if (is_counted && of_country[country] == policy.diversity[0].items_max) {
        taken.left_out[id] = Verdict::kBehindDiversityCap;
      } else {
        taken.ids.push_back(id);
        ++of_sid;
        if (is_counted) ++of_country[country];
      }
    }
  }
  return taken;
}

/// By the bids of the items, or not, and with a cap on items of a country, or without.
catalogue::ItemPolicyRequest random_policy(std::mt19937_64& random) {
  catalogue::ItemPolicyRequest policy;
  if (random() % 2 == 0) policy.order_by = "bid";
  if (random() % 2 == 0) policy.diversity = {{"country", static_cast<uint32_t>(1 + random() % 2)}};
  return policy;
}

/// Against the rules of the search over the model's items.
struct Explained {
  const View& view;
  const ItemModel& model;
  const ModelFilter& filter;
  const NaiveBeamSearch& naive;
  const DecodeOptions& search;
  const Taken taken;

  void expect(const std::string& id, const Explanation& explained) const {
    SCOPED_TRACE("item " + id);
    const auto item = model.items().find(id);
    if (item == model.items().end() || item->second.is_paused) {
      const bool was = view.find_item(id) != catalogue::kNoItem;
      ASSERT_EQ(explained.verdict, was ? Verdict::kNotLive : Verdict::kNotInCatalogue);
      return;
    }
    const bool is_eligible = filter.lets_pass(model, id, item->second);
    ASSERT_EQ(explained.verdict == Verdict::kNotEligible, !is_eligible) << explained.clause;
    ASSERT_EQ(explained.clause.empty(), is_eligible);
    if (explained.clause.rfind("frequencyCaps[", 0) == 0) {
      ASSERT_TRUE(filter.is_capped(model, id, item->second));
    }
    if (!is_eligible) return;
    const Explanation pruned = naive_pruning(naive, item->second.sid, search.terminal_count);
    ASSERT_EQ(explained.verdict == Verdict::kPruned, pruned.verdict == Verdict::kPruned);
    if (explained.verdict == Verdict::kPruned) {
      ASSERT_EQ(explained.step, pruned.step);
      ASSERT_EQ(explained.rank, pruned.rank);
      ASSERT_EQ(explained.score, pruned.score);
      ASSERT_EQ(explained.cut_score, pruned.cut_score);
      return;
    }
    const auto place = std::find(taken.ids.begin(), taken.ids.end(), id);
    if (place == taken.ids.end()) {
      ASSERT_EQ(explained.verdict, taken.left_out.at(id));
      ASSERT_EQ(explained.attribute,
                explained.verdict == Verdict::kBehindDiversityCap ? "country" : "");
    } else {
      ASSERT_EQ(explained.verdict, Verdict::kReturned);
      ASSERT_EQ(explained.rank, static_cast<uint32_t>(place - taken.ids.begin()) + 1);
    }
  }
};

TEST_F(LiveTest, AnExplanationSaysWhatBecameOfEveryItem) {
  std::map<Verdict, uint32_t> told_of;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const RandomCase test = random_case(
        random, snapshot_path(), [](uint64_t i) { return ItemModel::test_attributes(i).json(); });
    ItemModel model(test);
    const OracleModel logits = random_model(random(), test.level_sizes, true);
    const auto view = change_both(*View::of(test.snapshot), model, random);
    const ModelFilter filter = random_filter(model, random);
    ASSERT_TRUE(check_eligibility(*view, filter.request).is_ok());
    DecodeOptions search;
    search.widths = {static_cast<uint32_t>(1 + random() % 4)};
    search.terminal_count = static_cast<uint32_t>(random() % 3);
    const catalogue::ItemPolicyRequest policy = random_policy(random);
    const auto compiled = catalogue::ItemPolicy::compile(*view, policy);
    ASSERT_TRUE(compiled.is_ok()) << compiled.status().message();
    ExportOptions results{static_cast<uint32_t>(1 + random() % 6),
                          static_cast<uint32_t>(random() % 3), compiled.value().get()};
    NaiveBeamSearch naive(model.sids_to_be_had(filter), logits, search);
    const Taken taken = take_by_rules(naive.run(), model, filter, policy, results);
    const Explained rules{*view, model, filter, naive, search, taken};
    const Reach reach(view, compile_eligibility(*view, filter.request));
    const auto found = decode_loop(reach, logits, search, *scratch_);
    const Exported exported = export_items(found, reach, results, threads_);
    std::vector<std::string> returned;
    for (const auto item : exported.item_ordinals) returned.emplace_back(view->item_id(item));
    ASSERT_EQ(returned, taken.ids);
    std::vector<std::string> ids = {"never-was"};
    for (catalogue::ItemOrdinal i = 0; i < view->item_count(); ++i) {
      ids.emplace_back(view->item_id(i));
    }
    for (const std::string& id : ids) {
      Explanation explained = judge(*view, filter.request, id);
      if (explained.verdict == Verdict::kOpen) {
        results.watched_item = view->find_item(id);
        LazyOptions lazy;
        lazy.widths.assign(view->depth() + search.terminal_count, search.widths[0]);
        lazy.terminal_count = search.terminal_count;
        lazy.answer = results;
        lazy.shown = UINT32_MAX;
        lazy.is_eager = true;
        const LazySearch whole = lazy_loop(reach, logits, lazy, 1024, nullptr, *scratch_);
        const Exported given = export_items(whole.finished(), reach, results, threads_);
        explained = explain(whole, reach, given, results);
      }
      ++told_of[explained.verdict];
      rules.expect(id, explained);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(told_of.size(), 8u);  // every verdict but kOpen was given
}

TEST_F(LiveTest, ACatalogueWhoseLastItemIsPausedGivesNothingUntilItResumes) {
  std::mt19937_64 random(7);
  const RandomCase test = random_case(random, snapshot_path());
  const OracleModel logits = random_model(1, test.level_sizes, true);
  std::vector<Change> changes(test.item_ids.size());
  for (size_t i = 0; i < changes.size(); ++i) {
    changes[i].kind = ChangeKind::kPause;
    changes[i].item_id = test.item_ids[i];
  }
  catalogue::ViewEditor pausing(*test.reach.shared_view());
  for (const Change& change : changes) pausing.apply(change);
  const Reach paused(pausing.finish());
  EXPECT_EQ(paused.view().live_item_count(), 0u);
  EXPECT_TRUE(decode_loop(paused, logits, {{8}, 0, ScoreNorm::kAllowed}, *scratch_).empty());
  catalogue::ViewEditor resuming(paused.view());
  changes[0].kind = ChangeKind::kResume;
  resuming.apply(changes[0]);
  const Reach resumed(resuming.finish());
  const auto finished = decode_loop(resumed, logits, {{8}, 0, ScoreNorm::kAllowed}, *scratch_);
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(sid_of(resumed.view(), finished[0].node), test.sids[0]);
  EXPECT_EQ(finished[0].score, 0.0f);  // the only path is certain
}

TEST_F(LiveTest, BatchesThatBreakARuleAreRefusedWithTheirPlace) {
  std::mt19937_64 random(11);
  const RandomCase test = random_case(random, snapshot_path());
  const View& view = test.reach.view();
  const auto upsert = [&](std::vector<uint32_t> sid) {
    Change change;
    change.item_id = "fresh";
    change.sid = std::move(sid);
    return change;
  };
  const auto expect_refusal = [&](std::vector<Change> changes, Code code, const char* start) {
    catalogue::ViewEditor editor(view);
    const Status status = apply_given(editor, catalogue::given(changes)).status();
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_EQ(status.message().rfind(start, 0), 0u) << status.message();
  };
  const Change good = upsert({0});
  Change bad = upsert({test.level_sizes[0]});
  expect_refusal({bad}, Code::kCatalogueInvalid, "changes[0].sid[0]: ");
  expect_refusal({upsert({})}, Code::kCatalogueInvalid, "changes[0].sid: ");
  expect_refusal({upsert(std::vector<uint32_t>(view.depth() + 1, 0))}, Code::kCatalogueInvalid,
                 "changes[0].sid: ");
  expect_refusal({good, good}, Code::kCatalogueInvalid, "changes[1].itemId: \"fresh\" stands");
  bad = good;
  bad.item_id = "";
  expect_refusal({bad}, Code::kCatalogueInvalid, "changes[0].itemId: has 0 bytes");
  bad.item_id = "\xFF";
  expect_refusal({bad}, Code::kCatalogueInvalid, "changes[0].itemId: is not valid UTF-8");
  bad = good;
  bad.priority = std::numeric_limits<double>::infinity();
  expect_refusal({bad}, Code::kCatalogueInvalid, "changes[0].priority: ");
  bad = good;
  bad.attributes = "[1]";
  expect_refusal({bad}, Code::kCatalogueInvalid, "changes[0].attributes: ");
  bad = good;
  bad.kind = ChangeKind::kPause;
  expect_refusal({bad}, Code::kItemNotFound, "changes[0].itemId: \"fresh\" is not");
  EXPECT_TRUE(check_change(view, good, 0).is_ok());
}

}  // namespace live_test
}  // namespace tessera::beam
