#include "attention/reference/reference.h"

#include <algorithm>
#include <cmath>

namespace tessera::attention::reference {

std::vector<double> attend(const float* q, const std::vector<const float*>& keys,
                           const std::vector<const float*>& values, uint64_t n) {
  std::vector<double> scores;
  for (const float* key : keys) {
    double score = 0;
    for (uint64_t d = 0; d < n; ++d) {
      score += static_cast<double>(q[d]) * static_cast<double>(key[d]);
    }
    scores.push_back(score / std::sqrt(static_cast<double>(n)));
  }
  const double highest = *std::max_element(scores.begin(), scores.end());
  double total = 0;
  for (double& score : scores) total += score = std::exp(score - highest);
  std::vector<double> out(n);
  for (size_t i = 0; i < values.size(); ++i) {
    for (uint64_t d = 0; d < n; ++d) {
      out[d] += scores[i] / total * static_cast<double>(values[i][d]);
    }
  }
  return out;
}

}  // namespace tessera::attention::reference
