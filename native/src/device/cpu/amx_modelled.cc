#include "device/cpu/amx_modelled.h"

#include "device/cpu/amx_model.h"
#include "device/cpu/int8_kernels.h"

namespace tessera::device::cpu {

#include "device/cpu/int8_rows_portable.inc"

#include "device/cpu/int8_sums.inc"

#include "device/cpu/amx_panels.inc"

#include "device/cpu/int8_rows.inc"

PanelKernels amx_bf16_modelled() {
  return {kBlockRows, amx_row_bytes_bf16, write_bf16_rows,
          amx_multiply<TileModel, PanelType::kBf16>};
}

PanelKernels amx_int8_modelled() {
  return {kBlockRows, amx_row_bytes_i8, write_int8_rows, amx_multiply<TileModel, PanelType::kI8>,
          write_scaled_int8_rows};
}

}  // namespace tessera::device::cpu
