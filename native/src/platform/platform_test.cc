#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "platform/cpu_features.h"
#include "platform/file.h"
#include "platform/mapped_file.h"
#include "platform/memory.h"
#include "platform/thread_pool.h"

namespace tessera::platform {
namespace {

namespace fs = std::filesystem;

class PlatformTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("tessera-platform-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  size_t files_in_folder() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST_F(PlatformTest, AFileWrittenAtomicallyIsMappedBackByteForByte) {
  const std::string content("one\0two", 7), target = path("a");
  ASSERT_TRUE(write_file_atomically(target, std::as_bytes(std::span(content))).is_ok());
  Result<MappedFile> file = MappedFile::open(target, Code::kModelNotFound);
  ASSERT_TRUE(file.is_ok());
  EXPECT_EQ(text_of(file.value()), content);
}

TEST_F(PlatformTest, AnEmptyFileGivesAnEmptySpan) {
  ASSERT_TRUE(write_file_atomically(path("empty"), std::span<const std::byte>()).is_ok());
  Result<MappedFile> file = MappedFile::open(path("empty"), Code::kModelNotFound);
  ASSERT_TRUE(file.is_ok());
  EXPECT_TRUE(file.value().bytes().empty());
}

TEST_F(PlatformTest, AMissingFileIsReportedWithTheCallersCodeAndItsPath) {
  Result<MappedFile> file = MappedFile::open(path("absent"), Code::kCatalogueNotFound);
  ASSERT_FALSE(file.is_ok());
  EXPECT_EQ(file.status().code(), Code::kCatalogueNotFound);
  EXPECT_NE(file.status().message().find("absent"), std::string::npos);
}

TEST_F(PlatformTest, AFolderIsNotMapped) {
  Result<MappedFile> file = MappedFile::open(folder_.string(), Code::kModelNotFound);
  ASSERT_FALSE(file.is_ok());
  EXPECT_EQ(file.status().code(), Code::kIoFailed);
}

TEST_F(PlatformTest, AFailedWriteLeavesTheOldFileAndNoOther) {
  std::ofstream(path("kept")) << "old";
  const Status status = write_file_atomically(path("kept"), [](const Sink& sink) {
    const std::string half = "ne";
    const Status wrote = sink(std::as_bytes(std::span(half)));
    return wrote.is_ok() ? Status(Code::kCatalogueInvalid, "stopped half-way") : wrote;
  });
  EXPECT_EQ(status.code(), Code::kCatalogueInvalid);
  Result<MappedFile> file = MappedFile::open(path("kept"), Code::kModelNotFound);
  ASSERT_TRUE(file.is_ok());
  EXPECT_EQ(text_of(file.value()), "old");
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(PlatformTest, WritingIntoAMissingFolderIsAnError) {
  EXPECT_EQ(write_file_atomically(path("no/such/file"), std::span<const std::byte>()).code(),
            Code::kIoFailed);
}

TEST(ThreadPoolTest, EveryIndexIsVisitedExactlyOnceForAnyCountAndThreads) {
  for (const uint32_t threads : {1u, 2u, 3u, 7u}) {
    ThreadPool pool(threads);
    for (const uint64_t count : {0u, 1u, 2u, 3u, 6u, 7u, 8u, 1000u}) {
      std::vector<std::atomic<int>> visits(count);
      pool.parallel_for(count, [&](uint64_t begin, uint64_t end) {
        for (uint64_t i = begin; i < end; ++i) visits[i].fetch_add(1);
      });
      for (const std::atomic<int>& visit : visits) EXPECT_EQ(visit.load(), 1);
    }
  }
}

TEST(ThreadPoolTest, ThousandsOfSmallForksAllJoin) {
  ThreadPool pool(3);
  uint64_t sum = 0;
  for (uint64_t round = 0; round < 20000; ++round) {
    uint64_t parts[3] = {0, 0, 0};
    pool.parallel_for(3, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) parts[i] = i + round;
    });
    sum += parts[0] + parts[1] + parts[2];
  }
  EXPECT_EQ(sum, 3ull * (20000ull * 19999ull / 2) + 3ull * 20000ull);
}

TEST(ThreadPoolTest, CallersFromSeveralThreadsTakeTurns) {
  ThreadPool pool(2);
  std::atomic<uint64_t> visited{0};
  const auto caller = [&] {
    for (int i = 0; i < 2000; ++i) {
      pool.parallel_for(8, [&](uint64_t begin, uint64_t end) { visited += end - begin; });
    }
  };
  std::thread other(caller);
  caller();
  other.join();
  EXPECT_EQ(visited.load(), 2u * 2000u * 8u);
}

TEST(MachineTest, SomeMemoryIsAvailable) { EXPECT_GT(available_memory_bytes(), 1u << 20); }

TEST(MachineTest, WiderInstructionSetsImplyNarrowerOnes) {
  const CpuFeatures features = detect_cpu_features();
  EXPECT_TRUE(!features.avx512 || features.avx2_fma);
  EXPECT_TRUE(!features.avx512_bf16 || features.avx512);
}

}  // namespace
}  // namespace tessera::platform
