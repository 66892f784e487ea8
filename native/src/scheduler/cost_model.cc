#include "scheduler/cost_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace tessera::scheduler {
namespace {

constexpr size_t kTerms = 6;
constexpr double kPull = 1e-3;  // weight of the pull beside samples of weight one

using Vector = std::array<double, kTerms>;

/// Normal equations of weighted least squares: a x = b.
struct Normal {
  std::array<Vector, kTerms> a{};
  Vector b{};
  double square = 0;  // sum of the targets' squares

  void add(const Vector& row, double target, double weight) {
    for (size_t i = 0; i < kTerms; ++i) {
      for (size_t j = 0; j < kTerms; ++j) a[i][j] += weight * row[i] * row[j];
      b[i] += weight * row[i] * target;
    }
    square += weight * target * target;
  }
  double residual(const Vector& x) const {
    double sum = square;
    for (size_t i = 0; i < kTerms; ++i) {
      sum -= 2 * x[i] * b[i];
      for (size_t j = 0; j < kTerms; ++j) sum += x[i] * a[i][j] * x[j];
    }
    return sum;
  }
};

/// Solves for the terms in `subset`, the others zero; false when they cannot be separated.
bool solve(const Normal& normal, uint32_t subset, Vector& x) {
  std::array<size_t, kTerms> terms{};
  size_t count = 0;
  for (size_t i = 0; i < kTerms; ++i) {
    if ((subset >> i & 1) != 0) terms[count++] = i;
  }
  std::array<std::array<double, kTerms + 1>, kTerms> m{};
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) m[i][j] = normal.a[terms[i]][terms[j]];
    m[i][count] = normal.b[terms[i]];
  }
  for (size_t k = 0; k < count; ++k) {  // symmetric and positive: the diagonal is a fit pivot
    if (!(m[k][k] > 1e-12 * normal.a[terms[k]][terms[k]])) return false;
    for (size_t i = 0; i < count; ++i) {
      if (i == k) continue;
      const double factor = m[i][k] / m[k][k];
      for (size_t j = k; j <= count; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  x.fill(0);
  for (size_t i = 0; i < count; ++i) x[terms[i]] = m[i][count] / m[i][i];
  return std::all_of(x.begin(), x.end(), [](double value) { return value >= 0; });
}

/// Microseconds; see fit_pass_cost. Of passes of equally many rows the shortest counts.
double least_pass_us(std::span<const PassSample> samples) {
  const PassSample* fewest = &samples.front();
  const PassSample* most = &samples.front();
  for (const PassSample& sample : samples) {
    const auto is_better = [&](const PassSample& best, bool has_better_rows) {
      return has_better_rows || (sample.work.rows == best.work.rows && sample.us < best.us);
    };
    if (is_better(*fewest, sample.work.rows < fewest->work.rows)) fewest = &sample;
    if (is_better(*most, sample.work.rows > most->work.rows)) most = &sample;
  }
  if (fewest->work.rows == most->work.rows) return 0;
  return std::max(0.0, fewest->us - most->us * fewest->work.rows / most->work.rows);
}

/// The mean of what passes say, those of more rows counting more.
Mixture with_spread(Mixture mixture, std::span<const PassSample> samples) {
  double sum = 0, weights = 0;
  for (const auto& [work, us] : samples) {
    if (work.experts <= 0) continue;
    const std::optional<double> spread = mixture.spread_of(work.rows, work.experts);
    if (!spread) continue;
    sum += std::log(work.rows) * *spread;
    weights += std::log(work.rows);
  }
  if (weights > 0) mixture.spread = sum / weights;
  return mixture;
}

}  // namespace

double Mixture::touched(double rows) const {
  if (layers == 0 || rows <= 0) return 0;
  return layers * experts * (1 - std::pow(1 - chosen / experts, std::pow(rows, spread)));
}

std::optional<double> Mixture::spread_of(double rows, double touched) const {
  if (layers == 0 || chosen >= experts || rows < 2) return std::nullopt;
  const double share = touched / (layers * experts);
  if (share > kTouchedShareMax) return std::nullopt;
  const double random_rows = std::log1p(-share) / std::log1p(-chosen / experts);
  const double one = std::log(std::max(1.0, random_rows)) / std::log(rows);
  return std::clamp(one, kSpreadMin, kSpreadMax);
}

double PassCost::total_us(const PassWork& work, double passes) const {
  const double us = passes * pass_us + row_us * work.rows + pair_us * work.pairs +
                    cell_us * work.head.cells + column_us * work.head.columns;
  if (passes <= 0) return us;
  const double touched =
      work.experts > 0 ? work.experts : passes * mixture.touched(work.rows / passes);
  return us + expert_us * touched;
}

PassCost fit_pass_cost(std::span<const PassSample> samples, const UnitWeights& weights) {
  if (samples.empty()) return {};
  const Mixture mixture = with_spread(weights.mixture, samples);
  // Terms are counted in multiplications, so that one rate is one number for all of them.
  const auto terms_of = [&](const PassWork& work) {
    const double touched = work.experts > 0 ? work.experts : mixture.touched(work.rows);
    return Vector{1,
                  work.rows * weights.row,
                  work.pairs * weights.pair,
                  work.head.cells * weights.cell,
                  work.head.columns * weights.column,
                  touched * weights.expert};
  };
  // Few rows touch few experts: that is no cost of a pass whatever its rows.
  const double pass_us = weights.mixture.layers > 0 ? 0 : least_pass_us(samples);
  Normal normal;
  double rate = std::numeric_limits<double>::infinity();
  for (const PassSample& sample : samples) {
    const Vector terms = terms_of(sample.work);
    normal.add(terms, sample.us - pass_us, 1 / (sample.us * sample.us));
    const double products = std::accumulate(terms.begin() + 1, terms.end(), 0.0);
    rate = std::min(rate, sample.us / std::max(1.0, products));
  }
  for (size_t i = 1; i < kTerms; ++i) {
    Vector alone{};
    alone[i] = 1;
    normal.add(alone, rate, kPull / (rate * rate));
  }
  Vector best{};
  double least = std::numeric_limits<double>::infinity();
  for (uint32_t subset = 1; subset < 1u << kTerms; ++subset) {
    Vector x{};
    if (!solve(normal, subset, x)) continue;
    const double residual = normal.residual(x);
    if (residual >= least) continue;
    least = residual;
    best = x;
  }
  return {pass_us + best[0],
          best[1] * weights.row,
          best[2] * weights.pair,
          best[3] * weights.cell,
          best[4] * weights.column,
          best[5] * weights.expert,
          mixture};
}

PassCost CostModel::cost() const {
  PassCost cost = fitted_;
  for (double* us : {&cost.pass_us, &cost.row_us, &cost.pair_us, &cost.cell_us, &cost.column_us,
                     &cost.expert_us}) {
    *us *= correction_;
  }
  return cost;
}

void CostModel::observe(const PassWork& work, double actual_us) {
  const double predicted = fitted_.predict_us(work);
  if (!(predicted > 0) || !(actual_us > 0)) return;
  const double ratio = std::clamp(actual_us / predicted, 1 / kCorrectionMax, kCorrectionMax);
  correction_ += kCorrectionWeight * (ratio - correction_);
  if (work.experts <= 0) return;
  Mixture& mixture = fitted_.mixture;
  const std::optional<double> spread = mixture.spread_of(work.rows, work.experts);
  if (spread) mixture.spread += kCorrectionWeight * (*spread - mixture.spread);
}

}  // namespace tessera::scheduler
