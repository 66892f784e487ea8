// The life of a catalogue's changes: acknowledged is kept, whatever ends the process; damage is cut
// where it begins; compaction and roll-back lose nothing; readers see whole versions only.
#include "catalogue/live_catalogue.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "catalogue/appraiser.h"

namespace tessera::catalogue {
namespace live_catalogue_test {

namespace fs = std::filesystem;

constexpr uint32_t kLevelSize = 64;
constexpr uint32_t kSeedItems = 200;

Change make(ChangeKind kind, const std::string& item_id, double priority = 0) {
  Change change;
  change.kind = kind;
  change.item_id = item_id;
  change.priority = priority;
  return change;
}

Change upsert(const std::string& item_id, std::vector<uint32_t> sid, double priority = 0) {
  Change change = make(ChangeKind::kUpsert, item_id, priority);
  change.sid = std::move(sid);
  change.title = "title of " + item_id;
  change.attributes = R"({"n":1})";
  return change;
}

/// The items of a view by ID: SID, state, priority.
using Items = std::map<std::string, std::tuple<std::vector<uint32_t>, ItemState, double>>;

Items items_of(const View& view) {
  Items items;
  std::array<uint32_t, kMaxDepth> sid;
  for (ItemOrdinal i = 0; i < view.item_count(); ++i) {
    if (view.state(i) == ItemState::kRemoved) continue;
    const uint32_t depth = view.sid(view.node_of(i), sid);
    items[std::string(view.item_id(i))] = {
        {sid.begin(), sid.begin() + depth}, view.state(i), view.priority(i)};
  }
  return items;
}

class LiveCatalogueTest : public testing::Test {
 protected:
  LiveCatalogueTest() {
    const fs::path root =
        fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
    folder_ = root / ("tessera-live-catalogue-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    CatalogueInput input;
    input.level_sizes = {kLevelSize, kLevelSize};
    for (uint32_t i = 0; i < kSeedItems; ++i) {
      input.codes.insert(input.codes.end(), {i % 50, i * 7 % kLevelSize});
      input.sid_ends.push_back(input.codes.size());
      input.item_ids.add("seed-" + std::to_string(i));
    }
    const std::string path = folder_ / "seed";
    EXPECT_TRUE(build_snapshot(input, path, {}).is_ok());
    seed_ = Snapshot::open(path).value();
    changes_ = folder_ / "changes";
  }
  ~LiveCatalogueTest() override { fs::remove_all(folder_); }

  std::unique_ptr<LiveCatalogue> open() const {
    auto live = LiveCatalogue::open(seed_, {changes_, SyncPolicy::kNever, {}});
    EXPECT_TRUE(live.is_ok()) << live.status().message();
    return live.is_ok() ? std::move(live).value() : nullptr;
  }
  static void apply(LiveCatalogue& live, std::vector<Change> changes) {
    const auto applied = live.apply(given(changes));
    ASSERT_TRUE(applied.is_ok()) << applied.status().message();
  }

  fs::path folder_;
  std::string changes_;
  std::shared_ptr<const Snapshot> seed_;
};

TEST_F(LiveCatalogueTest, WhatWasAcknowledgedIsThereWhenTheFolderIsOpenedAgain) {
  Items expected;
  {
    const auto live = open();
    apply(*live, {upsert("new", {63, 63}, 2), make(ChangeKind::kPause, "seed-3")});
    apply(*live, {make(ChangeKind::kRemove, "seed-4"), upsert("seed-5", {0, 1})});
    apply(*live, {make(ChangeKind::kSetPriority, "new", 7)});
    expected = items_of(*live->view());
    EXPECT_EQ(live->view()->sequence(), 5u);
  }
  const auto live = open();
  EXPECT_EQ(items_of(*live->view()), expected);
  EXPECT_EQ(live->view()->sequence(), 5u);
  EXPECT_EQ(live->recovery().replayed_changes, 5u);
  EXPECT_EQ(live->recovery().cut_bytes, 0u);
  EXPECT_EQ(live->view()->title(live->view()->find_item("new")), "title of new");
  EXPECT_EQ(live->view()->attributes(live->view()->find_item("new")), R"({"n":1})");
}

TEST_F(LiveCatalogueTest, ALogWithoutItsHeaderIsRefused) {
  open().reset();
  std::ofstream(changes_ + "/1.changes", std::ios::binary | std::ios::trunc) << "TSRACLOG";
  const auto live = LiveCatalogue::open(seed_, {changes_, SyncPolicy::kNever, {}});
  ASSERT_FALSE(live.is_ok());
  EXPECT_EQ(live.status().code(), Code::kCatalogueCorrupt);
}

TEST_F(LiveCatalogueTest, AFolderInUseIsRefused) {
  const auto live = open();
  const auto second = LiveCatalogue::open(seed_, {changes_, SyncPolicy::kNever, {}});
  ASSERT_FALSE(second.is_ok());
  EXPECT_EQ(second.status().code(), Code::kIoFailed);
}

TEST_F(LiveCatalogueTest, ARefusedBatchChangesNothing) {
  const auto live = open();
  const Items before = items_of(*live->view());
  const auto refused = live->apply(given(std::vector<Change>{
      upsert("new", {1, 1}), make(ChangeKind::kPause, "seed-1"), upsert("far", {1, kLevelSize})}));
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().message().rfind("changes[2].sid[1]", 0), 0u);
  EXPECT_EQ(items_of(*live->view()), before);
  EXPECT_EQ(live->view()->sequence(), 0u);
}

TEST_F(LiveCatalogueTest, CompactionKeepsEveryItemAndWhatCameMeanwhile) {
  auto live = open();
  apply(*live, {upsert("new", {60, 60}, 5), make(ChangeKind::kPause, "seed-1"),
                make(ChangeKind::kRemove, "seed-2"), upsert("seed-3", {61, 0})});
  const auto before = live->view();
  bool has_interfered = false;
  const auto meanwhile = [&](std::string_view, uint64_t, uint64_t) {
    if (std::exchange(has_interfered, true)) return;
    std::thread([&] {
      for (uint32_t i = 0; i < 200; ++i) {
        apply(*live, {upsert("meanwhile-" + std::to_string(i), {i % kLevelSize, 1})});
      }
      apply(*live, {make(ChangeKind::kResume, "seed-1"), make(ChangeKind::kPause, "seed-9")});
    }).join();
  };
  ASSERT_TRUE(live->compact(meanwhile).is_ok());
  const auto after = live->view();
  EXPECT_NE(after->base().digest(), before->base().digest());
  EXPECT_EQ(after->base().item_count(), kSeedItems);  // one new, one removed
  EXPECT_EQ(after->sequence(), before->sequence() + 202);
  EXPECT_EQ(after->state(after->find_item("seed-1")), ItemState::kLive);
  EXPECT_EQ(after->state(after->find_item("seed-9")), ItemState::kPaused);
  EXPECT_EQ(after->find_item("seed-2"), kNoItem);
  EXPECT_EQ(items_of(*after).size(), kSeedItems + 200);
  live.reset();
  live = open();
  EXPECT_EQ(items_of(*live->view()), items_of(*after));
  EXPECT_EQ(live->view()->sequence(), after->sequence());
  ASSERT_TRUE(live->compact({}).is_ok());
  EXPECT_EQ(items_of(*live->view()), items_of(*after));
}

Change pace(const std::string& text, double factor) {
  Change change = make(ChangeKind::kSetPace, text, factor);
  change.title = "campaign";
  return change;
}

std::vector<Valuation> by_bid() {
  Valuation valuation;
  valuation.name = "ecpm";
  valuation.terms = {{"bid", "bid", TermFunction::kLog}};
  valuation.bid = "bid";
  valuation.pace = "campaign";
  return {valuation};
}

TEST_F(LiveCatalogueTest, AnAnswerToChangesSaysWhatAPaceTouchesAndWhichItemsHaveNoValue) {
  const auto live = open();
  Change bidder = upsert("bidder", {1, 2}), other = upsert("other", {1, 3});
  bidder.attributes = R"({"bid":2.5,"campaign":"spring"})";
  other.attributes = R"({"bid":-2,"campaign":"spring"})";
  apply(*live, {bidder});
  ASSERT_TRUE(live->value_by(by_bid()).is_ok());
  Change typing_error = pace("spring", 0.5);
  typing_error.title = "campain";
  const std::vector<Change> changes{other, pace("spring", 0.5), pace("autumn", 0.5), typing_error};
  const Applied applied = live->apply(given(changes)).value();
  EXPECT_EQ(applied.paced, (std::vector<uint32_t>{2, 0, 0}));
  EXPECT_EQ(applied.unvalued, std::vector<std::string>{"other"});
  bidder.kind = ChangeKind::kSetAttributes;
  bidder.attributes = R"({"bid":0,"campaign":"spring"})";
  other.kind = ChangeKind::kSetAttributes;
  other.attributes = R"({"bid":1,"campaign":"spring"})";
  const std::vector<Change> bids{bidder, other};
  EXPECT_EQ(live->apply(given(bids)).value().unvalued, std::vector<std::string>{"bidder"});
}

TEST_F(LiveCatalogueTest, PacesAndValuesOutliveARestartACompactionAndARollBack) {
  std::string digest, digest_before;
  uint64_t before = 0;
  const auto expect_paced = [](const View& view, double factor) {
    EXPECT_EQ(view.pace("campaign", "spring"), factor);
    EXPECT_EQ(view.pace("campaign", "autumn"), 1);
    EXPECT_EQ(view.pace_count(), factor == 1 ? 0u : 1u);
    const auto appraiser =
        Appraiser::compile(View::of(view.shared_base()), {"ecpm", kAsNamed, kAsNamed, {}});
    EXPECT_FALSE(appraiser.is_ok());  // of a view without values
  };
  {
    const auto live = open();
    const std::string none = live->digest().digest;
    Change bidder = upsert("bidder", {1, 2});
    bidder.attributes = R"({"bid":2.5,"campaign":"spring"})";
    apply(*live, {bidder});
    digest_before = live->digest().digest;
    before = live->view()->sequence();
    ASSERT_TRUE(live->value_by(by_bid()).is_ok());
    apply(*live, {pace("spring", 0.5), pace("autumn", 0.1), pace("autumn", 1)});
    digest = live->digest().digest;
    EXPECT_NE(digest, digest_before);
    expect_paced(*live->view(), 0.5);
  }
  const auto live = open();
  ASSERT_TRUE(live->value_by(by_bid()).is_ok());
  expect_paced(*live->view(), 0.5);
  EXPECT_EQ(live->digest().digest, digest);
  ASSERT_TRUE(live->compact({}).is_ok());
  expect_paced(*live->view(), 0.5);
  EXPECT_EQ(live->digest().digest, digest);
  const auto view = live->view();
  const auto appraiser = Appraiser::compile(view, {"ecpm", kAsNamed, kAsNamed, {}}).value();
  const ItemOrdinal bidder = view->find_item("bidder");
  EXPECT_FLOAT_EQ(appraiser->sum(bidder), std::log(1.25F));
  EXPECT_EQ(appraiser->sum(view->find_item("seed-1")), kExcluded);
  EXPECT_GE(appraiser->most(kRoot), std::log(2.5F));
  EXPECT_EQ(appraiser->most(view->node_of(view->find_item("seed-1"))), kExcluded);
  ASSERT_TRUE(live->roll_back(before).is_ok());
  expect_paced(*live->view(), 1);
  EXPECT_EQ(live->digest().digest, digest_before);
  EXPECT_NE(live->view()->values(), nullptr);
}

TEST_F(LiveCatalogueTest, PacesThatAreSetChangeWhereNoOtherFits) {
  const auto live = open();
  std::vector<Change> changes;
  for (uint32_t i = 0; i < kPacesMax; ++i) changes.push_back(pace(std::to_string(i), 0.5));
  apply(*live, changes);
  EXPECT_FALSE(live->apply(given(std::vector<Change>{pace("another", 0.5)})).is_ok());
  apply(*live, {pace("0", 0.25)});
  EXPECT_EQ(live->view()->pace("campaign", "0"), 0.25);
  EXPECT_EQ(live->view()->pace_count(), kPacesMax);
}

TEST_F(LiveCatalogueTest, AChangedCatalogueStartsWithoutTheLastBid) {
  const auto live = open();
  EXPECT_FALSE(live->value_by(by_bid()).is_ok());
  apply(*live, {upsert("one", {1, 2})});
  EXPECT_TRUE(live->value_by(by_bid()).is_ok());
}

TEST_F(LiveCatalogueTest, PacesAndValuationsThatBreakARuleAreRefusedNamingTheMember) {
  const auto live = open();
  const auto expect_refused = [](const Status& status, const std::string& member) {
    EXPECT_EQ(status.code(), Code::kCatalogueInvalid);
    EXPECT_NE(status.message().find(member), std::string::npos) << status.message();
  };
  for (const double factor : {0.0, -1.0, 1.5, std::nan("")}) {
    expect_refused(live->apply(given(std::vector<Change>{pace("spring", factor)})).status(),
                   "priority");
  }
  expect_refused(live->apply(given(std::vector<Change>{pace("", 0.5)})).status(), "itemId");
  expect_refused(live->value_by(by_bid()), "valuations[0].terms[0].attribute");
  // A declared number may be on no item.
  const auto schema =
      AttributeSchema::make(std::vector<AttributeDeclaration>{{"bid", DeclaredType::kNumber, {}},
                                                              {"campaign", DeclaredType::kText, {}},
                                                              {"n", DeclaredType::kNumber, {}}});
  ASSERT_TRUE(live->declare(schema.value()).is_ok());
  EXPECT_TRUE(live->value_by(by_bid()).is_ok());
  apply(*live, {upsert("one", {1, 2})});
  Change by_number = pace("1", 0.5);
  by_number.title = "n";
  expect_refused(live->apply(given(std::vector<Change>{by_number})).status(), "title");
  ValueRequest request{by_bid()};
  request.valuations[0].bid = "price";
  expect_refused(check_valuations(request), "valuations[0].bid");
  request = {by_bid()};
  request.valuations[0].terms[0].weight = std::nan("");
  expect_refused(check_valuations(request), "terms[0].weight");
  request = {by_bid()};
  request.valuations[0].score_weight = -1;
  expect_refused(check_valuations(request), "scoreWeight");
}

TEST_F(LiveCatalogueTest, AnyVersionKeptCanBeGoneBackTo) {
  auto live = open();
  std::vector<Items> versions = {items_of(*live->view())};
  for (uint32_t i = 0; i < 12; ++i) {
    if (i == 5) {
      ASSERT_TRUE(live->compact({}).is_ok());
    }
    apply(*live, {i % 2 == 0 ? make(ChangeKind::kRemove, "seed-" + std::to_string(i))
                             : make(ChangeKind::kPause, "seed-" + std::to_string(i))});
    versions.push_back(items_of(*live->view()));
  }
  for (const uint64_t version : {7u, 5u, 2u}) {
    const auto rolled = live->roll_back(version);
    ASSERT_TRUE(rolled.is_ok()) << rolled.status().message();
    EXPECT_EQ(items_of(*live->view()), versions[version]);
    EXPECT_EQ(live->view()->sequence(), rolled.value());
  }
  EXPECT_EQ(live->view()->sequence(), 15u);
  live.reset();
  live = open();
  EXPECT_EQ(items_of(*live->view()), versions[2]);
  EXPECT_EQ(live->view()->sequence(), 15u);
  EXPECT_LE(live->generations().value().size(), kGenerationsKept);
  EXPECT_EQ(live->roll_back(999).status().code(), Code::kCatalogueNotFound);
  apply(*live, {make(ChangeKind::kPause, "seed-20"), make(ChangeKind::kPause, "seed-21")});
  EXPECT_EQ(live->roll_back(16).status().code(), Code::kCatalogueNotFound);  // inside a batch
  EXPECT_TRUE(live->roll_back(17).is_ok());
}

/// Each batch moves one token from item to item of a pair, so every whole version has one of the
/// two live; a reader that saw half a batch would see none or both.
TEST_F(LiveCatalogueTest, ReadersSeeWholeVersionsWhileWritersWriteAndCompact) {
  const auto live = open();
  constexpr uint32_t kWriters = 2;
  constexpr uint32_t kBatches = 150;
  for (uint32_t w = 0; w < kWriters; ++w) {
    apply(*live, {upsert("a" + std::to_string(w), {w, 9}), upsert("b" + std::to_string(w), {w, 9}),
                  make(ChangeKind::kPause, "seed-" + std::to_string(w))});
    apply(*live, {make(ChangeKind::kPause, "b" + std::to_string(w))});
  }
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (uint32_t w = 0; w < kWriters; ++w) {
    threads.emplace_back([&live, w] {
      for (uint32_t i = 0; i < kBatches; ++i) {
        const std::string to = (i % 2 == 0 ? "b" : "a") + std::to_string(w);
        const std::string from = (i % 2 == 0 ? "a" : "b") + std::to_string(w);
        apply(*live, {make(ChangeKind::kResume, to), make(ChangeKind::kPause, from)});
      }
    });
  }
  std::thread compactor([&] {
    while (!stop) EXPECT_TRUE(live->compact({}).is_ok());
  });
  std::thread reader([&] {
    uint64_t last = 0;
    while (!stop) {
      const auto view = live->view();
      EXPECT_GE(view->sequence(), last);
      last = view->sequence();
      for (uint32_t w = 0; w < kWriters; ++w) {
        const auto is_live = [&](const char* name) {
          return view->state(view->find_item(name + std::to_string(w))) == ItemState::kLive;
        };
        EXPECT_NE(is_live("a"), is_live("b"));
        EXPECT_EQ(view->items(view->find_node(std::vector<uint32_t>{w, 9})).size(), 1u);
      }
    }
  });
  for (std::thread& thread : threads) thread.join();
  stop = true;
  compactor.join();
  reader.join();
  EXPECT_EQ(live->view()->sequence(), kWriters * (4 + 2 * kBatches));
}

}  // namespace live_catalogue_test
}  // namespace tessera::catalogue
