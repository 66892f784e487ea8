#include "scheduler/row_forecast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace tessera::scheduler {
namespace row_forecast_test {

TEST(RowForecast, GoesByTheSearchesOfTheKindThatHaveEnded) {
  RowForecast forecast;
  EXPECT_EQ(forecast.predict(7, 114), 114u);
  forecast.observe(7, 120);
  EXPECT_EQ(forecast.predict(7, 114), 120u);
  EXPECT_EQ(forecast.predict(8, 114), 114u);
}

TEST(RowForecast, IsForgottenWhereAllAreRefusedForIt) {
  RowForecast forecast;
  forecast.observe(7, 5000);
  for (size_t i = 0; i < kPredictionsKept; ++i) ASSERT_EQ(forecast.predict(7, 114), 5000u);
  EXPECT_EQ(forecast.predict(7, 114), 114u);
  EXPECT_EQ(forecast.predict(7, 114), 114u);
  forecast.observe(7, 90);
  EXPECT_EQ(forecast.predict(7, 114), 90u);
}

TEST(RowForecast, NineTenthsOfSearchesTakeAboutAsManyAtMost) {
  std::mt19937 random(3);
  std::lognormal_distribution<double> users(5, 0.35);  // 148 rows in the middle, 233 at nine tenths
  RowForecast forecast;
  std::vector<double> ratios;
  for (int i = 0; i < 4000; ++i) {
    const auto rows = static_cast<uint32_t>(users(random));
    if (i >= 64) ratios.push_back(static_cast<double>(rows) / forecast.predict(1, 100'000));
    forecast.observe(1, rows);
  }
  std::sort(ratios.begin(), ratios.end());
  const double p90 = ratios[ratios.size() * 9 / 10];
  EXPECT_GT(p90, 0.8);
  EXPECT_LT(p90, 1.25);
}

TEST(RowForecast, ForgetsTheKindsThatItMetFirst) {
  RowForecast forecast;
  for (uint64_t kind = 0; kind <= kRowKindsMax; ++kind) forecast.observe(kind, 10);
  EXPECT_EQ(forecast.predict(0, 336), 336u);
  EXPECT_EQ(forecast.predict(1, 336), 10u);
}

}  // namespace row_forecast_test
}  // namespace tessera::scheduler
