#include <cstring>

#include "card/product_case.h"
#include "card/random_values.h"
#include "card/shapes.h"
#include "card/stages.h"

namespace tessera::bench::card {
namespace {

constexpr uint32_t kRowsAlone = 5;  // of each product, about
constexpr uint32_t kTilesMax = 16;  // more than any card has

class BitsCase {
 public:
  BitsCase(BenchCard& card, const ProductSizes& sizes) : card_(card), sizes_(sizes) {}

  /// The number of tiles that gave the same bits.
  Result<uint32_t> run() {
    auto x = RandomValues(11).fill(card_, uint64_t{sizes_.rows} * sizes_.k);
    if (!x.is_ok()) return x.status();
    auto w = RandomValues(12, 0.05f).fill(card_, uint64_t{sizes_.columns} * sizes_.k);
    if (!w.is_ok()) return w.status();
    const auto first = product(x.value(), w.value(), 0, sizes_.rows, 1);
    if (!first.is_ok()) return first.status();
    uint32_t tiles = 1;
    while (tiles < kTilesMax) {
      const auto other = product(x.value(), w.value(), 0, sizes_.rows, tiles + 1);
      if (!other.is_ok()) break;  // a tile that the card does not have
      ++tiles;
      if (other.value() != first.value()) return wrong("product by tile " + std::to_string(tiles));
    }
    for (uint32_t row = 0; row < sizes_.rows; row += 1 + sizes_.rows / kRowsAlone) {
      const auto alone = product(x.value(), w.value(), row, 1, 0);
      if (!alone.is_ok()) return alone.status();
      const uint16_t* expected = first.value().data() + uint64_t{row} * sizes_.columns;
      if (std::memcmp(alone.value().data(), expected, sizes_.columns * sizeof(uint16_t)) != 0) {
        return wrong("product of row " + std::to_string(row) + " alone");
      }
    }
    return tiles;
  }

 private:
  /// y of `rows` rows from `first_row` on. `tile` 0: that of the shape.
  Result<std::vector<uint16_t>> product(const Memory& x, const Memory& w, uint32_t first_row,
                                        uint32_t rows, uint32_t tile) {
    const uint64_t count = uint64_t{rows} * sizes_.columns;
    auto y = poisoned(card_, count * sizeof(uint16_t));
    if (!y.is_ok()) return y.status();
    TesseraCardProduct product{};
    product.x = x.as<uint16_t>() + uint64_t{first_row} * sizes_.k;
    product.rows = rows;
    product.k = sizes_.k;
    product.w = w.as<uint16_t>();
    product.columns = sizes_.columns;
    product.tile = tile;
    product.y = y.value().as<uint16_t>();
    TESSERA_RETURN_IF_ERROR(card_.queue().multiply(product));
    return fetched<uint16_t>(card_, y.value().as<void>(), count);
  }

  BenchCard& card_;
  ProductSizes sizes_;
};

}  // namespace

Status bits_stage(BenchCard& card, const Options& options, Report& report) {
  const Result<Shape> shape = shape_of(options.shape);
  if (!shape.is_ok()) return shape.status();
  for (const LayerProduct& product : products_of(shape.value())) {
    for (const uint32_t rows : options.rows) {
      const ProductSizes sizes{rows, product.k, product.columns};
      const Result<uint32_t> tiles = BitsCase(card, sizes).run();
      if (!tiles.is_ok()) return tiles.status();
      report.add("bits/" + shape.value().name + "/product " + product.name + "/" +
                     std::to_string(rows) + " rows",
                 tiles.value(), "tiles");
    }
  }
  return Status::ok();
}

}  // namespace tessera::bench::card
