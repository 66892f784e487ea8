#include "device/cpu/amx_modelled.h"

#include <utility>

#include "device/cpu/amx_model.h"
#include "device/cpu/int8_kernels.h"

namespace tessera::device::cpu {

#include "device/cpu/int8_rows_portable.inc"

#include "device/cpu/int8_sums.inc"

namespace {

struct SumRow {
  float values[kPanelHalf];
};
inline SumRow load_sums(const float* from) {
  SumRow sums;
  __builtin_memcpy(sums.values, from, sizeof sums.values);
  return sums;
}
inline void store_sums(float* to, const SumRow& sums) {
  __builtin_memcpy(to, sums.values, sizeof sums.values);
}
inline SumRow add_products(const int32_t* products, float row_scale, const SumRow& w_scales,
                           SumRow sums) {
  add_tile(products, row_scale, w_scales.values, sums.values);
  return sums;
}

}  // namespace

#include "device/cpu/amx_panels.inc"

#include "device/cpu/int8_rows.inc"

PanelKernels amx_bf16_modelled() {
  return {kBlockRows,      amx_row_bytes_bf16,
          write_bf16_rows, amx_multiply<TileModel, PanelType::kBf16>,
          nullptr,         false,
          kPanelTile};
}

PanelKernels amx_int8_modelled() {
  return {.row_block = kBlockRows,
          .operand_row_bytes = amx_row_bytes_i8,
          .write_operand = write_int8_rows,
          .multiply = amx_multiply<TileModel, PanelType::kI8>,
          .write_scaled_operand = write_scaled_int8_rows,
          .write_static = write_static_int8_rows,
          .multiply_static = amx_multiply<TileModel, PanelType::kStaticI8>};
}

}  // namespace tessera::device::cpu
