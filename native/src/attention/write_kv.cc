#include <algorithm>
#include <cstring>

#include "attention/attention.h"
#include "attention/row_group.h"
#include "base/check.h"

namespace tessera::attention {
namespace {

using device::KernelTable;
using tensor::DType;

constexpr auto kHalf = static_cast<uint32_t>(device::kPanelHalf);
constexpr uint32_t kRowsPerJob = 32;           // beam rows per job
constexpr uint64_t kForkThreshold = 1u << 14;  // elements written below which a fork costs more

void store(const KernelTable& kernels, DType type, const float* from, uint32_t n, void* to) {
  if (type == DType::kBf16) {
    kernels.narrow_bf16(from, n, static_cast<uint16_t*>(to));
  } else {
    std::memcpy(to, from, n * sizeof(float));
  }
}

/// Rows of the pass that go to consecutive positions of one chain of blocks, or to beam slots.
struct Target {
  const PromptKv* prompt;  // null: beam slots
  uint32_t row;            // of the group, the first one
  uint32_t count;
  uint32_t position;  // of the first row

  uint32_t first_block() const { return position / kBlockPositions; }
  uint64_t blocks() const {
    return count == 0 ? 0 : (position + count - 1) / kBlockPositions - first_block() + 1;
  }
};

uint64_t target_count(const RowGroup& group) { return 1 + group.mirrors.size(); }

Target target_of(const RowGroup& group, uint64_t index) {
  if (group.beam != nullptr) return {nullptr, 0, group.row_count, 0};
  if (index == 0) return {group.prompt, 0, group.row_count, group.first_position};
  const Mirror& mirror = group.mirrors[index - 1];
  return {mirror.to, mirror.first_position - group.first_position, mirror.count,
          mirror.first_position};
}

/// Writes the rows of one pass; a job is one KV head of one block, or a few beam rows.
class Writer {
 public:
  Writer(const KernelTable& kernels, const Layer& layer, const float* keys, const float* values)
      : kernels_(kernels),
        layer_(layer),
        layout_(layer.layout),
        width_(uint64_t{layer.layout.kv_heads} * layer.layout.head_dim),
        keys_(keys),
        values_(values) {}

  uint64_t jobs(const Target& target) const {
    if (target.prompt == nullptr) return (target.count + kRowsPerJob - 1) / kRowsPerJob;
    return target.blocks() * layout_.kv_heads;
  }

  void run(const RowGroup& group, const Target& target, uint64_t job) const {
    if (target.prompt == nullptr) {
      const uint32_t first = static_cast<uint32_t>(job) * kRowsPerJob;
      write_beams(group, first, std::min(first + kRowsPerJob, target.count));
      return;
    }
    const auto block = target.first_block() + static_cast<uint32_t>(job / layout_.kv_heads);
    const auto head = static_cast<uint32_t>(job % layout_.kv_heads);
    const uint32_t begin = std::max(target.position, block * kBlockPositions);
    const uint32_t end = std::min(target.position + target.count, (block + 1) * kBlockPositions);
    const uint64_t row = uint64_t{group.first_row} + target.row + (begin - target.position);
    char* bytes = static_cast<char*>(target.prompt->blocks[block]);
    const uint64_t from = row * width_ + uint64_t{head} * layout_.head_dim;
    const uint32_t position = begin % kBlockPositions, count = end - begin;
    write_keys(keys_ + from, position, count, bytes + layout_.key_offset(layer_.index, head));
    write_values(values_ + from, position, count, bytes + layout_.value_offset(layer_.index, head));
  }

 private:
  /// Rows i < count of keys become columns position + i of a panel. Elements that
  /// share 32 bits stay together, so this transposes words, 16 of each row at a time.
  void write_keys(const float* from, uint32_t position, uint32_t count, char* panel) const {
    const auto depth = static_cast<uint32_t>(device::panel_tile_depth(layout_.panel_type()));
    for (uint32_t d = 0; d < layout_.head_dim; d += depth, panel += device::kPanelTile) {
      const uint32_t n = std::min(depth, layout_.head_dim - d);
      for (uint32_t i = 0; i < count;) {
        const uint32_t column = (position + i) % kHalf;
        const uint32_t of_half = std::min(count - i, kHalf - column);
        uint32_t rows[kHalf][kHalf] = {};
        for (uint32_t j = 0; j < of_half; ++j) {
          store(kernels_, layout_.type, from + (i + j) * width_ + d, n, rows[j]);
        }
        char* half = panel + (position + i) / kHalf * device::kPanelHalfTile;
        transpose(rows, of_half, reinterpret_cast<uint32_t*>(half) + column);
        i += of_half;
      }
    }
  }

  /// to[j][i] = rows[i][j] for i < count.
  static void transpose(const uint32_t (&rows)[kHalf][kHalf], uint32_t count, uint32_t* to) {
    if (count == kHalf) {
      for (uint32_t j = 0; j < kHalf; ++j) {
        for (uint32_t i = 0; i < kHalf; ++i) to[j * kHalf + i] = rows[i][j];
      }
      return;
    }
    for (uint32_t j = 0; j < kHalf; ++j) {
      for (uint32_t i = 0; i < count; ++i) to[j * kHalf + i] = rows[i][j];
    }
  }

  /// Rows i < count of values become inputs position + i of panels of 32 columns.
  void write_values(const float* from, uint32_t position, uint32_t count, char* panels) const {
    for (uint32_t d = 0; d < layout_.head_dim; d += kHalf) {
      const uint32_t n = std::min(kHalf, layout_.head_dim - d);
      char* panel = panels + d / device::kPanelColumns * layout_.value_panel_bytes();
      for (uint32_t i = 0; i < count; ++i) {
        const uint64_t offset =
            device::panel_offset(layout_.panel_type(), position + i, d % device::kPanelColumns);
        const float* row = from + i * width_ + d;
        if (layout_.type == DType::kF32) {
          std::memcpy(panel + offset, row, n * sizeof(float));
        } else if ((position + i) % 2 == 0 && i + 1 < count) {
          write_pair(row, row + width_, n, reinterpret_cast<uint32_t*>(panel + offset));
          ++i;
        } else {
          write_one_of_pair(row, n, reinterpret_cast<uint16_t*>(panel + offset));
        }
      }
    }
  }

  /// Two positions' values, side by side for each column.
  void write_pair(const float* first, const float* second, uint32_t n, uint32_t* to) const {
    uint16_t a[kHalf], b[kHalf];
    kernels_.narrow_bf16(first, n, a);
    kernels_.narrow_bf16(second, n, b);
    for (uint32_t j = 0; j < n; ++j) to[j] = a[j] | uint32_t{b[j]} << 16;
  }

  void write_one_of_pair(const float* row, uint32_t n, uint16_t* to) const {
    uint16_t narrow[kHalf];
    kernels_.narrow_bf16(row, n, narrow);
    for (uint32_t j = 0; j < n; ++j) to[uint64_t{j} * 2] = narrow[j];
  }

  void write_beams(const RowGroup& group, uint32_t begin, uint32_t end) const {
    const auto n = static_cast<uint32_t>(width_);
    for (uint32_t row = begin; row < end; ++row) {
      const uint64_t from = (uint64_t{group.first_row} + row) * width_;
      const uint64_t to = beam_element(layer_, *group.beam, group.first_slot + row, 0);
      store(kernels_, layout_.type, keys_ + from, n,
            element_at(group.beam->keys, layout_.type, to));
      store(kernels_, layout_.type, values_ + from, n,
            element_at(group.beam->values, layout_.type, to));
    }
  }

  const KernelTable& kernels_;
  const Layer& layer_;
  const BlockLayout& layout_;
  const uint64_t width_;  // floats of a row of keys
  const float* keys_;
  const float* values_;
};

/// Runs the jobs [begin, end) of all targets of all groups, in their order.
void run_jobs(const Writer& writer, std::span<const RowGroup> groups, uint64_t begin,
              uint64_t end) {
  uint64_t first = 0;  // job of the target at hand
  for (const RowGroup& group : groups) {
    for (uint64_t i = 0; i < target_count(group) && first < end; ++i) {
      const Target target = target_of(group, i);
      const uint64_t jobs = writer.jobs(target);
      for (uint64_t job = std::max(begin, first); job < std::min(end, first + jobs); ++job) {
        writer.run(group, target, job - first);
      }
      first += jobs;
    }
  }
}

}  // namespace

void check_group(const RowGroup& group) {
  TESSERA_CHECK(group.prompt != nullptr);
  const auto holds = [](const PromptKv& prompt, uint32_t end) {
    return end <= uint64_t{prompt.block_count} * kBlockPositions;
  };
  if (group.beam == nullptr) {
    const uint32_t end = group.first_position + group.row_count;
    TESSERA_CHECK(holds(*group.prompt, end));
    for (const Mirror& mirror : group.mirrors) {
      TESSERA_CHECK(mirror.to != nullptr && mirror.first_position >= group.first_position);
      TESSERA_CHECK(mirror.first_position + mirror.count <= end);
      TESSERA_CHECK(holds(*mirror.to, mirror.first_position + mirror.count));
    }
    return;
  }
  TESSERA_CHECK(group.mirrors.empty() && holds(*group.prompt, group.prompt->length));
  TESSERA_CHECK(group.step >= 1 && group.step <= kMaxSteps);
  TESSERA_CHECK(uint64_t{group.first_slot} + group.row_count <= group.beam->slots);
  TESSERA_CHECK(group.ancestors.size() == uint64_t{group.row_count} * (group.step - 1));
  for (const uint32_t slot : group.ancestors) TESSERA_CHECK(slot < group.beam->slots);
}

void write_kv(device::Device& device, const Layer& layer, std::span<const RowGroup> groups,
              const float* keys, const float* values) {
  const Writer writer(device.kernels(), layer, keys, values);
  uint64_t jobs = 0, rows = 0;
  for (const RowGroup& group : groups) {
    check_group(group);
    for (uint64_t i = 0; i < target_count(group); ++i) {
      const Target target = target_of(group, i);
      jobs += writer.jobs(target);
      rows += target.count;
    }
  }
  const auto run = [&](uint64_t begin, uint64_t end) { run_jobs(writer, groups, begin, end); };
  if (rows * layer.layout.kv_heads * layer.layout.head_dim < kForkThreshold) {
    run(0, jobs);
  } else {
    device.threads().parallel_for(jobs, run);
  }
}

}  // namespace tessera::attention
