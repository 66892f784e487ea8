#include "model/numbers_text.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>

namespace tessera::model {

/// F32 products are the same in every numeric class.
std::string numbers_text(ComputeType type, const device::Device& device,
                         const std::vector<LayerScales>* fixed) {
  const device::NumericClass numbers =
      type == ComputeType::kF32 ? device::NumericClass::kFma : device.kernels().numeric_class;
  std::string text(compute_type_name(type));
  if (type == ComputeType::kW8A8) text += "-64";  // inputs that share a scale (ADR 0024)
  text.append("/").append(device::numeric_class_name(numbers));
  if (fixed == nullptr) return text;
  std::vector<float> all;
  for (const LayerScales& of_layer : *fixed) {
    for (const std::vector<float>& of_input : of_layer)
      all.insert(all.end(), of_input.begin(), of_input.end());
  }
  char digest[17];
  std::snprintf(
      digest, sizeof digest, "%016llx",
      static_cast<unsigned long long>(XXH3_64bits(all.data(), all.size() * sizeof(float))));
  return text + "/" + digest;
}

}  // namespace tessera::model
