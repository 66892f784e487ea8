#include "beam/threshold_rule.h"

#include <algorithm>
#include <cmath>

namespace tessera::beam {
namespace {

constexpr uint32_t kObservedMin = 16;  // before a rule guesses
constexpr uint32_t kStepsMax = 8;      // of rules: further steps go by the last of these
constexpr double kForget = 0.998;      // of what was observed, at each search
constexpr double kFirstInverse = 1e3;  // a slight pull of the weights towards zero
constexpr double kErrorWeight = 1.0 / 16;
constexpr double kInverseMax = 1e6;  // what is never seen must not grow for ever
// Rows that a threshold lower by one nat takes, over those that it takes now: from thresholds and
// rows of three trained models.
constexpr double kRowsPerNat = 0.5;
constexpr double kPassesOfMiss = 1.5;

/// Scores of candidates that are no numbers to compute with count as very unlikely.
double bounded(float score) { return std::max(-1e3, static_cast<double>(score)); }

}  // namespace

ThresholdFeatures features_of(std::span<const float> scores, uint32_t k, float zero) {
  constexpr size_t kFew = 5;
  double entropy = 0, all = 0, of_few = 0, of_k = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    const double log_p = bounded(scores[i] - zero);
    entropy -= std::exp(log_p) * log_p;
    all += std::exp(log_p);
    if (i < kFew) of_few = all;
    if (i < k) of_k = all;
  }
  const auto at = [&](size_t place) {
    return bounded(scores[std::clamp<size_t>(place, 1, scores.size()) - 1]);
  };
  const auto log_of = [](double p) { return std::max(-1e3, std::log(p)); };
  const size_t n = k;
  return {1,       at(1),          at(std::max<size_t>(2, n / 4)),
          at(n),   at(2 * n),      at(3 * n),
          entropy, log_of(of_few), log_of(of_k)};
}

std::optional<ThresholdRule::Guess> ThresholdRule::guess(uint32_t step,
                                                         const ThresholdFeatures& features) const {
  if (step >= steps_.size() || steps_[step].count < kObservedMin) return std::nullopt;
  const OfStep& rule = steps_[step];
  double score = 0;
  for (size_t i = 0; i < features.size(); ++i) score += rule.weights[i] * features[i];
  if (!std::isfinite(score)) return std::nullopt;
  return Guess{score, std::sqrt(rule.square)};
}

void ThresholdRule::observe(uint32_t step, const ThresholdFeatures& x, double threshold) {
  if (step >= kStepsMax || !std::isfinite(threshold)) return;
  while (steps_.size() <= step) {
    OfStep& fresh = steps_.emplace_back();
    for (size_t i = 0; i < x.size(); ++i) fresh.inverse[i][i] = kFirstInverse;
  }
  OfStep& rule = steps_[step];
  ThresholdFeatures gain{};
  double scale = kForget, error = threshold;
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = 0; j < x.size(); ++j) gain[i] += rule.inverse[i][j] * x[j];
    scale += x[i] * gain[i];
    error -= rule.weights[i] * x[i];
  }
  if (rule.count >= kObservedMin / 2) {
    const double weight = std::max(kErrorWeight, 1.0 / (rule.count - kObservedMin / 2 + 1));
    rule.square += weight * (error * error - rule.square);
  }
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    rule.weights[i] += gain[i] / scale * error;
    for (size_t j = 0; j < x.size(); ++j) {
      rule.inverse[i][j] = (rule.inverse[i][j] - gain[i] * gain[j] / scale);
      largest = std::max(largest, std::abs(rule.inverse[i][j]));
    }
  }
  if (largest < kInverseMax) {
    for (auto& row : rule.inverse)
      for (double& value : row) value /= kForget;
  }
  ++rule.count;
}

std::shared_ptr<ThresholdRule> ThresholdRules::of(const std::string& key) {
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    rules_.splice(rules_.begin(), rules_, found->second);
    return rules_.front().second;
  }
  if (rules_.size() >= kThresholdRulesMax) {
    by_key_.erase(rules_.back().first);
    rules_.pop_back();
  }
  rules_.emplace_front(key, std::make_shared<ThresholdRule>());
  by_key_.emplace(key, rules_.begin());
  return rules_.front().second;
}

double deviations_below(double deviation, double rows, double pass_rows) {
  double best = 0, least = HUGE_VAL;
  for (double below = 0; below <= 4; below += 0.25) {
    const double missed = 0.5 * std::erfc(below / std::sqrt(2.0));
    const double cost =
        rows * std::expm1(kRowsPerNat * below * deviation) + missed * kPassesOfMiss * pass_rows;
    if (cost < least) {
      least = cost;
      best = below;
    }
  }
  return best;
}

}  // namespace tessera::beam
