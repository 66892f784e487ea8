// The BF16 products of the class "dots" in plain C++, for tests on any machine. Test only.
#pragma once

#include "device/kernel_table.h"

namespace tessera::device::cpu {

PanelKernels dots_modelled();

}  // namespace tessera::device::cpu
