#include "beam/out_of_reach.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace tessera::beam {
namespace {

constexpr size_t kInFront = 16;          // one of so many codes
constexpr double kHardlyLikelier = 0.0;  // nats

}  // namespace

bool is_doubtful(std::span<const float> scores, uint32_t codes) {
  if (scores.empty()) return false;
  const size_t place = std::clamp<size_t>(codes / kInFront, 1, scores.size());
  return static_cast<double>(scores[place - 1]) < kHardlyLikelier - std::log(codes);
}

bool is_out_of_reach(std::optional<float> cut, std::span<float> next, uint32_t paths) {
  const size_t half = (size_t{paths} + 1) / 2;
  if (!cut || next.size() < half) return false;
  const auto last = next.begin() + static_cast<ptrdiff_t>(half - 1);
  std::nth_element(next.begin(), last, next.end(), std::greater<>());
  return *last <= *cut;
}

}  // namespace tessera::beam
