// The kernels of a forward pass by name and parameters, as a queue launches them.
#pragma once

#include "cuda/device/queue.h"
#include "cuda/kernels/attend_kernels.h"
#include "cuda/kernels/block_kernels.h"
#include "cuda/kernels/multiply_kernels.h"
#include "cuda/kernels/row_kernels.h"

namespace tessera::model::cuda {

using device::cuda::Kernel;

inline constexpr Kernel<const uint16_t* const*, uint32_t, float*> kEmbed{"tessera_embed"};
inline constexpr Kernel<const uint16_t*, const uint16_t*, uint32_t, float, float*, uint16_t*,
                        float*>
    kAddRmsNorm{"tessera_add_rms_norm"};
inline constexpr Kernel<const uint16_t*, const uint32_t*, uint32_t, uint16_t*> kGatherRows{
    "tessera_gather_rows"};
inline constexpr Kernel<const float*, uint32_t, const int32_t*, uint32_t, float*> kGatherColumns{
    "tessera_gather_columns"};
inline constexpr Kernel<const uint16_t*, uint32_t, uint16_t*> kSiluMul{"tessera_silu_mul"};
inline constexpr Kernel<ops::cuda::Heads> kPlaceHeads{"tessera_place_heads"};
inline constexpr Kernel<const float*, uint32_t, float*> kLogSumExp{"tessera_log_sum_exp"};
inline constexpr Kernel<ops::cuda::RowCheck> kCheckRows{"tessera_check_rows"};
inline constexpr Kernel<ops::cuda::Product> kMultiply{"tessera_multiply"};
inline constexpr Kernel<const uint16_t*, uint32_t, int8_t*, float*> kQuantiseRows{
    "tessera_quantise_rows"};
inline constexpr Kernel<ops::cuda::Product, ops::cuda::Quantised> kMultiplyI8{
    "tessera_multiply_i8"};
inline constexpr Kernel<const uint16_t*, uint32_t, const ops::cuda::Term*> kProject{
    "tessera_project"};
inline constexpr Kernel<attention::cuda::Layer, const attention::cuda::Rows*> kAttendMerge{
    "tessera_attend_merge"};
inline constexpr Kernel<attention::cuda::Layer, const attention::cuda::MirroredRows*> kMirror{
    "tessera_mirror"};
inline constexpr Kernel<attention::cuda::ClearedRows> kClear{"tessera_clear"};

}  // namespace tessera::model::cuda
