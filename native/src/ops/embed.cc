#include "ops/embed.h"

#include "base/check.h"
#include "ops/for_rows.h"

namespace tessera::ops {

void embed(device::Device& device, const tensor::TensorView& table, std::span<const int32_t> tokens,
           float* y) {
  TESSERA_CHECK(table.rank == 2);
  TESSERA_CHECK(table.type == tensor::DType::kF32 || table.type == tensor::DType::kBf16);
  for (const int32_t token : tokens) {
    TESSERA_CHECK(token >= 0 && static_cast<uint64_t>(token) < table.rows());
  }
  const uint64_t n = table.columns();
  const device::KernelTable& kernels = device.kernels();
  for_rows(device, tokens.size(), n, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      const void* row = table.row(static_cast<uint64_t>(tokens[i]));
      if (table.type == tensor::DType::kBf16) {
        kernels.widen_bf16(static_cast<const uint16_t*>(row), n, y + i * n);
      } else {
        device.copy(y + i * n, row, n * sizeof(float));
      }
    }
  });
}

void embed(device::Device& device, const PackedMatrix& w, std::span<const int32_t> tokens,
           float* y) {
  for (const int32_t token : tokens) {
    TESSERA_CHECK(token >= 0 && static_cast<uint64_t>(token) < w.columns);
  }
  for_rows(device, tokens.size(), w.k, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      unpack_column(w, static_cast<uint64_t>(tokens[i]), y + i * w.k);
    }
  });
}

}  // namespace tessera::ops
