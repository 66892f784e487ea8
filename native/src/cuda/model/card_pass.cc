#include "cuda/model/card_pass.h"

#include <algorithm>
#include <vector>

#include "attention/attention.h"
#include "base/check.h"
#include "cuda/kernels/multiply_kernels.h"
#include "cuda/kernels/row_kernels.h"
#include "cuda/model/card_weights.h"
#include "ops/rope.h"

namespace tessera::model::cuda {
namespace {

using attention::cuda::kBlockPositions;
using attention::cuda::kSplitPositions;
using device::cuda::ceil_of;
using device::cuda::Memory;
using device::cuda::PinnedMemory;

constexpr uint64_t kPlanBytesPerRow = 512;           // address, position, place, a group of its own
constexpr uint64_t kPlanBytesSpare = 4096;           // rounding, and the group of spare rows
constexpr uint64_t kResultsMax = uint64_t{1} << 24;  // floats of logits at once: 64 MiB
constexpr uint64_t kVocabLogitsMax = uint64_t{1} << 26;  // which stay on the card: 256 MiB

uint64_t angles_of(const ModelConfig& config, uint32_t context) {
  return (uint64_t{context} + attention::kMaxSteps) * (config.head_dim / 2);
}

}  // namespace

uint64_t CardPass::lay_out(const ModelConfig& config, const CardPass& sizes, char* base,
                           PassArrays& arrays) {
  const uint64_t rows = sizes.max_rows_, hidden = config.hidden_size;
  const uint64_t inner = config.intermediate_size, q = config.q_size();
  const uint64_t splits = ceil_of(sizes.max_context_, kSplitPositions);
  const uint64_t angles = angles_of(config, sizes.max_context_);
  device::cuda::Arrays taken(base);
  taken.take(arrays.hidden, rows * hidden);
  taken.take(arrays.normed, rows * hidden);
  taken.take(arrays.final_rows, rows * hidden);
  taken.take(arrays.added, rows * hidden);
  taken.take(arrays.projected, rows * (q + 2 * config.kv_size()));
  taken.take(arrays.q, rows * q);
  taken.take(arrays.mixed, rows * q);
  taken.take(arrays.gate_up, rows * 2 * inner);
  taken.take(arrays.gated, rows * inner);
  if (sizes.type_ == ComputeType::kW8A8) {
    const uint64_t tiles = rows * CardMatrix::tiles_of(std::max({hidden, inner, q}));
    taken.take(arrays.quantised, tiles * ops::cuda::kQuantisedDepth);
    taken.take(arrays.quantised_scales, tiles);
  }
  taken.take(arrays.part_values, splits * rows * q);
  taken.take(arrays.part_logs, splits * rows * config.head_count);
  if (sizes.max_adapters_ > 0) {
    const uint64_t columns = std::max({q + 2 * config.kv_size(), 2 * inner, hidden});
    taken.take(arrays.inner, kPartsMax * rows * ops::cuda::kRankMax);
    taken.take(arrays.sums, rows * columns);
  }
  taken.take(arrays.struck, rows);
  taken.take(arrays.cosines, angles);
  taken.take(arrays.sines, angles);
  taken.take(arrays.head_plan, sizes.head_plan_bytes_);
  taken.take(arrays.results, sizes.results_max_);
  taken.take(arrays.vocab_logits, sizes.vocab_rows_ * uint64_t{config.vocab_size});
  return taken.bytes();
}

uint64_t CardPass::lay_out(const ModelConfig& config, const CardPass& sizes, char* base,
                           HostArrays& arrays) {
  const uint64_t rows = sizes.max_rows_;
  device::cuda::Arrays taken(base);
  taken.take(arrays.struck, rows);
  taken.take(arrays.rows, rows * config.hidden_size);
  taken.take(arrays.head_plan, sizes.head_plan_bytes_);
  taken.take(arrays.results, sizes.results_max_);
  return taken.bytes();
}

Result<std::unique_ptr<CardPass>> CardPass::allocate(const ModelConfig& config, ComputeType type,
                                                     uint32_t max_rows, uint32_t max_context,
                                                     uint32_t max_adapters,
                                                     std::shared_ptr<device::cuda::Queue> queue) {
  TESSERA_CHECK(max_rows > 0);
  auto pass = std::unique_ptr<CardPass>(new CardPass(std::move(queue)));
  pass->type_ = type;
  pass->max_rows_ = max_rows;
  pass->max_context_ = max_context;
  pass->max_adapters_ = max_adapters;
  const uint64_t vocab = config.vocab_size;
  pass->results_max_ = std::max(vocab, std::min(vocab * max_rows, kResultsMax));
  pass->vocab_rows_ =
      static_cast<uint32_t>(std::clamp<uint64_t>(kVocabLogitsMax / vocab, 1, max_rows));
  pass->head_plan_bytes_ = (max_rows + vocab) * sizeof(uint32_t) + kPlanBytesSpare;
  Result<Memory> memory =
      Memory::allocate(*pass->queue_, lay_out(config, *pass, nullptr, pass->card_));
  if (!memory.is_ok()) return memory.status();
  pass->memory_ = std::move(memory).value();
  lay_out(config, *pass, pass->memory_.as<char>(), pass->card_);
  Result<PinnedMemory> host =
      PinnedMemory::allocate(*pass->queue_, lay_out(config, *pass, nullptr, pass->host_));
  if (!host.is_ok()) return host.status();
  pass->host_memory_ = std::move(host).value();
  lay_out(config, *pass, pass->host_memory_.as<char>(), pass->host_);
  const uint64_t blocks = ceil_of(max_context, kBlockPositions);
  const uint64_t terms = uint64_t{max_adapters} * config.layer_count * product_parts(config).size();
  TESSERA_RETURN_IF_ERROR(pass->reserve_plan(
      max_rows * (kPlanBytesPerRow + (blocks + attention::kMaxSteps) * sizeof(void*)) +
      terms * sizeof(ops::cuda::Term) + kPlanBytesSpare));
  TESSERA_RETURN_IF_ERROR(pass->fill_rope(config));
  return pass;
}

CardPass::~CardPass() { (void)finish(); }

Status CardPass::reserve_plan(uint64_t bytes) {
  if (bytes <= plan_bytes_) return Status::ok();
  TESSERA_RETURN_IF_ERROR(finish());
  Result<Memory> card = Memory::allocate(*queue_, bytes);
  if (!card.is_ok()) return card.status();
  Result<PinnedMemory> host = PinnedMemory::allocate(*queue_, bytes);
  if (!host.is_ok()) return host.status();
  graphs_.clear();
  plan_memory_ = std::move(card).value();
  host_plan_memory_ = std::move(host).value();
  plan_ = plan_memory_.as<char>();
  host_plan_ = host_plan_memory_.as<char>();
  plan_bytes_ = bytes;
  return Status::ok();
}

Status CardPass::fill_rope(const ModelConfig& config) {
  const uint64_t positions = uint64_t{max_context_} + attention::kMaxSteps;
  std::vector<float> cosines(angles_of(config, max_context_)), sines(cosines.size());
  ops::fill_rope_table(config.rope_frequencies(), config.rope.magnitude, positions, cosines.data(),
                       sines.data());
  const uint64_t bytes = cosines.size() * sizeof(float);
  TESSERA_RETURN_IF_ERROR(queue_->copy_in(card_.cosines, cosines.data(), bytes));
  return queue_->copy_in(card_.sines, sines.data(), bytes);
}

Result<float*> CardPass::results(uint64_t count) {
  if (count > given_) {
    TESSERA_RETURN_IF_ERROR(finish());
    const uint64_t wanted = std::max(count, 2 * given_);
    Result<PinnedMemory> memory = PinnedMemory::allocate(*queue_, wanted * sizeof(float));
    if (!memory.is_ok()) return memory.status();
    given_memory_ = std::move(memory).value();
    given_ = wanted;
  }
  return given_memory_.as<float>();
}

Status CardPass::finish() {
  if (!is_pending_) return Status::ok();
  TESSERA_RETURN_IF_ERROR(queue_->finish());
  is_pending_ = false;
  return Status::ok();
}

}  // namespace tessera::model::cuda
