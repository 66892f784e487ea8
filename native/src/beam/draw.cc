#include "beam/draw.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::beam {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr double kLn2High = 6.93147180369123816490e-01;  // 33 bits
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kExpMin = -700;
constexpr int kExpTerms = 14;
constexpr int kLogTerms = 11;

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

double gumbel_of(uint64_t path) {
  constexpr double kUnit = 0x1p-53;
  const double uniform = (static_cast<double>(mix(~path) >> 11) + 0.5) * kUnit;
  return -exact_log(-exact_log(uniform));
}

/// exp(r) - 1 for |r| <= ln2 / 2.
double short_expm1(double r) {
  double sum = 0;
  for (int n = kExpTerms; n >= 1; --n) sum = (sum + 1) * r / n;
  return sum;
}

/// exp(x) - 1 for x <= 0.
double expm1_of(double x) { return x > -0.34 ? short_expm1(x) : exact_exp(x) - 1; }

/// log(1 + x) for x >= -1.
double log1p_of(double x) {
  if (std::abs(x) > 1e-4) return exact_log(1 + x);
  return x * (1 - x * (0.5 - x * (1.0 / 3 - x * (0.25 - x * 0.2))));
}

}  // namespace

double exact_exp(double x) {
  if (x < kExpMin) return 0;
  if (x > -kExpMin) return std::numeric_limits<double>::infinity();
  const double n = std::floor(x * (1 / (kLn2High + kLn2Low)) + 0.5);
  const double r = (x - n * kLn2High) - n * kLn2Low;
  return std::ldexp(1 + short_expm1(r), static_cast<int>(n));
}

double exact_log(double x) {
  if (x <= 0) return kNever;
  if (std::isinf(x)) return x;
  int exponent = 0;
  double fraction = std::frexp(x, &exponent);  // [0.5, 1)
  if (fraction < 0.70710678118654752) {
    fraction *= 2;
    --exponent;
  }
  const double s = (fraction - 1) / (fraction + 1);
  const double square = s * s;
  double sum = 0;
  for (int n = kLogTerms; n >= 1; --n) sum = square * (sum + 1.0 / (2 * n + 1));
  const double of_fraction = 2 * s * (1 + sum);
  return exponent * kLn2High + (exponent * kLn2Low + of_fraction);
}

Drawn draw_root(const DrawOptions& options) {
  const uint64_t path = mix(options.seed);
  return {0, gumbel_of(path), path};
}

uint64_t child_path(uint64_t path, uint64_t code) { return mix(path ^ mix(code + 1)); }

void normalise(const Drawn& parent, std::span<const float> logits, double temperature,
               std::span<Drawn> children) {
  float most = -std::numeric_limits<float>::infinity();
  for (const float logit : logits) most = std::max(most, logit);
  double sum = 0;
  for (size_t i = 0; i < children.size(); ++i) {
    const double over = (static_cast<double>(logits[i]) - static_cast<double>(most)) / temperature;
    children[i].log_p = over;
    sum += exact_exp(over);
  }
  const double norm = exact_log(sum);
  for (Drawn& child : children) child.log_p = parent.log_p + std::min(0.0, child.log_p - norm);
}

/// With Z the largest free draw among the children, each key is
/// -log(exp(-parent) - exp(-Z) + exp(-draw)), as the paper's appendix B.3 computes it.
void draw_children(const Drawn& parent, std::span<Drawn> children) {
  double most = kNever;
  for (Drawn& child : children) {
    child.key = child.log_p + gumbel_of(child.path);
    most = std::max(most, child.key);
  }
  for (Drawn& child : children) {
    if (!(child.key > kNever)) {
      child.key = kNever;
      continue;
    }
    const double below = child.key - most;
    const double v = below < 0 ? parent.key - child.key + exact_log(-expm1_of(below)) : kNever;
    const double key = parent.key - std::max(0.0, v) - log1p_of(exact_exp(-std::abs(v)));
    child.key = std::min(parent.key, key);
  }
}

double inclusion_probability(double log_p, double key_left_out) {
  if (key_left_out == kNever) return 1;
  return -expm1_of(-exact_exp(log_p - key_left_out));
}

}  // namespace tessera::beam
