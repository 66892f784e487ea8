#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>

#include "device/backends.h"
#include "platform/cpu_features.h"

namespace tessera::device {
namespace device_test {

std::unique_ptr<Device> open_device() {
  Result<std::unique_ptr<Device>> device =
      open_cpu_device({.thread_count = 1, .instruction_set = {}});
  EXPECT_TRUE(device.is_ok());
  return std::move(device).value();
}

TEST(DeviceTest, EveryAvailableInstructionSetOpensUnderItsName) {
  for (const InstructionSet set : available_instruction_sets()) {
    Result<std::unique_ptr<Device>> device =
        open_cpu_device({.thread_count = 2, .instruction_set = set});
    ASSERT_TRUE(device.is_ok());
    EXPECT_EQ(device.value()->name(), "cpu/" + std::string(instruction_set_name(set)));
    EXPECT_EQ(device.value()->threads().thread_count(), 2u);
  }
}

TEST(DeviceTest, TheDefaultIsTheWidestSetWhoseProductsAreNoSlowerThanOfANarrowerOne) {
  const std::vector<InstructionSet> sets = available_instruction_sets();
  const InstructionSet chosen = default_instruction_set();
  EXPECT_EQ(open_device()->name(), "cpu/" + std::string(instruction_set_name(chosen)));
  if (sets.back() != InstructionSet::kAvx512Bf16) {
    EXPECT_EQ(chosen, sets.back());
  } else if (platform::detect_cpu_features().fast_bf16_dots) {
    EXPECT_EQ(chosen, InstructionSet::kAvx512Bf16);
  } else {
    EXPECT_EQ(chosen, InstructionSet::kAvx512);
  }
}

TEST(DeviceTest, ASetOfEveryNumericClassGivesItsTableTheNameOfThatClass) {
  for (const NumericClass numbers : available_numeric_classes()) {
    for (const InstructionSet set : available_instruction_sets(numbers)) {
      const auto device = open_cpu_device({.thread_count = 1, .instruction_set = set});
      ASSERT_TRUE(device.is_ok());
      EXPECT_EQ(device.value()->kernels().numeric_class, numbers);
    }
  }
}

TEST(DeviceTest, ThreadCountsOutOfRangeAreRefused) {
  for (const uint32_t threads : {0u, 257u, 0xFFFFFFFFu}) {
    Result<std::unique_ptr<Device>> device =
        open_cpu_device({.thread_count = threads, .instruction_set = {}});
    ASSERT_FALSE(device.is_ok());
    EXPECT_EQ(device.status().code(), Code::kRequestInvalid);
  }
}

TEST(DeviceTest, AllocatedMemoryIsAlignedZeroedAndMovable) {
  const std::unique_ptr<Device> device = open_device();
  Result<Buffer> allocated = device->allocate(1000);
  ASSERT_TRUE(allocated.is_ok());
  Buffer buffer = std::move(allocated).value();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % Device::kAlignment, 0u);
  for (size_t i = 0; i < 1000; ++i) ASSERT_EQ(buffer.as<uint8_t>()[i], 0);
  Buffer moved = std::move(buffer);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(moved.size(), 1000u);
}

TEST(DeviceTest, CopiesReachTheirTarget) {
  const std::unique_ptr<Device> device = open_device();
  Buffer buffer = std::move(device->allocate(16)).value();
  const float values[4] = {1, 2, 3, 4};
  device->copy(buffer.data(), values, sizeof values);
  EXPECT_EQ(buffer.as<float>()[3], 4.0f);
}

TEST(DeviceTest, MoreMemoryThanTheMachineHasIsRefusedBeforeAllocating) {
  Result<Buffer> buffer = open_device()->allocate(std::numeric_limits<uint64_t>::max() / 2);
  ASSERT_FALSE(buffer.is_ok());
  EXPECT_EQ(buffer.status().code(), Code::kEngineOverloaded);
  EXPECT_NE(buffer.status().message().find("bytes"), std::string::npos);
}

}  // namespace device_test
}  // namespace tessera::device
