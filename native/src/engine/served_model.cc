#include "engine/served_model.h"

namespace tessera::engine {
namespace {

/// Name of the layout of a state (attention/delta_state.h).
constexpr char kStateLayoutName[] = "delta.1";

}  // namespace

ServedModel served_model(const model::Decoder& decoder) {
  ServedModel served;
  served.config = decoder.config();
  served.vocabulary = decoder.head_vocabulary();
  served.device = decoder.device_name();
  served.weight_bytes = decoder.weight_bytes();
  served.digest = decoder.digest();
  served.compute_type = std::string(model::compute_type_name(decoder.compute_type()));
  served.position_bytes = decoder.kv_bytes_per_position();
  served.slot_bytes = decoder.slot_bytes();
  served.state_bytes = decoder.state_bytes();
  served.block_bytes = decoder.block_layout().bytes();
  served.layout = decoder.block_layout().name();
  if (const attention::DeltaShape shape = decoder.recipe().delta_shape(decoder.compute_type());
      shape.layers > 0) {
    served.state_layout = kStateLayoutName;
    for (const uint32_t size : {shape.layers, shape.key_heads, shape.value_heads, shape.key_dim,
                                shape.value_dim, shape.taps})
      served.state_layout += " " + std::to_string(size);
  }
  served.element_type =
      model::storage_type(decoder.compute_type()) == tensor::DType::kBf16 ? "bf16" : "f32";
  served.numeric_class = served.compute_type + " " + decoder.numbers();
  return served;
}

}  // namespace tessera::engine
