// The kernels of each set of instructions of this machine, each type with the ceiling of the
// instructions that multiply it. A set has only the types that it alone multiplies in its way.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "device/kernel_table.h"
#include "probes.h"

namespace tessera::bench {

struct KernelSet {
  std::string_view name;
  device::KernelTable kernels;
  std::optional<Probe> f32, bf16, i8;  // none: another set's kernels

  const std::optional<Probe>& ceiling(device::PanelType type) const {
    if (type == device::PanelType::kI8) return i8;
    return type == device::PanelType::kF32 ? f32 : bf16;
  }
};

/// Narrowest first.
std::vector<KernelSet> kernel_sets_here();

}  // namespace tessera::bench
