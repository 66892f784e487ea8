// Normalisers of a beam's logits over less than the vocabulary: the sums of beam/scan.inc,
// operation for operation, so that scores have the CPU's bits.
#include "cuda/device/kernel.h"

#include "cuda/kernels/select_kernels.h"
#include "cuda/kernels/trie_walk.h"

namespace tessera::beam::cuda {

using tessera::cuda::bits_float;
using tessera::cuda::kFullWarp;
using tessera::cuda::kWarpLanes;

constexpr uint32_t kSumLanes = 16;  // of the CPU's vectors: values i, i + 16, ... are summed alone
constexpr uint32_t kMinusInfinity = 0xFF800000u;

/// exp(x) for x in [-87, 0]; below counts as -87 (beam/scan.inc, exp_lanes).
TESSERA_DEVICE float exp_of(float x) {
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  constexpr float kRound = 12582912.0f;
  x = x > -87.0f ? x : -87.0f;
  const float n = (x * kLog2E + kRound) - kRound;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  float p = r * (1.0f / 720.0f) + (1.0f / 120.0f);
  p = p * r + (1.0f / 24.0f);
  p = p * r + (1.0f / 6.0f);
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return p * bits_float(static_cast<uint32_t>(static_cast<int32_t>(n) + 127) << 23);
}

/// log(sum(exp(value(i)))) for i below `count`, by a whole warp, the same in each lane; what is not
/// a number is left out, and minus infinity comes of nothing.
template <typename Value>
TESSERA_DEVICE float log_sum_exp(uint32_t count, const Value& value) {
  const float lowest = bits_float(kMinusInfinity);
  const uint32_t lane = threadIdx.x % kSumLanes;
  float peak = lowest;
  for (uint32_t i = lane; i < count; i += kSumLanes) {
    const float own = value(i);
    peak = own > peak ? own : peak;
  }
  peak = tessera::cuda::warp_maximum(peak);
  if (peak == lowest || peak == -lowest) return peak;
  float own_sum = 0;
  for (uint32_t first = 0; first < count; first += kSumLanes) {
    const uint32_t i = first + lane;
    own_sum += exp_of((i < count ? value(i) : lowest) - peak);
  }
  double sum = 0;
  for (uint32_t from = 0; from < kSumLanes; ++from) {
    sum += static_cast<double>(__shfl_sync(kFullWarp, own_sum, static_cast<int>(from)));
  }
  return static_cast<float>(static_cast<double>(peak) + log(sum));
}

/// The logits of a beam's children that may be entered, one behind the other; their number.
TESSERA_DEVICE uint32_t list_allowed(const Search& search, const Fan& fan, const float* logits,
                                     float* listed) {
  const uint32_t lane = threadIdx.x % kWarpLanes, children = fan.base_count + fan.later_count;
  uint32_t count = 0;
  for (uint32_t first = 0; first < children; first += kWarpLanes) {
    const uint32_t at = first + lane;
    Child child;
    if (at < children) child = child_at(*search.trie, fan, search.nodes_open, at);
    const uint32_t votes = __ballot_sync(kFullWarp, child.is_open);
    if (child.is_open) {
      listed[count + static_cast<uint32_t>(__popc(votes & ((1u << lane) - 1)))] =
          logits[child.code];
    }
    count += static_cast<uint32_t>(__popc(votes));
  }
  __syncwarp();
  return count;
}

/// A warp per beam. The list of a beam lies where its keys will be written.
TESSERA_KERNEL tessera_norms(const Search* searches) {
  const Search& search = searches[blockIdx.y];
  if (search.norm == Norm::kFull || search.state->overflow != 0) return;
  const uint32_t beams = search.state->beams, warps = gridDim.x * (kSelectThreads / kWarpLanes);
  const float lowest = bits_float(kMinusInfinity);
  for (uint32_t place = (blockIdx.x * kSelectThreads + threadIdx.x) / kWarpLanes; place < beams;
       place += warps) {
    const uint32_t beam = search.order[place];
    const Fan& fan = search.fans[beam];
    const size_t row = static_cast<size_t>(beam) * search.row_size;
    const float* logits = search.logits + row;
    uint32_t count = fan.ended > 0 ? 0 : search.level_size;
    if (search.norm == Norm::kAllowed) {
      auto* listed = reinterpret_cast<float*>(search.keys + search.offsets[place]);
      count = list_allowed(search, fan, logits, listed);
      logits = listed;
    }
    const bool has_terminal = fan.terminal_in_norm != 0;
    const float terminal = has_terminal ? search.terminal_logits[row + fan.ended] : lowest;
    const float norm =
        log_sum_exp(count + 1, [=](uint32_t i) { return i < count ? logits[i] : terminal; });
    if (threadIdx.x % kWarpLanes == 0) search.norms[beam] = norm;
  }
}

}  // namespace tessera::beam::cuda
