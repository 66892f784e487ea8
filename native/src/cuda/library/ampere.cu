// One tile of products on cards of compute capability 8.0 and every later one but 9.0:
// TESSERA_TILE is the build's.
#include <cutlass/cutlass.h>
#include <cute/tensor.hpp>
#include <cutlass/gemm/collective/collective_mma.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>

#include "cuda/library/finish.h"
#include "cuda/library/launch.h"
#include "cuda/library/tiles.h"

namespace tessera::card {
namespace {

template <uint32_t kTile>
struct Product {
  static constexpr Tile tile = kAmpereTiles[kTile];
  static constexpr uint32_t kStages =
      kAmpereSharedBytes / ((tile.columns + tile.rows) * kAmpereDepth * sizeof(Element));
  using Shape = cute::Shape<Extent<tile.columns>, Extent<tile.rows>, Extent<kAmpereDepth>>;
  // Four warps, two by two.
  using Mma = cute::TiledMMA<cute::MMA_Atom<cute::SM80_16x8x16_F32BF16BF16F32_TN>,
                             cute::Layout<cute::Shape<cute::_2, cute::_2, cute::_1>>,
                             cute::Tile<cute::_32, cute::_32, cute::_16>>;
  using Load = decltype(cute::make_tiled_copy(
      cute::Copy_Atom<cute::SM80_CP_ASYNC_CACHEGLOBAL<cute::uint128_t>, Element>{},
      cute::Layout<cute::Shape<cute::_32, cute::_4>, cute::Stride<cute::_4, cute::_1>>{},
      cute::Layout<cute::Shape<cute::_1, cute::_8>>{}));
  using Read = cute::Copy_Atom<cute::SM75_U32x4_LDSM_N, Element>;
  using Stride = cute::Stride<int64_t, cute::_1, int64_t>;
  // In shared memory, where ldmatrix reads them without conflicts.
  using Rows = decltype(cute::composition(
      cute::Swizzle<2, 3, 3>{},
      cute::Layout<cute::Shape<cute::_8, cute::_32>, cute::Stride<cute::_32, cute::_1>>{}));
  using Main = cutlass::gemm::collective::CollectiveMma<
      cutlass::gemm::MainloopSm80CpAsync<static_cast<int>(kStages)>, Shape, Element, Stride,
      Element, Stride, Mma, Load, Rows, Read, cute::identity, Load, Rows, Read, cute::identity>;
  using Kernel =
      cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Main, Finish>;
};

}  // namespace

template <uint32_t kTile>
cudaError_t launch_ampere(const TesseraCardProduct* product, int, cudaStream_t stream) {
  using Kernel = typename Product<kTile>::Kernel;
  if (product == nullptr) return load<Kernel>();
  typename Kernel::Arguments arguments{};
  arguments.mode = cutlass::gemm::GemmUniversalMode::kGemm;
  arguments.problem_shape = {static_cast<int>(product->columns), static_cast<int>(product->rows),
                             static_cast<int>(product->k), 1};
  arguments.mainloop = {elements(product->w), rows_of(product->k), elements(product->x),
                        rows_of(product->k)};
  arguments.epilogue = *product;
  return launch<Kernel>(arguments, 1, stream);
}

template cudaError_t launch_ampere<TESSERA_TILE>(const TesseraCardProduct*, int, cudaStream_t);

}  // namespace tessera::card
