#include "scheduler/cost_model.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace tessera::scheduler {
namespace cost_model_test {

std::vector<PassSample> samples_of(const PassCost& truth, double noise, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> factor(1 - noise, 1 + noise);
  std::vector<PassSample> samples;
  for (const uint32_t rows : {1u, 8u, 64u, 256u}) {
    for (const uint32_t position : {0u, 512u}) {
      for (const double codes : {0.0, 4096.0}) {
        PassSample sample;
        sample.work.add_rows(rows, position, true);
        sample.work.head = {rows * codes, codes};
        sample.us = truth.predict_us(sample.work) * factor(random);
        samples.push_back(sample);
      }
    }
  }
  return samples;
}

constexpr UnitWeights kWeights{1e6, 2e3, 1e3, 16e3};

TEST(CostModel, PromptRowsAttendToOnePositionMoreEach) {
  PassWork work;
  work.add_rows(3, 10, true);  // 11 + 12 + 13
  work.add_rows(2, 20, false);
  EXPECT_DOUBLE_EQ(work.rows, 5);
  EXPECT_DOUBLE_EQ(work.pairs, 36 + 42);
}

TEST(CostModel, AFitOfExactSamplesPredictsThem) {
  const PassCost truth{900, 12, 0.02, 0.01, 0.2};
  const std::vector<PassSample> samples = samples_of(truth, 0, 1);
  const PassCost fitted = fit_pass_cost(samples, kWeights);
  for (const PassSample& sample : samples)
    EXPECT_NEAR(fitted.predict_us(sample.work) / sample.us, 1, 0.02);
}

TEST(CostModel, ExpertsAreCountedOnceEachHoweverManyRowsChooseThem) {
  const Mixture mixture{.layers = 2, .experts = 128, .chosen = 8};
  EXPECT_DOUBLE_EQ(mixture.touched(1), 2 * 8);
  EXPECT_NEAR(mixture.touched(2), 2 * (16 - 0.5), 1e-9);  // 8 * 8 / 128 are chosen twice
  EXPECT_NEAR(mixture.touched(10'000), 2 * 128, 1e-6);
  UnitWeights weights = kWeights;
  weights.expert = 1e7;
  weights.mixture = mixture;
  const PassCost truth{300, 12, 0.02, 0.01, 0.1, 40, mixture};
  const PassCost exact = fit_pass_cost(samples_of(truth, 0, 1), weights);
  const PassCost noisy = fit_pass_cost(samples_of(truth, 0.05, 2), weights);
  for (const uint32_t rows : {1u, 4u, 16u, 100u, 600u}) {
    PassWork work;
    work.add_rows(rows, 100, true);
    EXPECT_NEAR(exact.predict_us(work) / truth.predict_us(work), 1, 0.03) << rows;
    EXPECT_NEAR(noisy.predict_us(work) / truth.predict_us(work), 1, 0.15) << rows;
  }
}

/// A step touches few experts: many steps of few rows cost more than one pass of all of them.
TEST(CostModel, PassesThatShareRowsTouchMoreExpertsThanOne) {
  const PassCost cost{0, 1, 0, 0, 0, 10, {.layers = 1, .experts = 64, .chosen = 4}};
  PassWork work;
  work.rows = 64;
  EXPECT_DOUBLE_EQ(cost.total_us(work, 64), 64 + 64 * 4 * 10);
  EXPECT_LT(cost.total_us(work, 1), 64 + 64 * 10 + 1e-9);
  EXPECT_EQ(cost.total_us({}, 0), 0);
}

/// Samples of 1, 16 and 64 rows, of which one was disturbed, as beside a busy process.
TEST(CostModel, ADisturbedPassOfManyRowsLeavesThePassMostOfWhatOneRowTakes) {
  const PassCost truth{80'000, 500, 0, 0};
  for (const double disturbance : {1.0, 2.0, 4.0, 8.0}) {
    SCOPED_TRACE(disturbance);
    std::vector<PassSample> samples;
    for (const uint32_t rows : {1u, 16u, 64u}) {
      PassSample sample;
      sample.work.add_rows(rows, 0, true);
      sample.us = truth.predict_us(sample.work) * (rows == 64 ? disturbance : 1);
      samples.push_back(sample);
    }
    EXPECT_GE(fit_pass_cost(samples, kWeights).pass_us, 0.75 * truth.pass_us);
  }
}

TEST(CostModel, OfEqualPassesTheShortestSaysWhatAPassCosts) {
  std::vector<PassSample> samples;
  for (const auto& [rows, us] : {std::pair{1u, 900.0}, {1u, 300.0}, {64u, 9000.0}, {64u, 1280.0}}) {
    PassSample sample;
    sample.work.add_rows(rows, 0, true);
    sample.us = us;
    samples.push_back(sample);
  }
  EXPECT_GE(fit_pass_cost(samples, kWeights).pass_us, 300 - 1280 / 64);
}

TEST(CostModel, NoCoefficientIsNegativeWhateverTheNoise) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    const auto samples = samples_of({100, 5, 0.0001, 0.0001}, 0.6, seed);
    const PassCost fitted = fit_pass_cost(samples, kWeights);
    EXPECT_GE(fitted.pass_us, 0);
    EXPECT_GE(fitted.row_us, 0);
    EXPECT_GE(fitted.pair_us, 0);
    EXPECT_GE(fitted.cell_us, 0);
    EXPECT_GE(fitted.column_us, 0);
    for (const PassSample& sample : samples)
      EXPECT_NEAR(fitted.predict_us(sample.work) / sample.us, 1, 1.6);
  }
}

TEST(CostModel, WhatNoSampleShowsIsTakenFromTheRateOfTheRest) {
  PassSample sample;
  sample.work.rows = 64;
  sample.us = 6400;
  const PassCost fitted = fit_pass_cost({&sample, 1}, kWeights);
  const double rate = 6400 / (64 * kWeights.row);
  EXPECT_NEAR(fitted.pair_us / (rate * kWeights.pair), 1, 0.01);
  EXPECT_NEAR(fitted.cell_us / (rate * kWeights.cell), 1, 0.01);
  EXPECT_NEAR(fitted.column_us / (rate * kWeights.column), 1, 0.01);
  EXPECT_NEAR(fitted.predict_us(sample.work), 6400, 64);
  EXPECT_EQ(fit_pass_cost({}, kWeights).predict_us(sample.work), 0);
}

TEST(CostModel, TheCorrectionFollowsWhatPassesTakeAndNoSinglePassCarriesItAway) {
  CostModel model({100, 1, 0, 0});
  PassWork work;
  work.rows = 100;
  for (int i = 0; i < 100; ++i) model.observe(work, 600);  // predicted 200
  EXPECT_NEAR(model.cost().predict_us(work), 600, 6);
  model.observe(work, 1e9);
  EXPECT_LT(model.cost().predict_us(work), 900);
  model.observe({}, 0);
  EXPECT_GT(model.correction(), 0);
}

}  // namespace cost_model_test
}  // namespace tessera::scheduler
