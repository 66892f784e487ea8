// The cost of a forward pass: a linear model of its work, fitted to a few measured passes at the
// start and corrected by what later passes really took. Pure arithmetic; the engine measures.
#pragma once

#include <cstdint>
#include <span>

namespace tessera::scheduler {

/// Work of a pass in the units that cost time.
struct PassWork {
  double rows = 0;   // through all layers
  double pairs = 0;  // row and position it attends to
  double cells = 0;  // row and row of the head it is multiplied with

  /// `rows` rows from `position` on; each of a prompt attends to one position more than the last.
  void add_rows(uint32_t count, uint32_t position, bool is_prompt) {
    rows += count;
    const double own = is_prompt ? 0.5 * (count + 1.0) : 1.0;
    pairs += count * (static_cast<double>(position) + own);
  }
};

/// Layers whose rows choose experts. A pass reads an expert's weights once, however many rows
/// choose it, so that its cost is not linear in rows.
struct Mixture {
  double layers = 0;
  double experts = 0;  // of a layer
  double chosen = 0;   // of these, by a row

  /// Experts of all layers that `rows` rows touch, where each is as likely to be chosen.
  double touched(double rows) const;
};

/// Microseconds per pass and per unit of work; none is negative.
struct PassCost {
  double pass_us = 0;
  double row_us = 0;
  double pair_us = 0;
  double cell_us = 0;
  double expert_us = 0;  // per expert touched
  Mixture mixture{};

  double predict_us(const PassWork& work) const { return total_us(work, 1); }
  /// Of `passes` passes that share the work evenly; 0: none. REQUIRES: passes >= 0.
  double total_us(const PassWork& work, double passes) const;
};

struct PassSample {
  PassWork work;
  double us = 0;  // > 0
};

/// Multiplications per unit, for coefficients that the samples cannot tell apart.
struct UnitWeights {
  double row = 1;
  double pair = 1;
  double cell = 1;
  double expert = 1;
  Mixture mixture{};
};

/// Least squares of relative errors over coefficients that are not negative, with a slight pull
/// towards one rate per multiplication. What a pass costs whatever its rows is at least what the
/// pass of the fewest rows takes beyond their share of the pass of the most: a few disturbed
/// samples cannot make it nothing; with a mixture the fit alone decides. No samples: all zero.
PassCost fit_pass_cost(std::span<const PassSample> samples, const UnitWeights& weights);

/// The fit with a running correction.
class CostModel {
 public:
  CostModel() = default;
  explicit CostModel(const PassCost& fitted) : fitted_(fitted) {}

  /// The corrected coefficients.
  PassCost cost() const;
  double correction() const { return correction_; }
  void observe(const PassWork& work, double actual_us);

 private:
  PassCost fitted_;
  double correction_ = 1;
};

/// Weight of the newest pass in the running correction, and how far one pass or all of them may
/// pull it.
inline constexpr double kCorrectionWeight = 1.0 / 16;
inline constexpr double kCorrectionMax = 8;

}  // namespace tessera::scheduler
