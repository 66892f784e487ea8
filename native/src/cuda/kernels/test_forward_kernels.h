// Test only: the kernels of a forward pass on emulated threads. Included by the test that is built
// with them.
#pragma once

#include "cuda/device/emulated_queue.h"
#include "cuda/kernels/forward_kernels.h"

extern "C" {
void tessera_embed(const uint16_t* const*, uint32_t, float*);
void tessera_add_rms_norm(const uint16_t*, const uint16_t*, uint32_t, float, float*, uint16_t*,
                          float*);
void tessera_gather_rows(const uint16_t*, const uint32_t*, uint32_t, uint16_t*);
void tessera_gather_columns(const float*, uint32_t, const int32_t*, uint32_t, float*);
void tessera_silu_mul(const uint16_t*, uint32_t, uint16_t*);
void tessera_place_heads(tessera::ops::cuda::Heads);
void tessera_log_sum_exp(const float*, uint32_t, float*);
void tessera_check_rows(tessera::ops::cuda::RowCheck);
void tessera_multiply(tessera::ops::cuda::Product);
void tessera_quantise_rows(const uint16_t*, uint32_t, int8_t*, float*);
void tessera_multiply_i8(tessera::ops::cuda::Product, tessera::ops::cuda::Quantised);
void tessera_project(const uint16_t*, uint32_t, const tessera::ops::cuda::Term*);
void tessera_attend_merge(tessera::attention::cuda::Layer, const tessera::attention::cuda::Rows*);
void tessera_mirror(tessera::attention::cuda::Layer, const tessera::attention::cuda::MirroredRows*);
void tessera_clear(tessera::attention::cuda::ClearedRows);
}

namespace tessera::model::cuda {

inline void add_forward_kernels(device::cuda::EmulatedQueue& queue) {
  queue.add(kEmbed, tessera_embed);
  queue.add(kAddRmsNorm, tessera_add_rms_norm);
  queue.add(kGatherRows, tessera_gather_rows);
  queue.add(kGatherColumns, tessera_gather_columns);
  queue.add(kSiluMul, tessera_silu_mul);
  queue.add(kPlaceHeads, tessera_place_heads);
  queue.add(kLogSumExp, tessera_log_sum_exp);
  queue.add(kCheckRows, tessera_check_rows);
  queue.add(kMultiply, tessera_multiply);
  queue.add(kQuantiseRows, tessera_quantise_rows);
  queue.add(kMultiplyI8, tessera_multiply_i8);
  queue.add(kProject, tessera_project);
  queue.add(kAttendMerge, tessera_attend_merge);
  queue.add(kMirror, tessera_mirror);
  queue.add(kClear, tessera_clear);
}

}  // namespace tessera::model::cuda
