#include "beam/out_of_reach.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace tessera::beam {
namespace {

// Probability of the codes that are known, and of one in so many, the best. Trained models give
// them 0.7 and 0.14 at least, a model after three batches 0.3 and 0.05, random weights 0.2 the
// former, and equal shares of all codes 0.06 the latter.
constexpr double kLittle = 0.4, kLittleInFront = 0.1;
constexpr size_t kInFront = 16;

}  // namespace

bool is_doubtful(std::span<const float> scores, uint32_t codes, uint32_t had) {
  const size_t front = std::max<size_t>(1, had / kInFront);
  double all = 0, in_front = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    all += std::exp(static_cast<double>(scores[i]));
    if (i < front) in_front = all;
  }
  const double share = static_cast<double>(had) / codes;
  return all < kLittle * share || in_front < kLittleInFront * share;
}

bool is_out_of_reach(std::optional<float> cut, std::span<float> next, uint32_t paths) {
  const size_t half = (size_t{paths} + 1) / 2;
  if (!cut || next.size() < half) return false;
  const auto last = next.begin() + static_cast<ptrdiff_t>(half - 1);
  std::nth_element(next.begin(), last, next.end(), std::greater<>());
  return *last <= *cut;
}

}  // namespace tessera::beam
