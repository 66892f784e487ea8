// Compares the expected experts and times of a mixture's passes with routing simulated row by row:
// experts drawn without replacement, uniformly or by Zipf's law.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "scheduler/admission.h"
#include "scheduler/cost_model.h"

namespace tessera::scheduler {
namespace expert_cost_test {

/// Rows that choose experts: the n-th of an order of its own in each layer 1 / n^exponent times as
/// often as the first.
class Routing {
 public:
  Routing(const Mixture& mixture, double exponent, uint32_t seed)
      : mixture_(mixture), exponent_(exponent), random_(seed) {}

  /// Experts of all layers that a pass touches.
  double touched(uint32_t rows) {
    double sum = 0;
    for (double layer = 0; layer < mixture_.layers; ++layer) sum += touched_of_layer(rows);
    return sum;
  }

 private:
  double touched_of_layer(uint32_t rows) {
    const auto experts = static_cast<size_t>(mixture_.experts);
    const auto chosen = static_cast<ptrdiff_t>(mixture_.chosen);
    std::vector<uint8_t> seen(experts);
    std::vector<double> waits(experts);
    std::vector<size_t> order(experts);
    std::exponential_distribution<double> wait(1);
    for (uint32_t row = 0; row < rows; ++row) {
      for (size_t e = 0; e < experts; ++e)
        waits[e] = wait(random_) * std::pow(static_cast<double>(e + 1), exponent_);
      std::iota(order.begin(), order.end(), size_t{0});
      std::nth_element(order.begin(), order.begin() + chosen - 1, order.end(),
                       [&](size_t a, size_t b) { return waits[a] < waits[b]; });
      for (ptrdiff_t i = 0; i < chosen; ++i) seen[order[static_cast<size_t>(i)]] = 1;
    }
    return static_cast<double>(std::count(seen.begin(), seen.end(), 1));
  }

  const Mixture mixture_;
  const double exponent_;
  std::mt19937 random_;
};

const Mixture kMixtures[] = {{.layers = 2, .experts = 128, .chosen = 8},
                             {.layers = 2, .experts = 64, .chosen = 8},
                             {.layers = 2, .experts = 256, .chosen = 8},
                             {.layers = 2, .experts = 60, .chosen = 4}};
constexpr double kExponents[] = {0, 0.5, 1};

PassWork work_of(uint32_t rows) {
  PassWork work;
  work.add_rows(rows, 100, true);
  return work;
}

TEST(Mixture, ASpreadLearnedFromAFewPassesGivesTheExpertsThatAnyPassTouches) {
  for (const Mixture& mixture : kMixtures) {
    for (const double exponent : kExponents) {
      SCOPED_TRACE(testing::Message() << mixture.experts << " experts, exponent " << exponent);
      Routing routing(mixture, exponent, 7);
      std::vector<PassSample> samples;
      for (const uint32_t rows : {1u, 4u, 16u, 64u, 256u}) {
        samples.push_back({work_of(rows), 100.0 + rows});
        samples.back().work.experts = routing.touched(rows);
      }
      const Mixture learned = fit_pass_cost(samples, {.mixture = mixture}).mixture;
      for (const uint32_t rows : {1u, 2u, 3u, 8u, 24u, 100u, 400u}) {
        double mean = 0;
        for (int draw = 0; draw < 6; ++draw) mean += routing.touched(rows) / 6;
        EXPECT_NEAR(learned.touched(rows) / mean, 1, 0.08) << rows << " rows";
      }
    }
  }
}

TEST(Mixture, OneRowAndPassesThatTouchNearlyAllSayNothingOfTheSpread) {
  const Mixture mixture{.layers = 1, .experts = 64, .chosen = 8};
  EXPECT_FALSE(mixture.spread_of(1, 8).has_value());
  EXPECT_FALSE(mixture.spread_of(1000, 64).has_value());
  EXPECT_NEAR(mixture.spread_of(4, mixture.touched(4)).value(), 1, 1e-12);
  EXPECT_EQ(mixture.spread_of(64, 8).value(), kSpreadMin);  // all choose the same
  EXPECT_FALSE((Mixture{.layers = 1, .experts = 9, .chosen = 9}).spread_of(4, 9).has_value());
  EXPECT_FALSE(Mixture{}.spread_of(4, 9).has_value());
}

/// Predicted over actual time at the 90th percentile of passes, planned before they run.
double error_at_90(CostModel model, const PassCost& truth, double exponent) {
  constexpr uint32_t kPasses = 160, kLearning = 80;
  Routing routing(truth.mixture, exponent, 11);
  std::mt19937 random(5);
  std::uniform_real_distribution<double> power(0, 7);
  std::vector<double> errors;
  for (uint32_t pass = 0; pass < kPasses; ++pass) {
    PassWork work = work_of(static_cast<uint32_t>(std::exp2(power(random))));
    const double predicted = model.cost().predict_us(work);
    work.experts = routing.touched(static_cast<uint32_t>(work.rows));
    const double actual = truth.predict_us(work);
    model.observe(work, actual);
    if (pass >= kLearning) errors.push_back(std::abs(predicted / actual - 1));
  }
  const auto at = errors.begin() + static_cast<ptrdiff_t>(errors.size() * 9 / 10);
  std::nth_element(errors.begin(), at, errors.end());
  return *at;
}

TEST(CostModel, PassesOfAMixtureArePredictedWithin15PercentWhateverItsRouting) {
  for (const Mixture& mixture : kMixtures) {
    const PassCost truth{50, 4, 0.001, 0, 0, 30, mixture};
    for (const double exponent : kExponents) {
      SCOPED_TRACE(testing::Message() << mixture.experts << " experts, exponent " << exponent);
      EXPECT_LT(error_at_90(CostModel(truth), truth, exponent), 0.15);
    }
  }
}

TEST(CostModel, AloneARequestTouchesTheExpertsOfEachOfItsPasses) {
  const PassCost cost{0, 0, 0, 0, 0, 10, {.layers = 1, .experts = 64, .chosen = 4}};
  const auto us = [&](double rows) { return 10 * cost.mixture.touched(rows); };
  const RequestWork work{256, 0, 3, 8, 0};
  EXPECT_NEAR(alone_us(cost, work, 128), 2 * us(128) + 2 * us(8), 1e-9);
  EXPECT_NEAR(alone_us(cost, {256, 256, 3, 8, 0}, 128), 3 * us(8), 1e-9);
}

TEST(CostModel, ARowAmongManyPaysItsPartOfTheExperts) {
  const PassCost cost{0, 3, 0, 0, 0, 10, {.layers = 1, .experts = 64, .chosen = 4}};
  EXPECT_DOUBLE_EQ(cost.row_us_among(1), 3 + 40);
  EXPECT_NEAR(cost.row_us_among(640), 3 + 1, 1e-6);
  EXPECT_DOUBLE_EQ((PassCost{100, 3}).row_us_among(1), 3);
}

}  // namespace expert_cost_test
}  // namespace tessera::scheduler
