// The bits of predicates over a catalogue that changes and is compacted: asked for on pinned views
// old and new in any order, held while others are made, and always what the rules make of the items
// that the view has.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "base/test_count.h"
#include "beam/item_model.h"
#include "catalogue/live_catalogue.h"

namespace tessera::beam {
namespace live_eligibility_test {

namespace fs = std::filesystem;

using catalogue::Eligibility;
using catalogue::LiveCatalogue;
using catalogue::View;

constexpr uint64_t kFilters = 3;
constexpr uint64_t kRounds = 40;
constexpr size_t kHeldMax = 4;

const uint64_t seeds = test_count("SEEDS", 150);

/// A version that was seen, and its items.
struct Pinned {
  std::shared_ptr<const View> view;
  ItemModel model;
};

/// Bits that a request holds, and what they are of.
struct Held {
  const Pinned* pinned = nullptr;
  const ModelFilter* filter = nullptr;
  std::shared_ptr<const Eligibility> bits;
};

uint64_t item_count(const Eligibility& bits) {
  return catalogue::count_bits(bits.items.data(), 0, bits.items.size() * 64);
}

/// Checks that capped_items counts exactly the items whose bits the caps clear.
void expect_capped(const View& view, catalogue::EligibilityRequest request,
                   const Eligibility& bits) {
  request.caps.clear();
  ASSERT_EQ(bits.capped_items, item_count(*compile_eligibility(view, request)) - item_count(bits));
}

/// By the rules: the items to be had, and each beginning of their SIDs.
void expect_bits(const Held& held) {
  const View& view = *held.pinned->view;
  const ItemModel& model = held.pinned->model;
  SCOPED_TRACE("version " + std::to_string(view.sequence()));
  std::set<catalogue::NodeIndex> nodes;
  for (const Sid& sid : model.sids_to_be_had(*held.filter)) {
    for (size_t length = 0; length <= sid.size(); ++length) {
      nodes.insert(view.find_node(std::span(sid).first(length)));
    }
  }
  ASSERT_EQ(held.bits->items.size(), catalogue::words_for(view.item_count()));
  ASSERT_EQ(held.bits->nodes.size(), catalogue::words_for(view.node_count()));
  for (catalogue::ItemOrdinal item = 0; item < held.bits->items.size() * 64; ++item) {
    const bool is_set = catalogue::test_bit(held.bits->items.data(), item);
    if (item >= view.item_count()) {
      ASSERT_FALSE(is_set) << "beyond the items: " << item;
      continue;
    }
    const std::string id(view.item_id(item));
    const auto found = model.items().find(id);
    const bool is_eligible = found != model.items().end() && !found->second.is_paused &&
                             held.filter->lets_pass(model, id, found->second);
    ASSERT_EQ(is_set, is_eligible) << id;
  }
  for (catalogue::NodeIndex node = 0; node < held.bits->nodes.size() * 64; ++node) {
    ASSERT_EQ(catalogue::test_bit(held.bits->nodes.data(), node), nodes.count(node) == 1) << node;
  }
}

class LiveEligibilityTest : public testing::Test {
 protected:
  LiveEligibilityTest()
      : folder_((fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
                ("tessera-live-eligibility-" + std::to_string(::getpid()))) {}
  ~LiveEligibilityTest() override { fs::remove_all(folder_); }

  void open(std::mt19937_64& random) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    do {
      test_ = random_case(random, folder_ / "seed",
                          [](uint64_t i) { return ItemModel::test_attributes(i).json(); });
    } while (test_.sids.size() < 8);
    auto live = LiveCatalogue::open(test_.snapshot,
                                    {folder_ / "changes", catalogue::SyncPolicy::kNever, {}});
    ASSERT_TRUE(live.is_ok()) << live.status().message();
    live_ = std::move(live).value();
  }

  void change(std::vector<std::unique_ptr<Pinned>>& pinned, std::mt19937_64& random) {
    auto next = std::make_unique<Pinned>(*pinned.back());
    if (random() % 8 == 0) {
      const Status compacted = live_->compact({});
      // Of a catalogue without items there is no snapshot.
      ASSERT_TRUE(compacted.is_ok() || compacted.code() == Code::kCatalogueInvalid);
    } else {
      const std::vector<catalogue::Change> changes = random_batch(next->model, random, 12);
      const auto applied = live_->apply(catalogue::given(changes));
      ASSERT_TRUE(applied.is_ok()) << applied.status().message();
      for (const catalogue::Change& change : changes) next->model.apply(change);
    }
    next->view = live_->view();
    pinned.push_back(std::move(next));
  }

  const fs::path folder_;
  RandomCase test_;
  std::unique_ptr<LiveCatalogue> live_;
};

TEST_F(LiveEligibilityTest, BitsAreThoseOfTheViewWhicheverWereAskedForBefore) {
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    open(random);
    std::vector<std::unique_ptr<Pinned>> pinned;
    pinned.push_back(std::make_unique<Pinned>(Pinned{live_->view(), ItemModel(test_)}));
    std::vector<ModelFilter> filters;
    while (filters.size() < kFilters) {
      filters.push_back(random_filter(pinned.back()->model, random));
      const auto& drawn = filters.back().request;
      if (!drawn.predicate && !drawn.has_lists()) filters.pop_back();
    }
    std::vector<Held> held;
    for (uint64_t round = 0; round < kRounds && !HasFatalFailure(); ++round) {
      if (random() % 3 == 0) {
        change(pinned, random);
        continue;
      }
      const size_t back = random() % 2 == 0 ? 0 : random() % pinned.size();
      Held next{pinned[pinned.size() - 1 - back].get(), &filters[random() % kFilters], nullptr};
      const View& view = *next.pinned->view;
      ASSERT_TRUE(check_eligibility(view, next.filter->request).is_ok());
      next.bits = compile_eligibility(view, next.filter->request);
      expect_bits(next);
      expect_capped(view, next.filter->request, *next.bits);
      held.push_back(std::move(next));
      if (held.size() > kHeldMax) held.erase(held.begin() + random() % held.size());
    }
    // Bits that are still held have not been overwritten for later filters.
    for (const Held& one : held) expect_bits(one);
    if (HasFatalFailure()) return;
  }
}

TEST_F(LiveEligibilityTest, CapsOfUsersKeepNoBitsOfThemselves) {
  std::mt19937_64 random(1);
  open(random);
  const auto view = live_->view();
  catalogue::EligibilityRequest request;
  request.denied = {"never-was"};
  for (uint32_t user = 0; user < 2 * catalogue::kCachedPredicatesMax; ++user) {
    const std::string item(view->item_id(user % view->item_count()));
    request.caps = {{"frequencyCaps[0]", user % 2 == 0 ? "country" : "", 1, {item}, {user + 1}}};
    ASSERT_NE(compile_eligibility(*view, request), nullptr);
  }
  EXPECT_EQ(view->eligibility_index().conditions().size(), 1U);
}

TEST_F(LiveEligibilityTest, CapsThatKeepNothingOutRestrictNothing) {
  std::mt19937_64 random(1);
  open(random);
  const auto view = live_->view();
  const std::string item(view->item_id(0));
  catalogue::EligibilityRequest request;
  request.caps = {{"frequencyCaps[0]", "", 2, {item}, {1}},
                  {"frequencyCaps[1]", "no-such-attribute", 1, {item}, {9}}};
  ASSERT_TRUE(check_eligibility(*view, request).is_ok());
  EXPECT_EQ(compile_eligibility(*view, request), nullptr);
  request.caps = {{"frequencyCaps[0]", "labels", 1, {}, {}}};
  EXPECT_EQ(check_eligibility(*view, request).message().substr(0, 27),
            "frequencyCaps[0].attribute:");
}

}  // namespace live_eligibility_test
}  // namespace tessera::beam
