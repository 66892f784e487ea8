// Random inputs of the conformance tests, and devices to run them on. Test only.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "device/backends.h"
#include "tensor/dtype.h"

namespace tessera::ops {

inline constexpr uint64_t kSeed = 20240711;

inline std::unique_ptr<device::Device> open(device::InstructionSet set, uint32_t threads = 1) {
  auto device = device::open_cpu_device({.thread_count = threads, .instruction_set = set});
  EXPECT_TRUE(device.is_ok());
  return std::move(device).value();
}

class Source {
 public:
  explicit Source(uint64_t salt) : random_(kSeed + salt) {}
  std::vector<float> floats(uint64_t count, float spread = 1.0f) {
    std::normal_distribution<float> normal(0, spread);
    std::vector<float> values(count);
    for (float& value : values) value = normal(random_);
    return values;
  }
  std::vector<uint16_t> bf16(uint64_t count) {
    std::vector<uint16_t> bits;
    for (const float value : floats(count)) bits.push_back(tensor::bf16_of_f32(value));
    return bits;
  }

 private:
  std::mt19937_64 random_;
};

inline void round_to_bf16(std::vector<float>& values) {
  for (float& value : values) value = tensor::f32_of_bf16(tensor::bf16_of_f32(value));
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size() || a.empty()) return a.size() == b.size();
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace tessera::ops
