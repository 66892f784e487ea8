#include "attention/delta_rule.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "attention/attention.h"
#include "attention/delta_head.h"
#include "base/check.h"

namespace tessera::attention {
namespace {

using Run = std::span<const RowGroup* const>;  // the groups of one request

constexpr uint32_t kTapsMax = 8;
constexpr uint32_t kPartsPerThread = 2;
constexpr float kNormEpsilon = 1e-6f;  // of heads of queries and keys

/// The convolution, and all else that a row gives alone.
class RowWork {
 public:
  RowWork(const device::KernelTable& kernels, const DeltaShape& shape, uint32_t layer,
          const DeltaWeights& weights, const DeltaRows& rows, const float* zeros)
      : kernels_(kernels),
        shape_(shape),
        layer_(layer),
        weights_(weights),
        rows_(rows),
        zeros_(zeros) {}

  /// Keeps the inputs of rows of beams where their descendants look for them.
  void keep_inputs(const RowGroup& group) const {
    for (uint32_t i = 0; i < group.row_count; ++i) {
      const float* from = rows_.inputs + (uint64_t{group.first_row} + i) * shape_.channels();
      float* to = beam_inputs(group, group.first_slot + i);
      if (shape_.is_narrow) {
        kernels_.narrow_bf16(from, shape_.channels(), reinterpret_cast<uint16_t*>(to));
      } else {
        std::memcpy(to, from, shape_.channels() * sizeof(float));
      }
    }
  }

  /// Row i of the last one of a request's groups; `wide` is [taps - 1][channels].
  void run(Run groups, uint32_t i, float* wide) const {
    const RowGroup& group = *groups.back();
    const uint64_t row = uint64_t{group.first_row} + i;
    const float* inputs[kTapsMax];
    for (uint32_t back = 0; back < shape_.taps; ++back)
      inputs[shape_.taps - 1 - back] = input(groups, i, back, wide + back * shape_.channels());
    float* mixed = rows_.mixed + row * shape_.channels();
    kernels_.sum_of_products(inputs, weights_.taps, shape_.taps, shape_.channels(), mixed);
    kernels_.silu_mul(mixed, ones(), shape_.channels(), mixed);
    const float scale = 1.0f / std::sqrt(static_cast<float>(shape_.key_dim));
    for (uint32_t head = 0; head < 2 * shape_.key_heads; ++head)
      normalise(mixed + uint64_t{head} * shape_.key_dim, head < shape_.key_heads ? scale : 1.0f);
    for (uint32_t head = 0; head < shape_.value_heads; ++head) {
      const uint64_t at = row * shape_.value_heads + head;
      // log(1 + exp(x)), which is x where that rounds to it.
      const double x = static_cast<double>(rows_.decays[at]) + weights_.step_bias[head];
      const double softplus = x > 40 ? x : std::log1p(std::exp(x));
      const double rate = std::exp(static_cast<double>(weights_.log_rate[head]));
      float* factors = rows_.factors + 2 * row * shape_.value_heads;
      factors[head] = static_cast<float>(std::exp(-rate * softplus));
      const double strength = rows_.strengths[at];
      factors[shape_.value_heads + head] = static_cast<float>(1 / (1 + std::exp(-strength)));
    }
  }

  /// Moves the prompt's last inputs on, and copies them where a copy is wanted.
  void advance(const RowGroup& group) const {
    const uint32_t kept = shape_.taps - 1;
    const uint64_t channels = shape_.channels();
    for (const DeltaCapture& capture : group.captures) {
      for (uint32_t entry = 0; entry < kept; ++entry) {
        const uint32_t last = capture.position - 1;  // the newest input of the entry's is wanted
        const bool is_there = last >= entry;
        capture.write(shape_.history(layer_, entry),
                      is_there ? prompt_input(group, last - (last - entry) % kept) : zeros_,
                      channels);
      }
    }
    const uint32_t end = group.first_position + group.row_count;
    for (uint32_t position = end - std::min(group.row_count, kept); position < end; ++position) {
      std::memcpy(group.prompt->delta->data + shape_.history(layer_, position),
                  prompt_input(group, position), channels * sizeof(float));
    }
  }

 private:
  float* beam_inputs(const RowGroup& group, uint32_t slot) const {
    const BeamKv& beam = *group.beam;
    const uint64_t tokens = uint64_t{shape_.layers} * beam.slots * shape_.beam_token_floats();
    return beam.delta + tokens +
           (uint64_t{layer_} * beam.slots + slot) * shape_.beam_input_floats();
  }

  /// Input of a position that the group has, or of an earlier one that has been read.
  const float* prompt_input(const RowGroup& group, uint32_t position) const {
    const bool is_of_group = group.beam == nullptr && position >= group.first_position;
    const uint64_t row = group.first_row + uint64_t{position} - group.first_position;
    return is_of_group ? rows_.inputs + row * shape_.channels()
                       : group.prompt->delta->data + shape_.history(layer_, position);
  }

  /// The input `back` tokens before the one of row i of the last group.
  const float* input(Run groups, uint32_t i, uint32_t back, float* wide) const {
    const RowGroup& group = *groups.back();
    if (group.beam == nullptr) {
      if (back > group.first_position + i) return zeros_;
      const uint32_t position = group.first_position + i - back;
      while (position < groups.back()->first_position && groups.size() > 1)
        groups = groups.first(groups.size() - 1);
      return prompt_input(*groups.back(), position);
    }
    if (back == 0) return rows_.inputs + (uint64_t{group.first_row} + i) * shape_.channels();
    if (back < group.step) {
      const uint64_t own = uint64_t{i} * (group.step - 1);
      const float* kept = beam_inputs(group, group.ancestors[own + group.step - 1 - back]);
      if (!shape_.is_narrow) return kept;
      kernels_.widen_bf16(reinterpret_cast<const uint16_t*>(kept), shape_.channels(), wide);
      return wide;
    }
    const uint32_t behind = back - group.step + 1;  // from the prompt's end
    return behind > group.prompt->length ? zeros_
                                         : prompt_input(group, group.prompt->length - behind);
  }

  const float* ones() const { return zeros_ + shape_.channels(); }

  void normalise(float* head, float scale) const {
    float square = 0;
    const float* x = head;
    const void* w = head;
    kernels_.dot_rows_f32(&x, 1, &w, 1, shape_.key_dim, &square, 1);
    kernels_.scale(head, shape_.key_dim, scale / std::sqrt(square + kNormEpsilon));
  }

  const device::KernelTable& kernels_;
  const DeltaShape& shape_;
  const uint32_t layer_;
  const DeltaWeights& weights_;
  const DeltaRows& rows_;
  const float* const zeros_;  // [channels], and as many ones behind them
};

void check(const DeltaShape& shape, uint32_t layer, Run groups) {
  TESSERA_CHECK(layer < shape.layers && shape.taps >= 2 && shape.taps <= kTapsMax);
  const PromptKv& prompt = *groups.front()->prompt;
  TESSERA_CHECK(prompt.delta != nullptr && prompt.delta->data != nullptr);
  TESSERA_CHECK(prompt.delta->is_folded.size() == shape.layers);
  uint32_t end = prompt.length;
  for (const RowGroup* group : groups) {
    TESSERA_CHECK(group->mirrors.empty());
    if (group->beam != nullptr) {
      TESSERA_CHECK(group->beam->delta != nullptr && group->captures.empty());
      continue;
    }
    TESSERA_CHECK(group->first_position == end && !prompt.delta->is_folded[layer]);
    end += group->row_count;
    uint32_t before = group->first_position;
    for (const DeltaCapture& capture : group->captures) {
      TESSERA_CHECK(capture.position > before && capture.position <= end);
      before = capture.position;
    }
  }
}

}  // namespace

Result<DeltaScratch> DeltaScratch::allocate(device::Device& device, const DeltaShape& shape) {
  DeltaScratch scratch;
  if (shape.layers == 0) return scratch;
  scratch.floats_ =
      std::max(DeltaHead::scratch_floats(shape), (shape.taps * shape.channels() + 15) / 16 * 16);
  scratch.first_ = (2 * shape.channels() + 15) / 16 * 16;
  const uint64_t parts = device.threads().thread_count() * scratch.floats_;
  Result<device::Buffer> memory = device.allocate((scratch.first_ + parts) * sizeof(float));
  if (!memory.is_ok()) return memory.status();
  scratch.memory_ = std::move(memory).value();
  std::fill_n(scratch.memory_.as<float>() + shape.channels(), shape.channels(), 1.0f);
  return scratch;
}

void DeltaScratch::sort(std::span<const RowGroup> groups) {
  groups_.clear();
  for (const RowGroup& group : groups) groups_.push_back(&group);
  std::sort(groups_.begin(), groups_.end(), [](const RowGroup* a, const RowGroup* b) {
    return a->prompt != b->prompt ? std::less<>()(a->prompt, b->prompt)
                                  : a->first_row < b->first_row;
  });
  ends_.clear();
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (i > 0 && groups_[i]->prompt == groups_[i - 1]->prompt) ends_.pop_back();
    ends_.push_back(i + 1);
  }
}

void delta_rule(device::Device& device, const DeltaShape& shape, uint32_t layer,
                std::span<const RowGroup> groups, const DeltaWeights& weights,
                const DeltaRows& rows, DeltaScratch& scratch) {
  const RowWork work(device.kernels(), shape, layer, weights, rows, scratch.constants());
  scratch.sort(groups);
  uint64_t row_count = 0;
  for (size_t i = 0; i < scratch.requests(); ++i) {
    check(shape, layer, scratch.request(i));
    for (const RowGroup* group : scratch.request(i)) {
      if (group->beam != nullptr) work.keep_inputs(*group);
      row_count += group->row_count;
    }
  }
  const uint32_t parts = device.threads().thread_count() * kPartsPerThread;
  device.threads().parallel_tasks(parts, [&](uint32_t part, uint32_t thread) {
    const uint64_t begin = row_count * part / parts, end = row_count * (part + 1) / parts;
    uint64_t first = 0;
    for (size_t i = 0; i < scratch.requests(); ++i) {
      const Run run = scratch.request(i);
      for (size_t g = 0; g < run.size(); first += run[g++]->row_count) {
        const uint64_t last = std::min(end, first + run[g]->row_count);
        for (uint64_t row = std::max(begin, first); row < last; ++row)
          work.run(run.first(g + 1), static_cast<uint32_t>(row - first), scratch.of_thread(thread));
      }
    }
  });
  for (size_t i = 0; i < scratch.requests(); ++i) {
    for (const RowGroup* group : scratch.request(i)) {
      if (group->beam == nullptr) work.advance(*group);
    }
  }
  device.threads().parallel_tasks(static_cast<uint32_t>(scratch.requests() * shape.key_heads),
                                  [&](uint32_t task, uint32_t thread) {
                                    DeltaHead(device.kernels(), shape, layer,
                                              task % shape.key_heads, weights, rows,
                                              scratch.of_thread(thread))
                                        .run(scratch.request(task / shape.key_heads));
                                  });
  for (const RowGroup& group : groups) {
    if (group.beam != nullptr) group.prompt->delta->is_folded[layer] = 1;
  }
}

}  // namespace tessera::attention
