// The kernels of the tile unit on a model of it. Test only.
#pragma once

#include "device/kernel_table.h"

namespace tessera::device::cpu {

PanelKernels amx_bf16_modelled();
PanelKernels amx_int8_modelled();

}  // namespace tessera::device::cpu
