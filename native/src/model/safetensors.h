// One safetensors file: eight bytes of header length (little endian), a JSON header, the tensors'
// bytes. Everything the header says is checked against the file before any of it is believed.
// Format: https://huggingface.co/docs/safetensors, whose rules are kept: tensors neither overlap
// nor leave holes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "tensor/dtype.h"

namespace tessera::model {

inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;
inline constexpr uint64_t kMaxTensors = 1u << 20;
inline constexpr uint64_t kMaxTensorRank = 8;

/// A tensor as the header describes it; `bytes` lies in the file.
struct TensorEntry {
  std::string name;
  std::string dtype;                  // as the file spells it
  std::optional<tensor::DType> type;  // absent for types that we do not compute with
  std::vector<uint64_t> shape;
  std::span<const std::byte> bytes;
};

/// Reads the header of a whole file in memory. ENSURES: every entry's bytes lie in `file` and have
/// the size that shape and type ask for. Errors: MODEL_CORRUPT with `name`, the tensor, what was
/// expected and what it got.
Result<std::vector<TensorEntry>> read_safetensors(std::span<const std::byte> file,
                                                  const std::string& name);

}  // namespace tessera::model
