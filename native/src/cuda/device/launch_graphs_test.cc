// Chains of launches, recorded and replayed on emulated threads.
#include "cuda/device/launch_graphs.h"

#include <gtest/gtest.h>

#include <set>

#include "cuda/device/emulated_queue.h"

namespace tessera::device::cuda {
namespace launch_graphs_test {

constexpr Kernel<const uint32_t*, uint32_t, uint32_t*> kAdd{"add"};

/// sums[i] += from[i] + more.
void add(const uint32_t* from, uint32_t more, uint32_t* sums) {
  sums[threadIdx.x] += from[threadIdx.x] + more;
}

struct Setting {
  Setting() {
    queue.add(kAdd, add);
    values = std::move(Memory::allocate(queue, 32 * sizeof(uint32_t))).value();
    sums = std::move(Memory::allocate(queue, 32 * sizeof(uint32_t))).value();
    EXPECT_TRUE(queue.zero(sums.as<void>(), 32 * sizeof(uint32_t)).is_ok());
  }
  void set(uint32_t value) {
    const std::vector<uint32_t> all(32, value);
    EXPECT_TRUE(queue.copy_in(values.as<void>(), all.data(), 32 * sizeof(uint32_t)).is_ok());
  }
  Status add_more(uint32_t more) {
    return launch(queue, kAdd, LaunchShape{}, values.as<uint32_t>(), more, sums.as<uint32_t>());
  }
  uint32_t sum() {
    std::vector<uint32_t> all(32);
    EXPECT_TRUE(queue.copy_out(all.data(), sums.as<void>(), 32 * sizeof(uint32_t)).is_ok());
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), 1u);
    return all[0];
  }

  EmulatedQueue queue;
  Memory values, sums;
};

TEST(LaunchGraphs, AReplayReadsDeviceMemoryAnewAndKeepsItsArguments) {
  Setting setting;
  LaunchGraphs graphs(setting.queue, 4);
  uint32_t asked = 0, more = 10;
  const auto chain = [&] {
    ++asked;
    TESSERA_RETURN_IF_ERROR(setting.add_more(more));
    return setting.add_more(100);
  };
  setting.set(1);
  ASSERT_TRUE(graphs.run({1}, chain).is_ok());
  EXPECT_EQ(setting.sum(), 112u);
  setting.set(2);
  ASSERT_TRUE(graphs.run({1}, chain).is_ok());
  EXPECT_EQ(setting.sum(), 112u + 114u);
  more = 50;  // too late: the chain is recorded
  setting.set(3);
  ASSERT_TRUE(graphs.run({1}, chain).is_ok());
  EXPECT_EQ(setting.sum(), 112u + 114u + 116u);
  EXPECT_EQ(asked, 2u);
  EXPECT_EQ(graphs.replay_count(), 2u);
}

TEST(LaunchGraphs, KeepsTheShapesUsedLast) {
  Setting setting;
  setting.set(0);
  LaunchGraphs graphs(setting.queue, 2);
  uint32_t asked = 0;
  const auto chain = [&] {
    ++asked;
    return setting.add_more(1);
  };
  for (const uint64_t shape : {1, 1, 2, 2, 1, 3, 1, 2}) {
    ASSERT_TRUE(graphs.run({shape}, chain).is_ok());
    EXPECT_LE(graphs.size(), 2u);
  }
  // Shape 2 went for shape 3 and was new when it returned.
  EXPECT_EQ(asked, 2u + 2u + 1u + 1u);
  EXPECT_EQ(setting.sum(), 8u);
}

TEST(LaunchGraphs, AChainThatAsksForMoreThanLaunchesIsRefusedAndRunsNothing) {
  Setting setting;
  setting.set(0);
  LaunchGraphs graphs(setting.queue, 2);
  const auto chain = [&] {
    TESSERA_RETURN_IF_ERROR(setting.add_more(1));
    return setting.queue.finish();
  };
  ASSERT_TRUE(graphs.run({1}, chain).is_ok());
  const Status refused = graphs.run({1}, chain);
  EXPECT_EQ(refused.code(), Code::kEngineUnavailable);
  EXPECT_EQ(refused.message(), "device: finish: expected launches alone while a chain is recorded");
  EXPECT_EQ(setting.sum(), 1u);
  EXPECT_FALSE(graphs.run({2}, [] { return Status(Code::kInternal, "no"); }).is_ok());
  // The queue goes on.
  ASSERT_TRUE(setting.add_more(1).is_ok());
  EXPECT_EQ(setting.sum(), 2u);
}

TEST(LaunchGraphs, CountsAreRoundedUpByAQuarterAtMostToFewValues) {
  std::set<uint32_t> values;
  for (uint32_t count = 1; count <= 4096; ++count) {
    const uint32_t rounded = rounded_rows(count, 4000);
    ASSERT_GE(rounded, std::min(count, 4000u));
    ASSERT_LE(rounded, std::max(count + 7, count + count / 4));
    ASSERT_LE(rounded, 4000u);
    values.insert(rounded);
  }
  EXPECT_LE(values.size(), 36u);
}

}  // namespace launch_graphs_test
}  // namespace tessera::device::cuda
