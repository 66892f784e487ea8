// The settings beside the weights that decide the bits of a model's results. Private to model.
#pragma once

#include <string>
#include <vector>

#include "device/device.h"
#include "model/activation_scales.h"
#include "model/compute_type.h"

namespace tessera::model {

/// Compute type, numeric class of the device and fixed activation scales; null: there are none.
std::string numbers_text(ComputeType type, const device::Device& device,
                         const std::vector<LayerScales>* fixed);

}  // namespace tessera::model
