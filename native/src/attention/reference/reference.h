// Attention of one query in double precision, from a plain list of keys and values. Test only.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::attention::reference {

/// softmax(q . keys[i] / sqrt(n)) over values, n elements each.
std::vector<double> attend(const float* q, const std::vector<const float*>& keys,
                           const std::vector<const float*>& values, uint64_t n);

}  // namespace tessera::attention::reference
