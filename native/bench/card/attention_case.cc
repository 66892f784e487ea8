#include "card/attention_case.h"

#include <algorithm>
#include <cmath>

#include "card/random_values.h"
#include "cuda/kernels/attend_kernels.h"
#include "cuda/kernels/forward_kernels.h"

namespace tessera::bench::card {
namespace {

using attention::cuda::kBlockPositions;
using attention::cuda::Layer;
using attention::cuda::Rows;
using device::cuda::LaunchShape;

constexpr uint32_t kStep = 2;      // of the beams: one ancestor each
constexpr uint32_t kMaxSteps = 2;  // of their memory
constexpr uint32_t kSamples = 12;
constexpr double kTolerance = 0.02;  // weighted values of deviation 1 in BF16

uint32_t ceil_of(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit; }

class AttentionCase {
 public:
  AttentionCase(BenchCard& card, const Shape& shape, const AttentionSizes& sizes)
      : card_(card),
        shape_(shape),
        sizes_(sizes),
        rows_(sizes.beams > 0 ? sizes.beams : sizes.context),
        splits_(ceil_of(sizes.context, attention::cuda::kSplitPositions)) {}

  Status allocate() {
    const uint64_t q = uint64_t{rows_} * shape_.q_size();
    const uint64_t own = uint64_t{shape_.layers} * kMaxSteps * rows_ * shape_.kv_size();
    TESSERA_RETURN_IF_ERROR(keep(blocks_, kv_.fill(card_, block_count() * block_elements())));
    TESSERA_RETURN_IF_ERROR(keep(q_, queries_.fill(card_, q)));
    TESSERA_RETURN_IF_ERROR(keep(own_keys_, own_.fill(card_, own)));
    TESSERA_RETURN_IF_ERROR(keep(own_values_, own_.fill(card_, own)));
    TESSERA_RETURN_IF_ERROR(keep(mixed_, poisoned(card_, q * sizeof(uint16_t))));
    TESSERA_RETURN_IF_ERROR(keep(part_values_, poisoned(card_, splits_ * q * sizeof(float))));
    const uint64_t logs = uint64_t{splits_} * rows_ * shape_.heads;
    TESSERA_RETURN_IF_ERROR(keep(part_logs_, poisoned(card_, logs * sizeof(float))));
    std::mt19937_64 random(9);
    for (uint32_t row = 0; row < rows_; ++row) {
      ancestors_.push_back(static_cast<uint32_t>(random() % rows_));
    }
    std::vector<int64_t> halves;  // of addresses (cuda/library/card_library.h)
    for (uint64_t block = 0; block < block_count(); ++block) {
      const auto* const at = blocks_.as<uint16_t>() + block * block_elements();
      halves.push_back(static_cast<int64_t>(reinterpret_cast<uintptr_t>(at) / sizeof(uint16_t)));
    }
    TESSERA_RETURN_IF_ERROR(keep(card_ancestors_, copied<uint32_t>(card_, ancestors_)));
    TESSERA_RETURN_IF_ERROR(keep(card_blocks_, copied<int64_t>(card_, halves)));
    const TesseraCardRows prompt = prompt_of();
    TESSERA_RETURN_IF_ERROR(keep(card_prompt_, copied<TesseraCardRows>(card_, {&prompt, 1})));
    const Rows group = group_of();
    return keep(card_rows_, copied<Rows>(card_, {&group, 1}));
  }

  Status run(uint32_t layer) {
    const Layer arguments{layer, shape_.heads, shape_.kv_heads, shape_.head_dim};
    const auto* rows = card_rows_.as<const Rows>();
    const uint32_t queries = rows_ * (shape_.heads / shape_.kv_heads);
    TESSERA_RETURN_IF_ERROR(card_.queue().attend(
        {card_prompt_.as<TesseraCardRows>(), layer, shape_.heads, shape_.kv_heads, shape_.head_dim,
         ceil_of(queries, attention::cuda::kQueriesPerTile), splits_}));
    const LaunchShape merge{{rows_, shape_.heads, 1}, {attention::cuda::kMergeThreads, 1, 1}};
    return launch(card_.queue(), model::cuda::kAttendMerge, merge, arguments, rows);
  }

  /// Of the layer that ran last.
  Status check(uint32_t layer) {
    const auto mixed =
        fetched<uint16_t>(card_, mixed_.as<void>(), uint64_t{rows_} * shape_.q_size());
    if (!mixed.is_ok()) return mixed.status();
    for (const uint16_t value : mixed.value()) {
      if (!std::isfinite(widened(value))) return wrong("attention");
    }
    std::mt19937_64 random(6);
    for (uint32_t sample = 0; sample < kSamples; ++sample) {
      const auto row = sample == 0 ? rows_ - 1 : static_cast<uint32_t>(random() % rows_);
      const auto head = static_cast<uint32_t>(random() % shape_.heads);
      const std::vector<double> expected = reference(layer, row, head);
      const uint16_t* given =
          mixed.value().data() + (uint64_t{row} * shape_.heads + head) * shape_.head_dim;
      for (uint32_t i = 0; i < shape_.head_dim; ++i) {
        const double value = widened(given[i]);
        if (!(std::abs(value - expected[i]) <= kTolerance * (1 + std::abs(expected[i])))) {
          return wrong("attention");
        }
      }
    }
    return Status::ok();
  }

 private:
  static Status keep(Memory& memory, Result<Memory> made) {
    if (!made.is_ok()) return made.status();
    memory = std::move(made).value();
    return Status::ok();
  }

  uint64_t block_count() const { return ceil_of(sizes_.context, kBlockPositions); }
  uint64_t head_elements() const { return uint64_t{kBlockPositions} * shape_.head_dim; }
  uint64_t block_elements() const {
    return uint64_t{shape_.layers} * 2 * shape_.kv_heads * head_elements();
  }

  TesseraCardRows prompt_of() const {
    const bool is_beams = sizes_.beams > 0;
    return {q_.as<uint16_t>(),
            card_blocks_.as<int64_t>(),
            rows_,
            is_beams ? sizes_.context : 1,
            is_beams ? 0u : 1u,
            0,
            splits_,
            part_values_.as<float>(),
            part_logs_.as<float>()};
  }

  Rows group_of() const {
    Rows rows;
    rows.q = q_.as<uint16_t>();
    rows.rows = rows_;
    rows.splits = splits_;
    rows.part_values = part_values_.as<float>();
    rows.part_logs = part_logs_.as<float>();
    rows.mixed = mixed_.as<uint16_t>();
    if (sizes_.beams == 0) return rows;
    rows.own_keys = own_keys_.as<uint16_t>();
    rows.own_values = own_values_.as<uint16_t>();
    rows.slots = kMaxSteps * rows_;
    rows.first_slot = (kStep - 1) * rows_;
    rows.steps = kStep;
    rows.ancestors = card_ancestors_.as<uint32_t>();
    return rows;
  }

  /// Where what a row's head sees begins, in the pattern that it was drawn from.
  struct Seen {
    const RandomValues* values;
    uint64_t key, value;
  };

  std::vector<Seen> seen(uint32_t layer, uint32_t row, uint32_t kv_head) const {
    std::vector<Seen> all;
    const uint32_t visible = sizes_.beams > 0 ? sizes_.context : row + 1;
    for (uint32_t position = 0; position < visible; ++position) {
      const uint64_t of_layer = position / kBlockPositions * block_elements() +
                                uint64_t{layer} * 2 * shape_.kv_heads * head_elements();
      const uint64_t key =
          of_layer + kv_head * head_elements() + position % kBlockPositions * shape_.head_dim;
      all.push_back({&kv_, key, key + shape_.kv_heads * head_elements()});
    }
    for (uint32_t step = 0; sizes_.beams > 0 && step < kStep; ++step) {
      const uint32_t slot = step + 1 == kStep ? row : ancestors_[row];
      const uint64_t at = ((uint64_t{layer} * kMaxSteps + step) * rows_ + slot) * shape_.kv_size() +
                          uint64_t{kv_head} * shape_.head_dim;
      all.push_back({&own_, at, at});
    }
    return all;
  }

  std::vector<double> reference(uint32_t layer, uint32_t row, uint32_t head) const {
    const std::vector<Seen> all = seen(layer, row, head / (shape_.heads / shape_.kv_heads));
    const uint64_t query = (uint64_t{row} * shape_.heads + head) * shape_.head_dim;
    std::vector<double> scores;
    for (const Seen& one : all) {
      double score = 0;
      for (uint32_t i = 0; i < shape_.head_dim; ++i) {
        score += double{queries_.at(query + i)} * one.values->at(one.key + i);
      }
      scores.push_back(score / std::sqrt(double{1} * shape_.head_dim));
    }
    const double highest = *std::max_element(scores.begin(), scores.end());
    std::vector<double> mixed(shape_.head_dim);
    double sum = 0;
    for (size_t at = 0; at < all.size(); ++at) {
      const double weight = std::exp(scores[at] - highest);
      sum += weight;
      for (uint32_t i = 0; i < shape_.head_dim; ++i) {
        mixed[i] += weight * all[at].values->at(all[at].value + i);
      }
    }
    for (double& value : mixed) value /= sum;
    return mixed;
  }

  BenchCard& card_;
  const Shape& shape_;
  AttentionSizes sizes_;
  uint32_t rows_, splits_;
  RandomValues queries_{21}, kv_{22}, own_{23};
  std::vector<uint32_t> ancestors_;
  Memory blocks_, q_, own_keys_, own_values_, mixed_, part_values_, part_logs_, card_ancestors_,
      card_blocks_, card_prompt_, card_rows_;
};

}  // namespace

Work attention_work(const Shape& shape, const AttentionSizes& sizes) {
  const double context = sizes.context;
  const double rows = sizes.beams > 0 ? sizes.beams : context;
  const double pairs = sizes.beams > 0 ? rows * (context + kStep) : context * (context + 1) / 2;
  const double kept = 2 * shape.kv_size() * (context + (sizes.beams > 0 ? kStep * rows : 0));
  return {4 * pairs * shape.q_size(), sizeof(uint16_t) * (kept + 2 * rows * shape.q_size())};
}

Result<double> attention_seconds(BenchCard& card, const Rounds& rounds, const Shape& shape,
                                 const AttentionSizes& sizes) {
  AttentionCase one(card, shape, sizes);
  TESSERA_RETURN_IF_ERROR(one.allocate());
  TESSERA_RETURN_IF_ERROR(one.run(shape.layers - 1));
  TESSERA_RETURN_IF_ERROR(one.check(shape.layers - 1));
  const auto all = [&]() -> Status {
    for (uint32_t layer = 0; layer < shape.layers; ++layer) {
      TESSERA_RETURN_IF_ERROR(one.run(layer));
    }
    return Status::ok();
  };
  const Result<double> seconds = median_chain_seconds(card, rounds, all);
  if (!seconds.is_ok()) return seconds;
  return seconds.value() / shape.layers;
}

}  // namespace tessera::bench::card
