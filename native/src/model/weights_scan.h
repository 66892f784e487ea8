// Looks through the bytes of the weights, on all threads, for NaN and infinity, and computes the
// content digest on the way. Private to model.
#pragma once

#include <span>
#include <string>

#include "base/status.h"
#include "device/device.h"
#include "model/safetensors.h"

namespace tessera::model {

class WeightsScan {
 public:
  /// `fork_bytes` are looked at in one fork of the device's threads: others wait as long.
  WeightsScan(device::Device& device, std::string folder, std::string config_text,
              uint64_t fork_bytes = ~uint64_t{0});

  /// Tensors may be given some at a time, so that the next reader finds them in memory.
  /// REQUIRES: every entry has a computed type. Errors: MODEL_CORRUPT naming the first tensor with
  /// a NaN or infinity.
  Status add(std::span<const TensorEntry* const> entries);

  /// As 32 hex digits: of config_text and of each entry's name, type, shape and bytes, in the order
  /// in which they were given, however they were cut into calls.
  std::string digest() const;

 private:
  device::Device& device_;
  std::string folder_;
  uint64_t fork_bytes_;
  std::string content_;  // what the digest is taken of
};

}  // namespace tessera::model
