// The launch of a kernel of CUTLASS, without its own launchers, which keep the cause of a fault to
// themselves. Included by hopper.cu and ampere.cu.
#pragma once

#include <cuda_runtime.h>

#include <cutlass/cutlass.h>
#include <cutlass/device_kernel.h>
#include <cute/tensor.hpp>

#include <cstdint>

namespace tessera::card {

template <uint32_t kCount>
using Extent = cute::Int<static_cast<int>(kCount)>;

using Element = cutlass::bfloat16_t;

inline const Element* elements(const uint16_t* values) {
  return reinterpret_cast<const Element*>(values);
}

/// The stride of rows of k values.
inline auto rows_of(uint32_t k) {
  return cute::make_stride(static_cast<int64_t>(k), cute::_1{}, int64_t{0});
}

/// Code is loaded late, but not later than its attributes are asked for.
template <typename Kernel>
cudaError_t load() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, cutlass::device_kernel<Kernel>);
}

/// Lets the kernel have its shared memory on the current card.
template <typename Kernel>
cudaError_t prepare() {
  return cudaFuncSetAttribute(cutlass::device_kernel<Kernel>,
                              cudaFuncAttributeMaxDynamicSharedMemorySize,
                              Kernel::SharedStorageSize);
}

template <typename Kernel>
cudaError_t launch(const typename Kernel::Arguments& arguments, uint32_t cluster,
                   cudaStream_t stream) {
  const cudaError_t prepared = prepare<Kernel>();
  if (prepared != cudaSuccess) return prepared;
  if (Kernel::get_workspace_size(arguments) != 0) return cudaErrorNotSupported;  // there is none
  typename Kernel::Params params = Kernel::to_underlying_arguments(arguments, nullptr);
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeClusterDimension;
  together.val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = Kernel::get_grid_shape(params);
  config.blockDim = Kernel::get_block_shape();
  config.dynamicSmemBytes = Kernel::SharedStorageSize;
  config.stream = stream;
  config.attrs = &together;
  config.numAttrs = cluster > 1 ? 1 : 0;
  void* words[] = {&params};
  const void* kernel = reinterpret_cast<const void*>(cutlass::device_kernel<Kernel>);
  return cudaLaunchKernelExC(&config, kernel, words);
}

}  // namespace tessera::card
