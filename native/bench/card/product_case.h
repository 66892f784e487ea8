// A product of the shape's weights on a card, with fresh weights from call to call so that none are
// found in the card's cache.
#pragma once

#include <string>
#include <vector>

#include "card/bench_card.h"
#include "card/random_values.h"
#include "card/report.h"
#include "card/shapes.h"

namespace tessera::bench::card {

struct ProductSizes {
  uint32_t rows = 0;
  uint32_t k = 0;
  uint32_t columns = 0;

  Work work() const;
};

/// A product of each layer of a shape.
struct LayerProduct {
  std::string name;
  uint32_t k = 0;
  uint32_t columns = 0;
};

std::vector<LayerProduct> products_of(const Shape& shape);

/// Seconds of one product, once some of its elements have been found right.
Result<double> product_seconds(BenchCard& card, const Rounds& rounds, const ProductSizes& sizes);

}  // namespace tessera::bench::card
