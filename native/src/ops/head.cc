#include "ops/head.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "ops/for_rows.h"
#include "ops/panel_product.h"

namespace tessera::ops {
namespace {

using device::kPanelColumns;

constexpr uint64_t kIdBlock = 256;  // ids of one task
constexpr uint64_t kHeadRowBlock = 96;
constexpr uint64_t kFullRowBlock = 32;

/// Requests that are multiplied together, and their rows in the operand.
struct Run {
  std::span<const HeadRows> requests;
  uint64_t first_row = 0;
  uint64_t rows = 0;
  bool has_overlays = false;
};

/// Calls fn(request, row within the request, row of the operand) for the rows of the run that lie
/// in [first, first + count).
template <typename Fn>
void for_rows_of(const Run& run, uint64_t first, uint64_t count, Fn&& fn) {
  uint64_t row = run.first_row;
  for (const HeadRows& request : run.requests) {
    const uint64_t begin = std::max(first, row);
    const uint64_t end = std::min(first + count, row + request.rows);
    for (uint64_t i = begin; i < end; ++i) fn(request, i - row, i);
    row += request.rows;
  }
}

bool same_ids(const HeadRows& a, const HeadRows& b, uint64_t set) {
  return set < a.tokens.size() && set < b.tokens.size() &&
         a.tokens[set].ids.data() == b.tokens[set].ids.data() &&
         a.tokens[set].ids.size() == b.tokens[set].ids.size();
}

bool same_tokens(const HeadRows& a, const HeadRows& b) {
  bool same = a.tokens.size() == b.tokens.size();
  for (uint64_t set = 0; same && set < a.tokens.size(); ++set) same = same_ids(a, b, set);
  return same;
}

/// The longest run from requests[0] of which each request is alike the one before.
template <typename Alike>
Run take_run(std::span<const HeadRows> requests, uint64_t first_row, Alike&& alike) {
  Run run{requests.first(1), first_row, requests[0].rows, requests[0].overlay != nullptr};
  for (uint64_t count = 1; count < requests.size(); ++count) {
    if (!alike(requests[count - 1], requests[count])) break;
    run.requests = requests.first(count + 1);
    run.rows += requests[count].rows;
    run.has_overlays |= requests[count].overlay != nullptr;
  }
  return run;
}

class Head {
 public:
  Head(device::Device& device, const Operand& operand, const PackedMatrix& w)
      : device_(device), products_(device.kernels().panel(operand.type)), x_(operand), w_(w) {}

  /// Logits of token set `set` of the run's requests.
  void select(const Run& run, uint64_t set) const {
    const std::span<const int32_t> ids = run.requests[0].tokens[set].ids;
    const uint64_t start = first_of_block(run.first_row);
    const uint64_t row_blocks = blocks_of(run, kHeadRowBlock);
    const uint64_t id_blocks = (ids.size() + kIdBlock - 1) / kIdBlock;
    const uint64_t work =
        std::min(run.rows, kHeadRowBlock) * std::min(ids.size(), kIdBlock) * x_.k / 8;
    for_rows(device_, row_blocks * id_blocks, work, [&](uint64_t begin, uint64_t end) {
      for (uint64_t task = begin; task < end; ++task) {
        const uint64_t first = task / row_blocks * kIdBlock;
        const uint64_t last = std::min<uint64_t>(first + kIdBlock, ids.size());
        select_block(run, set, start + task % row_blocks * kHeadRowBlock, first, last);
      }
    });
  }

  /// log sum exp of the run's rows, and the logits of all their token sets on the way.
  void reduce(const Run& run, float* scratch) const {
    const uint64_t tiles = (w_.columns + kLogSumExpTile - 1) / kLogSumExpTile;
    float* maxima = scratch;
    float* sums = maxima + tiles * run.rows;
    for_rows(device_, tiles, run.rows * kLogSumExpTile * x_.k / 8,
             [&](uint64_t begin, uint64_t end) {
               for (uint64_t t = begin; t < end; ++t) {
                 reduce_tile(run, t * kLogSumExpTile, maxima + t * run.rows, sums + t * run.rows);
               }
             });
    for_rows(device_, run.rows, tiles * 64, [&](uint64_t begin, uint64_t end) {
      for_rows_of(run, run.first_row + begin, end - begin,
                  [&](const HeadRows& request, uint64_t i, uint64_t row) {
                    const uint64_t at = row - run.first_row;
                    request.log_sum_exp[i] = join(maxima + at, sums + at, tiles, run.rows);
                  });
    });
  }

 private:
  uint64_t first_of_block(uint64_t row) const {
    return row / products_.row_block * products_.row_block;
  }
  uint64_t blocks_of(const Run& run, uint64_t block) const {
    return (run.first_row + run.rows - first_of_block(run.first_row) + block - 1) / block;
  }
  uint64_t rows_of_block(const Run& run, uint64_t row, uint64_t block) const {
    return std::min(block, run.first_row + run.rows - row);
  }

  /// Rows [row, row + rows) times `columns` columns of the head from its panel `panel` on, as rows
  /// with this overlay see it: stretches of panels that lie together.
  void multiply(const PanelOverlay* overlay, uint64_t panel, uint64_t row, uint64_t rows,
                uint64_t columns, float* y, uint64_t y_stride) const {
    const uint64_t end = panel + device::panel_count(columns);
    uint64_t left = columns;
    while (panel < end) {
      uint64_t own = overlay == nullptr ? PanelOverlay::kNone : overlay->find(panel);
      const bool is_own = own != PanelOverlay::kNone;
      uint64_t next = panel + 1;
      while (overlay != nullptr && next < end &&
             overlay->find(next) == (is_own ? own + (next - panel) : PanelOverlay::kNone)) {
        ++next;
      }
      if (overlay == nullptr) next = end;
      const uint64_t n = std::min(left, (next - panel) * kPanelColumns);
      multiply_panels(products_, x_, row, rows, is_own ? overlay->own : w_, is_own ? own : panel, n,
                      y, y_stride);
      y += n;
      left -= n;
      panel = next;
    }
  }

  /// Rows [row, row + rows), which belong to the run, times columns [column, column + columns),
  /// column at a panel's start. Stretches of rows with one overlay go from the last to the first:
  /// a stretch that begins within a block of the operand spoils rows before it, which come after.
  void multiply(const Run& run, uint64_t row, uint64_t rows, uint64_t column, uint64_t columns,
                float* y, uint64_t y_stride) const {
    const uint64_t panel = column / kPanelColumns;
    if (!run.has_overlays) {
      multiply_panels(products_, x_, row, rows, w_, panel, columns, y, y_stride);
      return;
    }
    uint64_t first = run.first_row + run.rows, end = row + rows;
    for (uint64_t r = run.requests.size(); r-- > 0 && end > row;) {
      const HeadRows& request = run.requests[r];
      first -= request.rows;
      const bool goes_on = r > 0 && run.requests[r - 1].overlay == request.overlay;
      if (first >= end || (goes_on && first > row)) continue;
      const uint64_t from = r == 0 ? row : std::max(row, first_of_block(first));
      multiply(request.overlay, panel, from, end - from, columns, y + (from - row) * y_stride,
               y_stride);
      end = std::max(first, row);
    }
  }

  /// One product per stretch of ids that lie in one panel.
  void select_block(const Run& run, uint64_t set, uint64_t row, uint64_t first,
                    uint64_t last) const {
    alignas(64) float tile[kHeadRowBlock * kPanelColumns];
    const std::span<const int32_t> ids = run.requests[0].tokens[set].ids;
    const uint64_t rows = rows_of_block(run, row, kHeadRowBlock);
    while (first < last) {
      const uint64_t panel = static_cast<uint64_t>(ids[first]) / kPanelColumns;
      uint64_t end = first + 1;
      while (end < last && static_cast<uint64_t>(ids[end]) / kPanelColumns == panel) end += 1;
      const uint64_t column = panel * kPanelColumns;
      multiply(run, row, rows, column, std::min<uint64_t>(kPanelColumns, w_.columns - column), tile,
               kPanelColumns);
      for_rows_of(run, row, rows, [&](const HeadRows& request, uint64_t i, uint64_t at) {
        float* logits = request.tokens[set].logits + i * ids.size();
        const float* from = tile + (at - row) * kPanelColumns;
        for (uint64_t j = first; j < end; ++j) {
          logits[j] = from[static_cast<uint64_t>(ids[j]) % kPanelColumns];
        }
      });
      first = end;
    }
  }

  /// Maximum and sum of exp(logit - maximum) of every row over the tile's columns.
  void reduce_tile(const Run& run, uint64_t column, float* maxima, float* sums) const {
    alignas(64) float tile[kFullRowBlock * kLogSumExpTile];
    const device::KernelTable& kernels = device_.kernels();
    const uint64_t columns = std::min(kLogSumExpTile, w_.columns - column);
    const uint64_t start = first_of_block(run.first_row), blocks = blocks_of(run, kFullRowBlock);
    for (uint64_t block = 0; block < blocks; ++block) {
      const uint64_t row = start + block * kFullRowBlock;
      const uint64_t rows = rows_of_block(run, row, kFullRowBlock);
      multiply(run, row, rows, column, columns, tile, kLogSumExpTile);
      take_logits(run, row, rows, column, columns, tile);
      for (uint64_t i = std::max(row, run.first_row); i < row + rows; ++i) {
        float* logits = tile + (i - row) * kLogSumExpTile;
        const float maximum = kernels.maximum(logits, columns);
        maxima[i - run.first_row] = maximum;
        sums[i - run.first_row] = kernels.exp_sum(logits, columns, 1.0f, maximum);
      }
    }
  }

  /// The logits of the run's tokens that lie in the tile. Ids are looked through once for all
  /// requests that share them.
  void take_logits(const Run& run, uint64_t row, uint64_t rows, uint64_t column, uint64_t columns,
                   const float* tile) const {
    uint64_t first_row = run.first_row;
    for (uint64_t r = 0; r < run.requests.size();) {
      const std::span<const HeadRows> rest = run.requests.subspan(r);
      const Run alike = take_run(rest, first_row, same_tokens);
      for (uint64_t set = 0; set < rest[0].tokens.size(); ++set) {
        const std::span<const int32_t> ids = rest[0].tokens[set].ids;
        uint32_t places[kIdBlock];
        for (uint64_t j = 0; j < ids.size();) {
          uint64_t count = 0;
          for (; j < ids.size() && count < kIdBlock; ++j) {
            places[count] = static_cast<uint32_t>(j);
            count += static_cast<uint64_t>(ids[j]) - column < columns ? 1 : 0;
          }
          take_places(alike, set, row, rows, column, {places, count}, tile);
        }
      }
      first_row += alike.rows;
      r += alike.requests.size();
    }
  }

  static void take_places(const Run& run, uint64_t set, uint64_t row, uint64_t rows,
                          uint64_t column, std::span<const uint32_t> places, const float* tile) {
    if (places.empty()) return;
    for_rows_of(run, row, rows, [&](const HeadRows& request, uint64_t i, uint64_t at) {
      const std::span<const int32_t> ids = request.tokens[set].ids;
      const float* from = tile + (at - row) * kLogSumExpTile;
      float* logits = request.tokens[set].logits + i * ids.size();
      for (const uint32_t j : places) logits[j] = from[static_cast<uint64_t>(ids[j]) - column];
    });
  }

  /// Joins the tiles of one row, in their order; `stride` floats lie between two tiles.
  static float join(const float* maxima, const float* sums, uint64_t tiles, uint64_t stride) {
    float highest = maxima[0];
    for (uint64_t t = 1; t < tiles; ++t) highest = std::max(highest, maxima[t * stride]);
    double total = 0;
    for (uint64_t t = 0; t < tiles; ++t) {
      const double shift = static_cast<double>(maxima[t * stride]) - static_cast<double>(highest);
      total += static_cast<double>(sums[t * stride]) * std::exp(shift);
    }
    return static_cast<float>(static_cast<double>(highest) + std::log(total));
  }

  device::Device& device_;
  const device::PanelKernels& products_;
  const Operand& x_;
  const PackedMatrix& w_;
};

void check(const Operand& operand, const PackedMatrix& w, std::span<const HeadRows> requests,
           std::span<float> scratch) {
  TESSERA_CHECK(w.type == operand.type && w.k == operand.k && w.columns > 0);
  TESSERA_CHECK(scratch.size() >= head_scratch(operand.rows, w.columns));
  uint64_t rows = 0;
  for (const HeadRows& request : requests) {
    rows += request.rows;
    TESSERA_CHECK(request.log_sum_exp == nullptr || w.places == nullptr);
    if (const PanelOverlay* overlay = request.overlay) {
      TESSERA_CHECK(overlay->own.type == w.type && overlay->own.k == w.k);
      TESSERA_CHECK(overlay->own.panel_count() == overlay->panels.size());
    }
    for (const HeadTokens& set : request.tokens) {
      for (const int32_t id : set.ids) {
        TESSERA_CHECK(id >= 0 && static_cast<uint64_t>(id) < w.columns);
        TESSERA_CHECK(w.has_panel(static_cast<uint64_t>(id) / kPanelColumns));
      }
    }
  }
  TESSERA_CHECK(rows == operand.rows);
}

}  // namespace

void head(device::Device& device, const Operand& operand, const PackedMatrix& w,
          std::span<const HeadRows> requests, std::span<float> scratch) {
  check(operand, w, requests, scratch);
  const Head product(device, operand, w);
  uint64_t row = 0, reduced = 0;
  for (uint64_t r = 0; r < requests.size(); row += requests[r++].rows) {
    const HeadRows& request = requests[r];
    const std::span<const HeadRows> rest = requests.subspan(r);
    if (request.rows == 0) continue;
    if (request.log_sum_exp != nullptr) {
      if (r < reduced) continue;
      const Run run = take_run(rest, row, [](const HeadRows&, const HeadRows& next) {
        return next.log_sum_exp != nullptr;
      });
      product.reduce(run, scratch.data());
      reduced = r + run.requests.size();
      continue;
    }
    for (uint64_t set = 0; set < request.tokens.size(); ++set) {
      const auto alike = [&](const HeadRows& a, const HeadRows& b) {
        return a.log_sum_exp == nullptr && b.log_sum_exp == nullptr && same_ids(a, b, set);
      };
      if (r > 0 && requests[r - 1].rows > 0 && alike(requests[r - 1], request)) continue;
      product.select(take_run(rest, row, alike), set);
    }
  }
}

}  // namespace tessera::ops
