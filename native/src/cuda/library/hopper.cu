// One tile of products on cards of compute capability 9.0: TESSERA_TILE is the build's.
#include <cutlass/cutlass.h>
#include <cute/tensor.hpp>
#include <cutlass/epilogue/collective/detail.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>

#include "cuda/library/finish.h"
#include "cuda/library/launch.h"
#include "cuda/library/tiles.h"

namespace tessera::card {
namespace {

template <uint32_t kTile>
struct Product {
  static constexpr Tile tile = kHopperTiles[kTile];
  using Shape = cute::Shape<Extent<tile.columns>, Extent<tile.rows>, Extent<kHopperDepth>>;
  using Cluster = cute::Shape<Extent<tile.cluster>, cute::_1, cute::_1>;
  using Schedule =
      cute::conditional_t<tile.cooperative, cutlass::gemm::KernelTmaWarpSpecializedCooperative,
                          cutlass::gemm::KernelTmaWarpSpecializedPingpong>;
  using End = cutlass::epilogue::collective::detail::Sm90TmaWarpSpecializedAdapter<Finish>;
  static constexpr int kAlignment = 16 / sizeof(Element);
  using Main = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element, cutlass::layout::RowMajor,
      kAlignment, Element, cutlass::layout::ColumnMajor, kAlignment, float, Shape, Cluster,
      cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
          sizeof(typename End::TensorStorage))>,
      Schedule>::CollectiveOp;
  using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Main, End>;
};

}  // namespace

template <uint32_t kTile>
cudaError_t launch_hopper(const TesseraCardProduct* product, int processors, cudaStream_t stream) {
  using Kernel = typename Product<kTile>::Kernel;
  if (product == nullptr) return load<Kernel>();
  typename Kernel::Arguments arguments{};
  arguments.mode = cutlass::gemm::GemmUniversalMode::kGemm;
  arguments.problem_shape = {static_cast<int>(product->columns), static_cast<int>(product->rows),
                             static_cast<int>(product->k), 1};
  arguments.mainloop.ptr_A = elements(product->w);
  arguments.mainloop.dA = rows_of(product->k);
  arguments.mainloop.ptr_B = elements(product->x);
  arguments.mainloop.dB = rows_of(product->k);
  arguments.epilogue = *product;
  arguments.hw_info.sm_count = processors;
  return launch<Kernel>(arguments, kHopperTiles[kTile].cluster, stream);
}

template cudaError_t launch_hopper<TESSERA_TILE>(const TesseraCardProduct*, int, cudaStream_t);

}  // namespace tessera::card
