// Attention over a prompt's blocks in place, by a kernel of FlashInfer whose rows and splits come
// from the engine's groups instead of its planner's arrays.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <flashinfer/attention/prefill.cuh>
#include <flashinfer/attention/variant_helper.cuh>

#include "cuda/library/tiles.h"

namespace tessera::card {
namespace {

using flashinfer::MaskMode;

constexpr uint32_t kQueries = 64;         // query heads of a block's tile, 16 a warp
constexpr uint32_t kBlockPositions = 32;  // of the pool
constexpr uint32_t kSplitPositions = TESSERA_CARD_SPLIT;  // a multiple of a tile's 64 keys
constexpr uint32_t kWarps = 4;
constexpr float kLog2E = 1.44269504088896340736f;

/// Parameters as FlashInfer reads them; each block has its own, of one split of one group.
struct Params {
  using DTypeQ = nv_bfloat16;
  using DTypeKV = nv_bfloat16;
  using DTypeO = float;
  using IdType = int64_t;

  DTypeQ* q = nullptr;
  flashinfer::paged_kv_t<DTypeKV, IdType> paged_kv;
  IdType* q_indptr = nullptr;
  DTypeO* o = nullptr;
  float* lse = nullptr;
  flashinfer::uint_fastdiv group_size;
  IdType q_stride_n = 0;
  IdType q_stride_h = 0;
  IdType* request_indices = nullptr;
  IdType* qo_tile_indices = nullptr;
  IdType* kv_tile_indices = nullptr;
  IdType* o_indptr = nullptr;
  bool* block_valid_mask = nullptr;
  IdType* kv_chunk_size_ptr = nullptr;
  bool partition_kv = false;

  uint32_t rows = 0;
  uint32_t begin = 0;      // of the split
  uint32_t positions = 0;  // of the split that the tile's last row sees
  uint32_t visible = 0;    // to row 0, of the prompt
  uint32_t visible_step = 0;
  float sm_scale = 0;
};

struct Variant : flashinfer::AttentionVariantBase {
  uint32_t qo_len, kv_len, window_left;
  float scale;
  float sm_scale_log2 = 1;  // logits are scaled below
  template <typename P>
  __device__ Variant(const P& params, uint32_t, uint8_t*)
      : qo_len(params.rows),
        kv_len(params.positions),
        window_left(params.positions),
        scale(params.sm_scale * kLog2E) {}
  /// Scaled at once: FlashInfer's infinity is 50,000, which products of large keys may pass.
  template <typename P, typename T>
  __device__ __forceinline__ T LogitsTransform(const P&, T logits, uint32_t, uint32_t, uint32_t,
                                               uint32_t, uint32_t) {
    return logits * scale;
  }
  template <typename P>
  __device__ __forceinline__ bool LogitsMask(const P& params, uint32_t, uint32_t row,
                                             uint32_t position, uint32_t, uint32_t) {
    return params.begin + position < params.visible + row * params.visible_step;
  }
};

template <uint32_t kHeadDim>
using Traits =
    flashinfer::KernelTraits<MaskMode::kCustom, kQueries, 1, 4, kHeadDim / 16, kHeadDim / 16,
                             kWarps, 1, flashinfer::PosEncodingMode::kNone, nv_bfloat16,
                             nv_bfloat16, float, float, int64_t, Variant>;

template <uint32_t kHeadDim>
__global__ void __launch_bounds__(32 * kWarps)
    attend(TesseraCardAttention all, flashinfer::uint_fastdiv per_head,
           flashinfer::uint_fastdiv page_size) {
  extern __shared__ __align__(16) uint8_t memory[];
  __shared__ int64_t zero, tile, chunk, pages[2];
  const uint32_t split_of_all = blockIdx.x, kv_head = blockIdx.z;
  const TesseraCardRows* group = all.groups;
  while (group->first_split + group->splits <= split_of_all) ++group;
  if (group->q == nullptr) return;
  const uint32_t heads_each = all.heads / all.kv_heads;
  const uint32_t first = blockIdx.y * kQueries;
  if (first >= group->rows * heads_each) return;
  const uint32_t split = split_of_all - group->first_split;
  const uint32_t begin = split * kSplitPositions;
  const uint32_t last_row = min((first + kQueries - 1) / heads_each, group->rows - 1);
  const uint32_t seen = group->visible + last_row * group->visible_step;

  Params params;
  params.positions = seen <= begin ? 0 : min(seen - begin, kSplitPositions);
  params.visible = group->visible;
  params.begin = begin;
  params.visible_step = group->visible_step;
  params.rows = group->rows;
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    zero = 0;
    tile = blockIdx.y;
    chunk = kSplitPositions;
    pages[0] = begin / kBlockPositions;
    pages[1] = pages[0] + (params.positions + kBlockPositions - 1) / kBlockPositions;
  }
  __syncthreads();
  const uint32_t head_stride = kBlockPositions * kHeadDim;
  const int64_t keys = int64_t{2} * all.layer * all.kv_heads * head_stride;
  params.q = reinterpret_cast<nv_bfloat16*>(const_cast<uint16_t*>(group->q));
  params.q_stride_n = all.heads * kHeadDim;
  params.q_stride_h = kHeadDim;
  // Pages lie where they lie: their index is their address, counted in elements from null.
  params.paged_kv.page_size = page_size;
  params.paged_kv.num_heads = all.kv_heads;
  params.paged_kv.head_dim = kHeadDim;
  params.paged_kv.batch_size = 1;
  params.paged_kv.stride_page = 1;
  params.paged_kv.stride_n = kHeadDim;
  params.paged_kv.stride_h = head_stride;
  params.paged_kv.k_data = reinterpret_cast<nv_bfloat16*>(keys * 2);
  params.paged_kv.v_data =
      reinterpret_cast<nv_bfloat16*>((keys + int64_t{all.kv_heads} * head_stride) * 2);
  params.paged_kv.indices = const_cast<int64_t*>(group->blocks);
  params.paged_kv.indptr = pages;
  params.group_size = per_head;
  const int64_t part = int64_t{split} * group->rows * all.heads;
  params.o = group->part_values + part * kHeadDim;
  params.lse = group->part_logs + part;
  params.request_indices = params.kv_tile_indices = params.q_indptr = params.o_indptr = &zero;
  params.qo_tile_indices = &tile;
  params.kv_chunk_size_ptr = &chunk;
  params.sm_scale = rsqrtf(static_cast<float>(kHeadDim));
  using Storage = typename Traits<kHeadDim>::SharedStorage;
  flashinfer::BatchPrefillWithPagedKVCacheDevice<Traits<kHeadDim>>(
      params, *reinterpret_cast<Storage*>(memory), threadIdx, 0, kv_head, all.kv_heads);
}

template <uint32_t kHeadDim>
constexpr size_t kSharedBytes = sizeof(typename Traits<kHeadDim>::SharedStorage);

template <uint32_t kHeadDim>
cudaError_t launch(const TesseraCardAttention& attention, cudaStream_t stream) {
  const cudaError_t prepared =
      cudaFuncSetAttribute(attend<kHeadDim>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           static_cast<int>(kSharedBytes<kHeadDim>));
  if (prepared != cudaSuccess) return prepared;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(attention.splits, attention.row_tiles, attention.kv_heads);
  config.blockDim = dim3(32, kWarps);
  config.dynamicSmemBytes = kSharedBytes<kHeadDim>;
  config.stream = stream;
  const flashinfer::uint_fastdiv heads_each(attention.heads / attention.kv_heads);
  const flashinfer::uint_fastdiv page_size(kBlockPositions);
  return cudaLaunchKernelEx(&config, attend<kHeadDim>, attention, heads_each, page_size);
}

}  // namespace

cudaError_t launch_attention(const TesseraCardAttention& attention, cudaStream_t stream) {
  return attention.head_dim == 64 ? launch<64>(attention, stream) : launch<128>(attention, stream);
}

cudaError_t load_attention() {
  cudaFuncAttributes attributes;
  const cudaError_t loaded = cudaFuncGetAttributes(&attributes, attend<64>);
  return loaded != cudaSuccess ? loaded : cudaFuncGetAttributes(&attributes, attend<128>);
}

}  // namespace tessera::card
