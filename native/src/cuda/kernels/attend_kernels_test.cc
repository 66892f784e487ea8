// Attention against its definition in double precision: parts by the library, or what stands in for
// it, merged by a kernel.
#include "cuda/kernels/attend_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "cuda/device/emulated_queue.h"
#include "cuda/device/kernel.h"
#include "cuda/device/test_card.h"

extern "C" {
void tessera_attend_merge(tessera::attention::cuda::Layer, const tessera::attention::cuda::Rows*);
}

namespace tessera::attention::cuda {
namespace attend_kernels_test {

using device::cuda::Shared;
using tessera::cuda::narrow;
using tessera::cuda::widen;

Shared<uint16_t> random_values(size_t count, std::mt19937& random) {
  std::uniform_real_distribution<float> draw(-2, 2);
  Shared<uint16_t> values(count);
  for (uint16_t& value : values) value = narrow(draw(random));
  return values;
}

/// One request's memory. Beams where steps > 0.
struct Request {
  Request(const Layer& layer, uint32_t row_count, uint32_t visible, uint32_t step_count,
          std::mt19937& random)
      : rows(row_count), steps(step_count), first_visible(visible) {
    const uint32_t most = visible + (steps > 0 ? 0 : rows - 1);
    const uint32_t block_elements =
        (layer.index + 1) * 2 * layer.kv_heads * kBlockPositions * layer.head_dim;
    for (uint32_t i = 0; i <= most / kBlockPositions; ++i) {
      blocks.push_back(random_values(block_elements, random));
    }
    for (const auto& block : blocks) {
      pointers.push_back(block.data());
      halves.push_back(static_cast<int64_t>(reinterpret_cast<uintptr_t>(block.data()) / 2));
    }
    q = random_values(size_t{rows} * layer.heads * layer.head_dim, random);
    const size_t own = size_t{layer.index + 1} * kSlots * layer.kv_heads * layer.head_dim;
    own_keys = random_values(own, random);
    own_values = random_values(own, random);
    for (uint32_t i = 0; steps > 0 && i < rows * (steps - 1); ++i) {
      ancestors.push_back(static_cast<uint32_t>(random() % kSlots));
    }
    splits = (most + kSplitPositions - 1) / kSplitPositions;
    const size_t parts_count = size_t{splits} * rows * layer.heads;
    part_logs.assign(parts_count, std::nanf(""));
    part_values.assign(parts_count * layer.head_dim, std::nanf(""));
    mixed.assign(q.size(), 0);
  }

  TesseraCardRows prompt(uint32_t first_split) {
    return {q.data(),      halves.data(),       rows,
            first_visible, steps > 0 ? 0u : 1u, first_split,
            splits,        part_values.data(),  part_logs.data()};
  }
  Rows view(uint32_t first_row) {
    Rows view;
    view.q = q.data();
    view.rows = rows;
    view.splits = splits;
    view.first_row = first_row;
    view.part_values = part_values.data();
    view.part_logs = part_logs.data();
    view.own_keys = own_keys.data();
    view.own_values = own_values.data();
    view.slots = kSlots;
    view.first_slot = kFirstSlot;
    view.steps = steps;
    view.ancestors = ancestors.data();
    view.mixed = mixed.data();
    return view;
  }

  static constexpr uint32_t kSlots = 192, kFirstSlot = 150;
  uint32_t rows, steps, first_visible, splits = 0;
  std::vector<Shared<uint16_t>> blocks;
  Shared<const uint16_t*> pointers;
  Shared<uint16_t> q, own_keys, own_values, mixed;
  Shared<uint32_t> ancestors;
  Shared<int64_t> halves;
  Shared<float> part_values, part_logs;
};

device::cuda::Queue& queue() {
  static const std::unique_ptr<device::cuda::Queue> opened = [] {
    if (device::cuda::on_card())
      return std::unique_ptr<device::cuda::Queue>(device::cuda::open_card_queue());
    return std::unique_ptr<device::cuda::Queue>(std::make_unique<device::cuda::EmulatedQueue>());
  }();
  return *opened;
}

void run(const Layer& layer, std::vector<Request*> requests, uint64_t seed) {
  Shared<TesseraCardRows> prompts;
  Shared<Rows> groups;
  uint32_t splits = 0, rows = 0, most = 0;
  for (Request* request : requests) {
    prompts.push_back(request->prompt(splits));
    groups.push_back(request->view(rows));
    splits += request->splits;
    rows += request->rows;
    most = std::max(most, request->rows);
  }
  const uint32_t queries = most * (layer.heads / layer.kv_heads);
  const TesseraCardAttention attention{
      prompts.data(), layer.index,    layer.heads,
      layer.kv_heads, layer.head_dim, device::cuda::ceil_of(queries, kQueriesPerTile),
      splits};
  ASSERT_TRUE(queue().attend(attention).is_ok());
  ASSERT_TRUE(queue().finish().is_ok());
  const simt::Launch merge{
      .grid = {rows, layer.heads, 1}, .block = {kMergeThreads, 1, 1}, .seed = seed};
  TESSERA_LAUNCH(tessera_attend_merge, merge, layer, groups.data());
}

/// Keys or values that a row's head sees, as (offset into memory) rows of head_dim.
std::vector<double> reference(const Layer& layer, const Request& request, uint32_t row,
                              uint32_t head) {
  const uint32_t kv_head = head / (layer.heads / layer.kv_heads);
  const uint32_t visible = request.first_visible + (request.steps > 0 ? 0 : row);
  std::vector<const uint16_t*> keys, values;
  for (uint32_t p = 0; p < visible; ++p) {
    const uint16_t* block = request.pointers[p / kBlockPositions];
    const size_t per_head = size_t{kBlockPositions} * layer.head_dim;
    const uint16_t* of_layer = block + layer.index * 2 * layer.kv_heads * per_head;
    const size_t at = kv_head * per_head + p % kBlockPositions * layer.head_dim;
    keys.push_back(of_layer + at);
    values.push_back(of_layer + layer.kv_heads * per_head + at);
  }
  for (uint32_t step = 0; step < request.steps; ++step) {
    const uint32_t slot = step + 1 == request.steps
                              ? Request::kFirstSlot + row
                              : request.ancestors[row * (request.steps - 1) + step];
    const size_t index = layer.index * Request::kSlots + slot;
    const size_t at = (index * layer.kv_heads + kv_head) * layer.head_dim;
    keys.push_back(request.own_keys.data() + at);
    values.push_back(request.own_values.data() + at);
  }
  const uint16_t* query = request.q.data() + (size_t{row} * layer.heads + head) * layer.head_dim;
  std::vector<double> weights, result(layer.head_dim, 0.0);
  double sum = 0;
  for (const uint16_t* key : keys) {
    double product = 0;
    for (uint32_t i = 0; i < layer.head_dim; ++i)
      product += double{widen(query[i])} * widen(key[i]);
    weights.push_back(std::exp(product / std::sqrt(double{1} * layer.head_dim)));
    sum += weights.back();
  }
  for (size_t p = 0; p < values.size(); ++p) {
    for (uint32_t i = 0; i < layer.head_dim; ++i)
      result[i] += weights[p] / sum * widen(values[p][i]);
  }
  return result;
}

void expect_close(const Layer& layer, const Request& request) {
  for (uint32_t row = 0; row < request.rows; ++row) {
    for (uint32_t head = 0; head < layer.heads; ++head) {
      const std::vector<double> expected = reference(layer, request, row, head);
      const uint16_t* mixed =
          request.mixed.data() + (size_t{row} * layer.heads + head) * layer.head_dim;
      // BF16 of weights and result: 2^-8 of values up to 2.
      for (uint32_t i = 0; i < layer.head_dim; ++i) {
        ASSERT_NEAR(widen(mixed[i]), expected[i], 0.016) << row << ", " << head << ", " << i;
      }
    }
  }
}

TEST(AttendKernels, PromptRowsAndBeamsOfOneBatchAreCloseToTheDefinition) {
  for (const Layer& layer : {Layer{1, 4, 2, 64}, Layer{0, 3, 1, 128}}) {
    std::mt19937 random(layer.head_dim);
    Request chunk(layer, 21, 50, 0, random);   // rows 50.. of a prompt, two tiles of rows
    Request beams(layer, 40, 530, 3, random);  // more than one split
    Request first(layer, 2, 1, 0, random);     // the beginning of a prompt
    run(layer, {&chunk, &beams, &first}, 1);
    expect_close(layer, chunk);
    expect_close(layer, beams);
    expect_close(layer, first);
  }
}

TEST(AttendKernels, ARowsBitsDependOnTheRowAlone) {
  const Layer layer{0, 4, 2, 64};
  std::mt19937 random(5);
  Request one(layer, 7, 70, 2, random), other(layer, 9, 33, 0, random);
  run(layer, {&one}, 1);
  const Shared<uint16_t> alone = one.mixed;
  one.mixed.assign(alone.size(), 0);
  run(layer, {&other, &one}, 2);
  EXPECT_EQ(one.mixed, alone);
}

}  // namespace attend_kernels_test
}  // namespace tessera::attention::cuda
