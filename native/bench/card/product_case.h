// A product of the shape's weights on a card, with fresh weights from call to call so that none are
// found in the card's cache.
#pragma once

#include <string>

#include "card/bench_card.h"
#include "card/random_values.h"
#include "card/report.h"
#include "cuda/kernels/multiply_kernels.h"

namespace tessera::bench::card {

struct ProductSizes {
  uint32_t rows = 0;
  uint32_t k = 0;
  uint32_t columns = 0;

  Work work() const;
};

Status launch_product(device::cuda::Queue& queue, const ops::cuda::Product& product);

/// Seconds of one product, once some of its elements have been found right.
Result<double> product_seconds(BenchCard& card, const Rounds& rounds, const ProductSizes& sizes);

}  // namespace tessera::bench::card
