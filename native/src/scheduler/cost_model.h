// The cost of a forward pass: a linear model of its work, fitted to a few measured passes at the
// start and corrected by what later passes really took. Pure arithmetic; the engine measures.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tessera::scheduler {

/// The head's part of a pass.
struct HeadWork {
  double cells = 0;    // row and row of the head it is multiplied with
  double columns = 0;  // rows of the head that are read, however many rows they are multiplied with
};

/// Work of a pass in the units that cost time.
struct PassWork {
  double rows = 0;   // through all layers
  double pairs = 0;  // row and position it attends to
  HeadWork head{};
  /// Experts touched in all layers, where they have been counted; 0: as many as the mixture
  /// expects of the rows.
  double experts = 0;

  /// `rows` rows from `position` on; each of a prompt attends to one position more than the last.
  void add_rows(uint32_t count, uint32_t position, bool is_prompt) {
    rows += count;
    const double own = is_prompt ? 0.5 * (count + 1.0) : 1.0;
    pairs += count * (static_cast<double>(position) + own);
  }
};

/// Layers whose rows choose experts. A pass reads an expert's weights once, however many rows
/// choose it, so that its cost is not linear in rows.
///
/// Rows that choose alike touch fewer experts than rows that choose at random: n of them touch as
/// many as n^spread random ones would. Learned from passes: 1 where experts are equally likely,
/// about 0.8 where the n-th of 128 is chosen 1/n times as often as the first.
struct Mixture {
  double layers = 0;
  double experts = 0;  // of a layer
  double chosen = 0;   // of these, by a row
  double spread = 1;   // kSpreadMin..kSpreadMax

  /// Experts of all layers that `rows` rows are expected to touch.
  double touched(double rows) const;
  /// The spread at which `rows` rows touch so many; nothing where that says too little: of one row,
  /// and where nearly all are touched.
  std::optional<double> spread_of(double rows, double touched) const;
};

inline constexpr double kSpreadMin = 0.1, kSpreadMax = 1.5;
/// Largest share of touched experts: passes that touch more say nothing of the spread.
inline constexpr double kTouchedShareMax = 0.97;

/// Microseconds per pass and per unit of work; none is negative.
struct PassCost {
  double pass_us = 0;
  double row_us = 0;
  double pair_us = 0;
  double cell_us = 0;
  double column_us = 0;
  double expert_us = 0;  // per expert touched
  Mixture mixture{};

  double predict_us(const PassWork& work) const { return total_us(work, 1); }
  /// Time of `passes` passes that share the work evenly; 0: none. REQUIRES: passes >= 0.
  double total_us(const PassWork& work, double passes) const;
  /// The cost of a pass of `rows` rows beside its rows, paid about twice when the rows are cut into
  /// two passes: the fixed cost, and reading the experts.
  double fixed_us(double rows) const { return pass_us + expert_us * mixture.touched(rows); }
  /// Of a row in a pass of `rows` rows, with its part of the experts that they touch. REQUIRES:
  /// rows >= 1.
  double row_us_among(double rows) const {
    return row_us + expert_us * mixture.touched(rows) / rows;
  }
};

/// Rows of a pass whose cost is given as a rate per row: prompt rows that run together, about.
inline constexpr double kRowsOfRate = 128;

struct PassSample {
  PassWork work;
  double us = 0;  // > 0
};

/// Multiplications per unit, for coefficients that the samples cannot tell apart.
struct UnitWeights {
  double row = 1;
  double pair = 1;
  double cell = 1;
  double column = 1;
  double expert = 1;
  Mixture mixture{};
};

/// Least squares of relative errors over coefficients that are not negative, with a slight pull
/// towards one rate per multiplication. The fixed cost of a pass is at least the time of the
/// smallest pass minus its rows' share of the largest, so that a few noisy samples cannot make it
/// zero. With a mixture the fit alone decides, and samples with counted experts show how similarly
/// rows choose. No samples: all zero.
PassCost fit_pass_cost(std::span<const PassSample> samples, const UnitWeights& weights);

/// The fit with a running correction.
class CostModel {
 public:
  CostModel() = default;
  explicit CostModel(const PassCost& fitted) : fitted_(fitted) {}

  /// The corrected coefficients.
  PassCost cost() const;
  double correction() const { return correction_; }
  /// A pass, with the experts that it touched where they were counted.
  void observe(const PassWork& work, double actual_us);

 private:
  PassCost fitted_;
  double correction_ = 1;
};

/// Weight of the newest pass in the running correction and in the spread, and how far one pass or
/// all of them may pull the former.
inline constexpr double kCorrectionWeight = 1.0 / 16;
inline constexpr double kCorrectionMax = 8;

}  // namespace tessera::scheduler
