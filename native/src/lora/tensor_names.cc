#include "lora/tensor_names.h"

namespace tessera::lora {
namespace {

Status invalid(const std::string& file, const std::string& name, const std::string& expected,
               const std::string& got) {
  return {Code::kAdapterInvalid, file + ": " + name + ": expected " + expected + ", got " + got};
}

/// The adapter's name in that of a tensor of a raw state, `lora_A.NAME.weight`; empty: none.
std::string adapter_named(const std::string& name) {
  for (const std::string_view part : {".lora_A.", ".lora_B.", ".lora_embedding_A.",
                                      ".lora_embedding_B.", ".lora_magnitude_vector."}) {
    const size_t at = name.find(part);
    if (at == std::string::npos) continue;
    const std::string rest = name.substr(at + part.size());
    const std::string adapter = rest.substr(0, rest.find('.'));
    return adapter == "weight" || adapter == "bias" ? "" : adapter;
  }
  return name.find(".default") == std::string::npos ? "" : "default";
}

}  // namespace

Status check_tensor_names(const std::string& file, const std::vector<model::TensorEntry>& entries) {
  if (entries.empty()) {
    return invalid(file, "tensors", "factors or rows of the model",
                   "none (weights that were sharded have to be gathered before they are saved)");
  }
  for (const model::TensorEntry& entry : entries) {
    const std::string adapter = adapter_named(entry.name);
    if (adapter.empty()) continue;
    return invalid(file, entry.name,
                   "a name without the adapter's (." + adapter +
                       "): save with save_pretrained() of the PeftModel",
                   "that of a raw state");
  }
  for (const model::TensorEntry& entry : entries) {
    if (entry.name.starts_with(kAdapterPrefix)) return Status::ok();
  }
  const std::string& first = entries.front().name;
  const std::string remedy = first.starts_with("_orig_mod.")
                                 ? "save the model inside torch.compile's: model._orig_mod"
                                 : "save with save_pretrained() of the PeftModel";
  return invalid(file, first,
                 "names that begin with " + std::string(kAdapterPrefix) + " (" + remedy + ")",
                 "none of " + std::to_string(entries.size()));
}

std::string why_left_over(const std::string& name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  if (has("lora_magnitude_vector")) return "no such tensor (use_dora is false)";
  if (has(".bias")) return "no such tensor (biases are not supported)";
  if (has(".mlp.gate.") || has(".mlp.shared_expert_gate.")) {
    return "no factors of a router (exclude_modules leaves it out)";
  }
  if (!name.starts_with(kAdapterPrefix)) {
    return "a name that begins with " + std::string(kAdapterPrefix);
  }
  return "no such tensor in an adapter of this model";
}

}  // namespace tessera::lora
