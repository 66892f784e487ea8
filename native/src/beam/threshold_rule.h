// Guesses the score of the last path of an answer from what the first steps of its search have
// seen: linear rules of a few numbers of a step's candidates, one a step, fitted by recursive least
// squares over the searches before (Plackett 1950) with slow forgetting. A guess decides what is
// computed first, never what is found.
//
// Thread-safety: the engine's thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tessera::beam {

inline constexpr size_t kThresholdFeatures = 9;
/// 1; scores of the best candidate and of those at k/4, k, 2k and 3k; the entropy of all;
/// logarithms of the first five's and of the first k's probability. In nats.
using ThresholdFeatures = std::array<double, kThresholdFeatures>;

/// `scores` of a step's candidates, best first, not empty; `k` >= 1 paths make an answer. Of keys
/// that are no log-probabilities `zero` is what counts as certain.
ThresholdFeatures features_of(std::span<const float> scores, uint32_t k, float zero = 0);

class ThresholdRule {
 public:
  struct Guess {
    double score = 0;
    double deviation = 0;  // of guesses from what thresholds came to
  };
  /// Nothing before some searches were observed. Steps from 0, as selections.
  std::optional<Guess> guess(uint32_t step, const ThresholdFeatures& features) const;
  void observe(uint32_t step, const ThresholdFeatures& features, double threshold);

 private:
  struct OfStep {
    std::array<ThresholdFeatures, kThresholdFeatures> inverse{};  // of the features' correlation
    ThresholdFeatures weights{};
    double square = 0;  // mean of squared errors of guesses, the newest weigh most
    uint32_t count = 0;
  };
  std::vector<OfStep> steps_;
};

/// Rules by what makes thresholds differ (adapter, paths of the answer, norm, widths), the one used
/// last first; beyond a number those that were not used for longest are forgotten.
class ThresholdRules {
 public:
  /// A rule that is forgotten stays valid for its holders.
  std::shared_ptr<ThresholdRule> of(const std::string& key);

 private:
  using Entry = std::pair<std::string, std::shared_ptr<ThresholdRule>>;
  std::list<Entry> rules_;
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
};

inline constexpr size_t kThresholdRulesMax = 256;

/// Deviations by which a guess is to be lowered: a lower one costs `rows` times its part of a nat
/// more rows, a missed one further passes, each as dear as `pass_rows` rows.
double deviations_below(double deviation, double rows, double pass_rows);

}  // namespace tessera::beam
