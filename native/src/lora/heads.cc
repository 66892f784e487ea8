#include "lora/heads.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tessera::lora {
namespace {

constexpr size_t kLanes = 8;  // sums that a product is made of
constexpr double kSurest = 1e-7;

double sigmoid(double x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1 + e);
}

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

double inner(HeadForm::Inner kind, double x) {
  constexpr double kHalfRoot = 0.70710678118654752440;
  switch (kind) {
    case HeadForm::Inner::kRelu: return x > 0 ? x : 0 * x;  // NaN stays
    case HeadForm::Inner::kGelu: return 0.5 * x * (1 + std::erf(x * kHalfRoot));
    case HeadForm::Inner::kSilu: return x * sigmoid(x);
    case HeadForm::Inner::kTanh: return std::tanh(x);
  }
  return x;
}

/// Linear between knots, constant outside.
double isotonic(const HeadForm& head, double p) {
  const std::vector<double>&x = head.knots_x, &y = head.knots_y;
  if (!(p > x.front())) return std::isnan(p) ? p : y.front();
  if (p >= x.back()) return y.back();
  const auto after = static_cast<size_t>(std::upper_bound(x.begin(), x.end(), p) - x.begin());
  const double share = (p - x[after - 1]) / (x[after] - x[after - 1]);
  return y[after - 1] + share * (y[after] - y[after - 1]);
}

/// In an order that the sizes alone decide, lane by lane.
template <typename Number>
double dot(const float* weight, std::span<const Number> x) {
  std::array<double, kLanes> sums{};
  size_t i = 0;
  for (; i + kLanes <= x.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane)
      sums[lane] += static_cast<double>(weight[i + lane]) * static_cast<double>(x[i + lane]);
  }
  for (size_t lane = 0; i < x.size(); ++i, ++lane)
    sums[lane] += static_cast<double>(weight[i]) * static_cast<double>(x[i]);
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

}  // namespace

double HeadAttribute::of(double number) const {
  double x = number;
  if (function == Function::kLog) x = number > 0 ? std::log(number) : std::nan("");
  if (function == Function::kLog1p) x = number > -1 ? std::log1p(number) : std::nan("");
  return std::isnan(x) ? by_default : (x - mean) / deviation;
}

double HeadForm::answer(double number) const {
  double p = number;
  switch (activation) {
    case Activation::kIdentity: break;
    case Activation::kSigmoid: p = sigmoid(number); break;
    case Activation::kExp: p = std::exp(number); break;
    case Activation::kSoftplus: p = softplus(number); break;
  }
  if (calibration == Calibration::kIsotonic) return isotonic(*this, p);
  if (calibration == Calibration::kNone || std::isnan(p)) return p;
  const double sure = std::clamp(p, kSurest, 1 - kSurest);
  return sigmoid(platt[0] * std::log(sure / (1 - sure)) + platt[1]);
}

uint64_t Heads::bytes() const {
  uint64_t floats = 0;
  for (const std::vector<Layer>& layers : layers_) {
    for (const Layer& layer : layers) floats += layer.weight.size() + layer.bias.size();
  }
  return floats * sizeof(float);
}

void Heads::say(std::span<const float> hidden, std::span<const double> numbers,
                std::span<float> answers) const {
  std::vector<double> attributes(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) attributes[i] = form_.attributes[i].of(numbers[i]);
  std::vector<double> x, next;
  for (size_t head = 0; head < layers_.size(); ++head) {
    const HeadForm& form = form_.heads[head];
    for (size_t l = 0; l < layers_[head].size(); ++l) {
      const Layer& layer = layers_[head][l];
      next.resize(layer.bias.size());
      for (size_t o = 0; o < next.size(); ++o) {
        const float* weight = layer.weight.data() + o * layer.inputs;
        const double sum =
            l > 0 ? dot<double>(weight, x)
                  : dot<float>(weight, hidden) + dot<double>(weight + hidden.size(), attributes);
        next[o] = sum + static_cast<double>(layer.bias[o]);
        if (l + 1 < layers_[head].size()) next[o] = inner(form.inner_activation, next[o]);
      }
      x.swap(next);
    }
    answers[head] = static_cast<float>(form.answer(x.front()));
  }
}

}  // namespace tessera::lora
