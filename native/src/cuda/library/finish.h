// The end of a product: from a thread's sums to y. Included by hopper.cu and ampere.cu.
#pragma once

#include <cuda_bf16.h>

#include <cutlass/cutlass.h>
#include <cute/tensor.hpp>

#include "cuda/library/card_library.h"

namespace tessera::card {

/// An epilogue of CUTLASS that writes from registers: y may then have any number of columns, and
/// one kernel serves both its types. Its M are columns of y, its N rows.
class Finish {
 public:
  using ElementAccumulator = float;
  using ElementC = void;
  using StrideC = cute::Stride<cute::_1, int64_t, int64_t>;
  using ElementD = float;
  using StrideD = StrideC;
  struct SharedStorage {};
  using Arguments = TesseraCardProduct;
  using Params = TesseraCardProduct;

  template <typename Shape>
  static Params to_underlying_arguments(const Shape&, const Arguments& arguments, void*) {
    return arguments;
  }
  template <typename Shape>
  static size_t get_workspace_size(const Shape&, const Arguments&) {
    return 0;
  }

  CUTLASS_DEVICE explicit Finish(const Params& product) : product_(product) {}

  template <typename Problem, typename Shape, typename Coordinates, typename Engine,
            typename Layout, typename Mma, typename Residue>
  CUTLASS_DEVICE void operator()(const Problem& problem, const Shape& shape, const Coordinates& at,
                                 const cute::Tensor<Engine, Layout>& sums, Mma mma, const Residue&,
                                 int thread, char*) {
    using namespace cute;
    const auto places =
        local_tile(make_identity_tensor(take<0, 2>(problem)), take<0, 2>(shape), take<0, 2>(at));
    const auto mine = mma.get_thread_slice(thread).partition_C(places);
    // Both kinds of tensor cores give two neighbours in N, then two places in M, then the rest.
    static_assert(size<0, 0>(Layout{}) == 2 && size<0, 1>(Layout{}) == 2);
    CUTLASS_PRAGMA_UNROLL
    for (int m = 0; m < size<1>(sums); ++m) {
      CUTLASS_PRAGMA_UNROLL
      for (int half = 0; half < 2; ++half) {
        const uint32_t column = get<0>(mine(2 * half, m, 0));
        if (column >= product_.columns) continue;
        const float bias = load(column);
        CUTLASS_PRAGMA_UNROLL
        for (int n = 0; n < size<2>(sums); ++n) {
          CUTLASS_PRAGMA_UNROLL
          for (int i = 0; i < size<0>(sums); i += (i % 2 == 0 ? 1 : 3)) {
            const uint32_t row = get<1>(mine(2 * half + i, m, n));
            if (row < product_.rows) store(bias, row, column, sums(2 * half + i, m, n));
          }
        }
      }
    }
  }

 private:
  CUTLASS_DEVICE float load(uint32_t column) const {
    if (product_.bias == nullptr) return 0;
    return __uint_as_float(uint32_t{__ldg(product_.bias + column)} << 16);
  }

  CUTLASS_DEVICE void store(float bias, uint32_t row, uint32_t column, float sum) const {
    const float value = product_.bias == nullptr ? sum : __fadd_rn(sum, bias);
    const size_t at = static_cast<size_t>(row) * product_.columns + column;
    if (product_.y != nullptr) product_.y[at] = __bfloat16_as_ushort(__float2bfloat16_rn(value));
    if (product_.y_f32 != nullptr) product_.y_f32[at] = value;
  }

  const Params& product_;
};

}  // namespace tessera::card
