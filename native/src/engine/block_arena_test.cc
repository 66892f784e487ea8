#include "engine/block_arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "device/backends.h"

namespace tessera::engine {
namespace {

constexpr uint64_t kBlockBytes = 2048;

std::unique_ptr<device::Device> open() {
  return std::move(device::open_cpu_device({.thread_count = 1, .instruction_set = {}})).value();
}

bool is_zero(const void* data) {
  const std::vector<uint8_t> zeros(kBlockBytes);
  return std::memcmp(data, zeros.data(), kBlockBytes) == 0;
}

TEST(BlockArena, HandsOutDistinctZeroedBlocksAlsoAfterTheyWereUsed) {
  const std::unique_ptr<device::Device> device = open();
  BlockArena arena(*device, kBlockBytes, 1u << 20);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(arena.reserve(100).is_ok());
    std::set<void*> distinct;
    std::vector<uint32_t> taken;
    for (int i = 0; i < 100; ++i) {
      taken.push_back(arena.take());
      void* data = arena.data(taken.back());
      distinct.insert(data);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % device::Device::kAlignment, 0u);
      EXPECT_TRUE(is_zero(data));
      std::memset(data, 0xFF, kBlockBytes);
    }
    EXPECT_EQ(distinct.size(), 100u);
    for (const uint32_t block : taken) arena.give_back(block);
  }
}

TEST(BlockArena, RefusesBeyondItsLimitAndChangesNothing) {
  const std::unique_ptr<device::Device> device = open();
  BlockArena arena(*device, kBlockBytes, 10 * kBlockBytes + 1);
  ASSERT_TRUE(arena.reserve(4).is_ok());
  std::vector<uint32_t> taken;
  for (int i = 0; i < 4; ++i) taken.push_back(arena.take());
  const uint64_t blocks = arena.block_count(), free = arena.free_blocks();
  const Status refused = arena.reserve(7);
  EXPECT_EQ(refused.code(), Code::kEngineOverloaded);
  EXPECT_NE(refused.message().find("leaves 6"), std::string::npos) << refused.message();
  EXPECT_EQ(arena.block_count(), blocks);
  EXPECT_EQ(arena.free_blocks(), free);
  EXPECT_TRUE(arena.reserve(6).is_ok());
  for (const uint32_t block : taken) arena.give_back(block);
  EXPECT_TRUE(arena.reserve(10).is_ok());
  EXPECT_EQ(arena.reserve(11).code(), Code::kEngineOverloaded);
}

TEST(BlockArena, GrowsNoFurtherWhileFreeBlocksSuffice) {
  const std::unique_ptr<device::Device> device = open();
  BlockArena arena(*device, kBlockBytes, UINT64_MAX);
  ASSERT_TRUE(arena.reserve(5000).is_ok());
  const uint64_t blocks = arena.block_count();
  for (int round = 0; round < 50; ++round) {
    ASSERT_TRUE(arena.reserve(5000).is_ok());
    std::vector<uint32_t> taken;
    for (int i = 0; i < 5000; ++i) taken.push_back(arena.take());
    for (const uint32_t block : taken) arena.give_back(block);
  }
  EXPECT_EQ(arena.block_count(), blocks);
}

TEST(BlockArena, ABlockIsFreeWhenItsLastHolderGaveItBack) {
  const std::unique_ptr<device::Device> device = open();
  BlockArena arena(*device, kBlockBytes, kBlockBytes);
  ASSERT_TRUE(arena.reserve(1).is_ok());
  const uint32_t block = arena.take();
  arena.share(block);
  EXPECT_EQ(arena.holders(block), 2u);
  arena.give_back(block);
  EXPECT_EQ(arena.free_blocks(), 0u);
  arena.give_back(block);
  EXPECT_EQ(arena.free_blocks(), 1u);
}

TEST(BlockArena, BlocksAndWhatLiesBesideThemShareOneLimit) {
  const std::unique_ptr<device::Device> device = open();
  BlockArena arena(*device, kBlockBytes, 10 * kBlockBytes);
  Result<device::Buffer> beside = arena.allocate_beside(6 * kBlockBytes);
  ASSERT_TRUE(beside.is_ok());
  EXPECT_TRUE(arena.fits(4, 0));
  EXPECT_FALSE(arena.fits(5, 0));
  EXPECT_FALSE(arena.fits(1, 3 * kBlockBytes + 1));
  EXPECT_EQ(arena.allocate_beside(5 * kBlockBytes).status().code(), Code::kEngineOverloaded);
  device::Buffer buffer = std::move(beside).value();
  arena.release_beside(buffer);
  EXPECT_TRUE(arena.reserve(10).is_ok());
}

TEST(BlockArena, TrimmingGivesBackSlabsThatNobodyHoldsAndTheirNumbersAreUsedAgain) {
  const std::unique_ptr<device::Device> device = open();
  constexpr uint64_t kLarge = 8u << 20;  // a slab each
  BlockArena arena(*device, kLarge, 3 * kLarge);
  ASSERT_TRUE(arena.reserve(1).is_ok());
  const uint32_t held = arena.take();
  std::memset(arena.data(held), 7, kLarge);
  ASSERT_TRUE(arena.reserve(2).is_ok());
  EXPECT_FALSE(arena.fits(0, kLarge));
  arena.trim();
  EXPECT_EQ(arena.block_count(), 1u);
  EXPECT_TRUE(arena.fits(0, 2 * kLarge));
  EXPECT_EQ(static_cast<const uint8_t*>(arena.data(held))[kLarge - 1], 7);
  ASSERT_TRUE(arena.reserve(2).is_ok());
  EXPECT_LT(arena.take(), 3u);
  arena.give_back(held);
  EXPECT_EQ(arena.free_blocks(), 2u);
}

}  // namespace
}  // namespace tessera::engine
