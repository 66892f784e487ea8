// The INT8 kernel sets that a test can run: those of the machine, and emulated ones. Test only.
#pragma once

#include <string>
#include <vector>

#include "device/cpu/int8_kernels.h"

namespace tessera::device::cpu {

struct Int8Set {
  std::string name;
  PanelKernels kernels;
};

std::vector<Int8Set> int8_sets();

}  // namespace tessera::device::cpu
