// Attention of the library: its refusals on any machine; its numbers on a card.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "cuda/library/test_card_library.h"

namespace tessera::card {
namespace card_attention_test {

const auto attend = TESSERA_CARD_FUNCTION(tessera_card_attend);

TEST(CardLibraryAttention, RefusesHeadsThatItDoesNotCompute) {
  const TesseraCardAttention other_heads = {nullptr, 0, 6, 4, 64, 1, 1};
  const TesseraCardAttention other_size = {nullptr, 0, 8, 4, 80, 1, 1};
  EXPECT_EQ(attend(&other_heads, nullptr), TESSERA_CARD_BAD_ATTENTION);
  EXPECT_EQ(attend(&other_size, nullptr), TESSERA_CARD_BAD_ATTENTION);
}

/// A prompt in blocks, rows that see some of it, and what attention leaves of them.
struct AttendCase {
  static constexpr uint32_t kLayers = 2, kLayer = 1, kHeads = 6, kKvHeads = 2, kBlock = 32;

  AttendCase(uint32_t dim, uint32_t row_count, uint32_t sees, uint32_t step, std::mt19937& random)
      : head_dim(dim), rows(row_count), visible(sees), visible_step(step) {
    const uint32_t count = (seen(rows - 1) + kBlock - 1) / kBlock;
    q = random_bf16(size_t{rows} * kHeads * head_dim, random);
    pool = random_bf16(count * block_size(), random);
    for (uint32_t i = 0; i < count; ++i) {  // not in their order
      const uint16_t* block = pool.data() + (i * 7 + 3) % count * block_size();
      blocks.push_back(reinterpret_cast<int64_t>(block) / 2);
    }
    values.assign(size_t{splits()} * rows * kHeads * head_dim, kUntouched);
    logs.assign(size_t{splits()} * rows * kHeads, kUntouched);
  }

  size_t block_size() const { return size_t{kLayers} * 2 * kKvHeads * kBlock * head_dim; }
  uint32_t seen(uint32_t row) const { return visible + row * visible_step; }
  uint32_t splits() const { return (seen(rows - 1) + TESSERA_CARD_SPLIT - 1) / TESSERA_CARD_SPLIT; }

  TesseraCardRows group(uint32_t first_split) {
    return {q.data(),    blocks.data(), rows,          visible,    visible_step,
            first_split, splits(),      values.data(), logs.data()};
  }

  double at(uint32_t position, uint32_t head, uint32_t i, bool is_value) const {
    const auto* block = reinterpret_cast<const uint16_t*>(blocks[position / kBlock] * 2);
    const size_t half = kLayer * 2 + (is_value ? 1 : 0);
    const size_t row = (half * kKvHeads + head / (kHeads / kKvHeads)) * kBlock + position % kBlock;
    return widen(block[row * head_dim + i]);
  }

  std::vector<double> expected(uint32_t row, uint32_t head) const {
    std::vector<double> mixed(head_dim);
    double sum = 0;
    for (uint32_t position = 0; position < seen(row); ++position) {
      double score = 0;
      for (uint32_t i = 0; i < head_dim; ++i) {
        score +=
            widen(q[(size_t{row} * kHeads + head) * head_dim + i]) * at(position, head, i, false);
      }
      const double weight = std::exp(score / std::sqrt(head_dim));
      sum += weight;
      for (uint32_t i = 0; i < head_dim; ++i) mixed[i] += weight * at(position, head, i, true);
    }
    for (double& value : mixed) value /= sum;
    return mixed;
  }

  std::vector<double> merged(uint32_t row, uint32_t head) const {
    std::vector<double> mixed(head_dim);
    double sum = 0;
    for (uint32_t split = 0; split < splits(); ++split) {
      const size_t part = (size_t{split} * rows + row) * kHeads + head;
      const double weight = std::exp2(static_cast<double>(logs[part]));
      sum += weight;
      for (uint32_t i = 0; i < head_dim; ++i) mixed[i] += weight * values[part * head_dim + i];
    }
    for (double& value : mixed) value /= sum;
    return mixed;
  }

  uint32_t head_dim, rows, visible, visible_step;
  Shared<uint16_t> q, pool;
  Shared<int64_t> blocks;
  Shared<float> values, logs;
};

class CardAttention : public OnCard {
 protected:
  void run(std::initializer_list<AttendCase*> cases) {
    Shared<TesseraCardRows> groups;
    TesseraCardAttention all{};
    for (AttendCase* one : cases) {
      groups.push_back(one->group(all.splits));
      all.splits += one->splits();
      const uint32_t queries = one->rows * (AttendCase::kHeads / AttendCase::kKvHeads);
      all.row_tiles = std::max(all.row_tiles, (queries + 63) / 64);
      all.head_dim = one->head_dim;
    }
    TesseraCardRows spare{};
    spare.first_split = all.splits;
    spare.splits = 3;
    groups.push_back(spare);
    all.splits += spare.splits;
    all.groups = groups.data();
    all.layer = AttendCase::kLayer;
    all.heads = AttendCase::kHeads;
    all.kv_heads = AttendCase::kKvHeads;
    ASSERT_EQ(attend(&all, queue_->stream()), 0);
    finish();
  }

  void expect_as_alone(const AttendCase& together, uint32_t row) {
    AttendCase alone = together;
    alone.rows = 1;
    alone.visible = together.seen(row);
    const size_t size = size_t{AttendCase::kHeads} * together.head_dim;
    alone.q.assign(together.q.begin() + row * size, together.q.begin() + (row + 1) * size);
    run({&alone});
    for (uint32_t split = 0; split < alone.splits(); ++split) {
      const float* part = together.values.data() + (size_t{split} * together.rows + row) * size;
      EXPECT_EQ(std::memcmp(part, alone.values.data() + split * size, size * sizeof(float)), 0)
          << "row " << row << ", split " << split;
    }
  }
};

TEST_F(CardAttention, IsThatOfDoublePrecisionAndTheSameAlone) {
  for (const uint32_t head_dim : {64u, 128u}) {
    AttendCase chunk(head_dim, 75, 470, 1, random_), beams(head_dim, 25, 1100, 0, random_),
        first(head_dim, 40, 1, 1, random_);
    run({&chunk, &beams, &first});
    for (const AttendCase* one : {&chunk, &beams, &first}) {
      SCOPED_TRACE(std::to_string(one->rows) + " rows of " + std::to_string(head_dim));
      for (uint32_t row = 0; row < one->rows; row += 6) {
        for (uint32_t head = 0; head < AttendCase::kHeads; ++head) {
          const std::vector<double> got = one->merged(row, head), wanted = one->expected(row, head);
          // Weights are rounded to BF16, values are up to 2.
          for (uint32_t i = 0; i < head_dim; ++i) ASSERT_NEAR(got[i], wanted[i], 0.02) << row;
        }
      }
      for (const uint32_t row : {0u, 7u, one->rows - 1}) expect_as_alone(*one, row);
    }
  }
}

}  // namespace card_attention_test
}  // namespace tessera::card
