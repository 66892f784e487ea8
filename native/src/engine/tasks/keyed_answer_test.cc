// Recalls by value and with drawn places through the engine: their bits whatever their company,
// propensities, refusals.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "catalogue/view_editor.h"
#include "engine/test_fixture.h"

namespace tessera::engine {
namespace keyed_answer_test {

using catalogue::Appraiser;

class KeyedAnswers : public testing::Test {
 protected:
  KeyedAnswers() {
    const std::filesystem::path folder =
        std::filesystem::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures/parity/qwen3-tied";
    options_ = fixture_options(folder);
    cases_ = read_cases(folder);
    snapshot_ = open_fixture_catalogue(folder);
    open();
    catalogue::Valuation valuation;
    valuation.name = "ecpm";
    valuation.terms = {{"bid", "bid", catalogue::TermFunction::kLog}};
    valuation.bid = "bid";
    const auto plain = catalogue::View::of(snapshot_);
    catalogue::ViewEditor bids(*plain);
    for (catalogue::ItemOrdinal item = 0; item < snapshot_->item_count(); ++item) {
      if (item % 7 == 6) continue;  // without a bid
      catalogue::Change change;
      change.kind = catalogue::ChangeKind::kSetAttributes;
      change.item_id = snapshot_->item_id(item);
      change.attributes = "{\"bid\":" + std::to_string(0.25 + item * 37 % 11) +
                          (item % 2 == 0 ? R"(,"side":"even"})" : R"(,"side":"odd"})");
      bids.apply(change);
    }
    const auto with_bids = bids.finish();
    auto named = std::make_shared<const catalogue::Valuations>(catalogue::Valuations{valuation});
    const auto values = std::make_shared<catalogue::SnapshotValues>(
        snapshot_, with_bids->eligibility_index().attributes(), named);
    view_ = catalogue::ViewEditor(*with_bids, values).finish();
    appraiser_ =
        Appraiser::compile(view_, {"ecpm", catalogue::kAsNamed, catalogue::kAsNamed, {}}).value();
  }
  ~KeyedAnswers() override { EXPECT_EQ(held_by(engine_.get()), std::vector<std::string>{}); }

  void open() {
    engine_ = open_fixture_engine(options_, sink_).value();
    binding_ = bind_fixture(engine_->model().config, snapshot_, cases_.front());
  }

  Request make(uint32_t ticket, bool by_value, uint32_t slots, uint64_t seed = 1) {
    Request request = make_request(ticket, binding_, cases_.front());
    request.row_budget = 4096;
    request.result_count = 10;
    request.items_per_sid = 0;
    request.reach = catalogue::Reach(view_);
    request.norm = beam::ScoreNorm::kAllowed;
    if (by_value) request.appraiser = appraiser_;
    request.explore = {slots, 1, static_cast<uint32_t>(seed), 0};
    return request;
  }

  std::map<uint32_t, Completion> run(std::vector<Request> requests) {
    const size_t count = requests.size();
    EXPECT_EQ(engine_->submit(std::move(requests)).accepted, count);
    return sink_.wait_for(count);
  }
  Completion run(Request request) {
    std::vector<Request> one;
    one.push_back(std::move(request));
    return std::move(run(std::move(one)).begin()->second);
  }

  EngineOptions options_;
  CollectingSink sink_;
  std::unique_ptr<Engine> engine_;
  std::vector<FixtureCase> cases_;
  std::shared_ptr<const catalogue::Snapshot> snapshot_;
  std::shared_ptr<const catalogue::View> view_;
  std::shared_ptr<const Appraiser> appraiser_;
  std::shared_ptr<const Binding> binding_;
};

std::vector<uint32_t> bits_of(const Completion& completion) {
  std::vector<uint32_t> bits = completion.answer.item_ordinals;
  for (size_t i = 0; i < completion.answer.item_ordinals.size(); ++i) {
    bits.push_back(std::bit_cast<uint32_t>(completion.answer.value_of(i)));
    bits.push_back(std::bit_cast<uint32_t>(completion.answer.propensity_of(i)));
    bits.push_back(std::bit_cast<uint32_t>(completion.answer.critical_bid_of(i)));
  }
  return bits;
}

TEST_F(KeyedAnswers, HaveTheSameBitsAloneInABatchAndOnMoreThreads) {
  std::vector<std::vector<uint32_t>> alone;
  const auto all = [this] {
    std::vector<Request> requests;
    uint32_t ticket = 0;
    for (const bool by_value : {false, true}) {
      for (const uint32_t slots : {0u, 3u, 10u}) {
        for (const uint64_t seed : {1u, 2u})
          requests.push_back(make(ticket++, by_value, slots, seed));
      }
    }
    return requests;
  };
  for (Request& request : all()) {
    const Completion completion = run(std::move(request));
    ASSERT_TRUE(completion.status.is_ok()) << completion.status.message();
    EXPECT_TRUE(completion.certificate.is_certified);
    EXPECT_EQ(completion.answer.item_ordinals.size(), 10u);
    alone.push_back(bits_of(completion));
  }
  EXPECT_NE(alone[2], alone[3]);  // another seed
  for (const uint32_t threads : {1u, 2u}) {
    engine_.reset();
    options_.thread_count = threads;
    options_.prefill_chunk_tokens = 7;
    open();
    std::vector<Request> requests = all();
    for (const auto& [ticket, completion] : run(std::move(requests))) {
      EXPECT_EQ(bits_of(completion), alone[ticket]) << "ticket " << ticket;
    }
  }
}

TEST_F(KeyedAnswers, ByValueAreTheBestOfEveryItemAndTellTheBestLeftOut) {
  Request everything = make(0, false, 0);
  everything.result_count = 4096;
  const Completion by_score = run(std::move(everything));
  std::vector<float> values;
  for (size_t i = 0; i < by_score.answer.item_ordinals.size(); ++i) {
    const float sum = appraiser_->sum(by_score.answer.item_ordinals[i]);
    if (sum == catalogue::kExcluded) continue;
    values.push_back(appraiser_->value(by_score.answer.item_scores[i], sum));
  }
  std::sort(values.begin(), values.end(), std::greater<>());
  const Completion told = run(make(1, true, 0));
  ASSERT_GT(values.size(), 10u);
  EXPECT_EQ(told.answer.values, std::vector<float>(values.begin(), values.begin() + 10));
  EXPECT_EQ(told.answer.best_left_out, values[10]);
  ASSERT_EQ(told.answer.critical_bids.size(), 10u);
  EXPECT_EQ(told.answer.item_terms.size(), 10u);
  for (size_t i = 0; i < 10; ++i) {
    const double at_critical = static_cast<double>(told.answer.item_scores[i]) +
                               std::log(static_cast<double>(told.answer.critical_bids[i]));
    EXPECT_NEAR(at_critical, static_cast<double>(values[10]), 1e-5);
  }
  const auto& ordinals = by_score.answer.item_ordinals;
  const auto at = std::find(ordinals.begin(), ordinals.end(), told.answer.best_left_out_item);
  ASSERT_NE(at, ordinals.end());
  const float score = by_score.answer.item_scores[static_cast<size_t>(at - ordinals.begin())];
  EXPECT_EQ(appraiser_->value(score, appraiser_->sum(*at)), values[10]);
  const double bid = static_cast<double>(told.answer.best_left_out_bid);
  EXPECT_NEAR(static_cast<double>(score) + std::log(bid), static_cast<double>(values[9]), 1e-5);
}

TEST_F(KeyedAnswers, CriticalBidsKeepTheirItemsAndTheNextLowerOnesDoNot) {
  for (const double score_weight : {0.0, 1.0}) {  // values of bids alone tie
    const auto ask = [&](const std::shared_ptr<const catalogue::View>& view) {
      Request asked = make(0, true, 0);
      asked.reach = catalogue::Reach(view);
      asked.appraiser =
          Appraiser::compile(view, {"ecpm", score_weight, catalogue::kAsNamed, {}}).value();
      return run(std::move(asked));
    };
    const Completion told = ask(view_);
    ASSERT_EQ(told.answer.critical_bids.size(), 10u);
    for (size_t i = 0; i < 10; ++i) {
      const catalogue::ItemOrdinal item = told.answer.item_ordinals[i];
      const float critical = told.answer.critical_bids[i];
      for (const float bid : {critical, std::nextafter(critical, 0.0F)}) {
        char attributes[40];
        std::snprintf(attributes, sizeof attributes, "{\"bid\":%.17g}", static_cast<double>(bid));
        catalogue::Change change;
        change.kind = catalogue::ChangeKind::kSetAttributes;
        change.item_id = view_->item_id(item);
        change.attributes = attributes;
        catalogue::ViewEditor editor(*view_);
        editor.apply(change);
        const Completion again = ask(editor.finish());
        const auto& items = again.answer.item_ordinals;
        EXPECT_EQ(std::count(items.begin(), items.end(), item), bid == critical ? 1 : 0) << i;
      }
    }
  }
}

TEST_F(KeyedAnswers, DrawnPlacesStandBehindTheFixedOnesAndHavePropensities) {
  const Completion fixed = run(make(0, true, 0));
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Completion told = run(make(1, true, 4, seed));
    ASSERT_EQ(told.answer.drawn_from, 6u);
    ASSERT_EQ(told.answer.propensities, beam::Propensities::kKnown);
    std::vector<uint32_t> items = told.answer.item_ordinals;
    for (size_t i = 0; i < items.size(); ++i) {
      EXPECT_EQ(told.answer.is_explored(i), i >= 6);
      EXPECT_GT(told.answer.propensity_of(i), 0);
      EXPECT_LE(told.answer.propensity_of(i), 1);
      EXPECT_NE(appraiser_->sum(items[i]), catalogue::kExcluded);
      if (i < 6) EXPECT_EQ(items[i], fixed.answer.item_ordinals[i]);
    }
    std::sort(items.begin(), items.end());
    EXPECT_EQ(std::unique(items.begin(), items.end()), items.end());
  }
}

/// Draws among the items that a predicate lets pass.
void draw_among(Request& request, const std::shared_ptr<const catalogue::View>& view,
                catalogue::Clause among) {
  catalogue::EligibilityRequest asked;
  asked.drawn = std::move(among);
  const auto of_places = catalogue::for_drawn_places(asked);
  request.explore.reach = catalogue::Reach(view, catalogue::compile_eligibility(*view, of_places));
  request.explore.items =
      catalogue::count_obtainable(request.explore.reach, request.appraiser.get());
}

TEST_F(KeyedAnswers, DrawAmongAPartOfTheItemsWithItsPropensities) {
  const catalogue::Clause even{
      .kind = catalogue::ClauseKind::kIn, .attribute = "side", .values = {"even"}};
  for (const bool by_value : {false, true}) {
    const Completion fixed = run(make(0, by_value, 0));
    double estimate = 0;
    uint32_t others = 0;
    constexpr uint64_t kDraws = 400;
    for (uint64_t seed = 1; seed <= kDraws; ++seed) {
      Request asked = make(1, by_value, 3, seed);
      asked.explore.temperature = 8;
      draw_among(asked, view_, even);
      others = asked.explore.items;
      const Completion told = run(std::move(asked));
      ASSERT_TRUE(told.status.is_ok()) << told.status.message();
      ASSERT_EQ(told.answer.propensities, beam::Propensities::kKnown);
      ASSERT_EQ(told.answer.drawn_from, 7u);
      ASSERT_EQ(told.answer.item_ordinals.size(), 10u);
      for (size_t i = 0; i < 10; ++i) {
        const auto item = told.answer.item_ordinals[i];
        if (i < 7) {
          EXPECT_EQ(item, fixed.answer.item_ordinals[i]);
          others -= item % 2 == 0 && item % 7 != 6 ? 1 : 0;
        } else {
          EXPECT_EQ(item % 2, 0u);
          estimate += 1 / static_cast<double>(told.answer.propensity_of(i));
        }
      }
    }
    // Each item that could be drawn counts for one.
    EXPECT_NEAR(estimate / kDraws, others, 0.05 * others);
  }
}

TEST_F(KeyedAnswers, FillWithTheBestThePlacesForWhichNothingIsLeftToDraw) {
  for (const bool by_value : {false, true}) {
    const Completion fixed = run(make(0, by_value, 0));
    const std::vector<uint32_t>& best = fixed.answer.item_ordinals;
    const auto texts = [&](std::initializer_list<size_t> places) {
      catalogue::EligibilityRequest few;
      few.allowed.emplace();
      for (const size_t place : places) few.allowed->emplace_back(view_->item_id(best[place]));
      return few;
    };
    const auto told = [&](std::initializer_list<size_t> places, uint32_t slots) {
      Request asked = make(1, by_value, slots);
      const auto bits = catalogue::compile_eligibility(*view_, texts(places));
      asked.explore.reach = catalogue::Reach(view_, bits);
      asked.explore.items = catalogue::count_obtainable(asked.explore.reach, asked.appraiser.get());
      return run(std::move(asked));
    };
    // The only item that may be drawn is the best one already.
    const Completion none_left = told({0}, 2);
    EXPECT_EQ(none_left.answer.item_ordinals, best);
    EXPECT_EQ(none_left.answer.drawn_from, 10u);
    // One of three places is drawn; the two before it go to the best of the others.
    const Completion one_left = told({9}, 3);
    EXPECT_EQ(one_left.answer.item_ordinals, best);
    EXPECT_EQ(one_left.answer.drawn_from, 9u);
    EXPECT_EQ(one_left.answer.propensity_of(9), 1);
    // Of nothing nothing is drawn.
    const Completion of_none = told({}, 3);
    EXPECT_EQ(of_none.answer.item_ordinals, best);
    EXPECT_FALSE(of_none.answer.is_explored(9));
    // All places are to be drawn, and both that can be are among the best.
    EXPECT_EQ(told({1, 4}, 10).answer.item_ordinals, best);
  }
}

TEST_F(KeyedAnswers, CapsHoldForFixedAndDrawnPlacesTogether) {
  catalogue::ItemPolicyRequest policy;
  policy.diversity = {{"side", 6}};
  const auto compiled = catalogue::ItemPolicy::compile(*view_, policy).value();
  for (const bool by_value : {false, true}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      Request capped = make(1, by_value, 5, seed);
      capped.item_policy = compiled;
      std::map<std::string, uint32_t> sides;
      for (const auto item : run(std::move(capped)).answer.item_ordinals) {
        EXPECT_LE(++sides[catalogue::read_text(view_->attributes(item), "side").value_or("")], 6u);
      }
    }
  }
}

TEST_F(KeyedAnswers, WhyAPropensityIsNotKnownIsTold) {
  Request beam = make(0, false, 3);
  beam.row_budget = 0;
  EXPECT_EQ(run(std::move(beam)).answer.propensities, beam::Propensities::kBeam);
  Request capped = make(1, false, 3);
  capped.items_per_sid = 1;
  EXPECT_EQ(run(std::move(capped)).answer.propensities, beam::Propensities::kCapped);
  Request stopped = make(2, false, 3);
  stopped.row_budget = 6;
  const Completion told = run(std::move(stopped));
  EXPECT_EQ(told.answer.propensities, beam::Propensities::kStopped);
  EXPECT_TRUE(std::isnan(told.answer.propensity_of(9)));
  EXPECT_EQ(told.answer.propensity_of(0), 1);
}

TEST_F(KeyedAnswers, WhyThereIsNoPriceIsTold) {
  using beam::Prices;
  // With fewer rows the proof ends with the answer, with fewer still before it.
  std::set<Prices> seen;
  for (uint32_t results = 1; results <= 20; ++results) {
    for (uint32_t rows = 1; rows <= 40; ++rows) {
      Request asked = make(1, true, 0);
      asked.result_count = results;
      asked.row_budget = rows;
      const Completion told = run(std::move(asked));
      const Prices prices = told.answer.prices;
      EXPECT_EQ(told.certificate.is_certified, prices != Prices::kUncertified);
      EXPECT_EQ(std::isnan(told.answer.critical_bid_of(0)), prices != Prices::kKnown);
      seen.insert(prices);
    }
  }
  EXPECT_EQ(seen, (std::set<Prices>{Prices::kKnown, Prices::kUncertified, Prices::kStopped}));
  Request capped = make(2, true, 0);
  capped.items_per_sid = 1;
  EXPECT_EQ(run(std::move(capped)).answer.prices, Prices::kCapped);
  Request all = make(3, true, 0);
  all.result_count = 4096;
  EXPECT_EQ(run(std::move(all)).answer.prices, Prices::kNoneLeftOut);
}

TEST_F(KeyedAnswers, ADrawThatIsNoDistributionIsRefusedNamingTheField) {
  const auto expect_refused = [&](Request request, const std::string& field) {
    const Completion completion = run(std::move(request));
    EXPECT_EQ(completion.status.code(), Code::kRequestInvalid);
    EXPECT_EQ(completion.status.message().rfind(field, 0), 0u) << completion.status.message();
  };
  Request full = make(0, false, 3);
  full.norm = beam::ScoreNorm::kFull;
  expect_refused(std::move(full), "scoreNorm");
  expect_refused(make(1, false, 11), "explore.slots");
  for (const double temperature : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    Request cold = make(2, false, 3);
    cold.explore.temperature = temperature;
    expect_refused(std::move(cold), "explore.temperature");
  }
}

}  // namespace keyed_answer_test
}  // namespace tessera::engine
