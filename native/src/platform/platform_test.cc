#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "platform/cpu_features.h"
#include "platform/cpus.h"
#include "platform/file.h"
#include "platform/folder_lock.h"
#include "platform/mapped_file.h"
#include "platform/memory.h"
#include "platform/thread_pool.h"

namespace tessera::platform {
namespace platform_test {

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

TEST_F(PlatformTest, AFifoThatNobodyWritesToIsRefusedAtOnce) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  const Result<MappedFile> file = MappedFile::open(path("fifo"), Code::kModelNotFound);
  ASSERT_FALSE(file.is_ok());
  EXPECT_NE(file.status().message().find("expected a regular file"), std::string::npos);
}

TEST_F(PlatformTest, WhatStandsInThePlaceOfAFileIsNamedByItsFirstBytes) {
  using namespace std::string_literals;
  const std::pair<std::string, const char*> cases[] = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"},
      {"# xet version 0\nfilesize = 1\n", "a Xet pointer"},
      {"<!DOCTYPE html>\n<html>", "HTML"},
      {"<HTML><body>", "HTML"},
      {"<?xml version=\"1.0\"?><Error/>", "XML"},
      {"\x1f\x8b\x08"s + std::string(9, '\0'), "gzip"},
      {"PK\x03\x04"s + std::string(9, '\0'), "zip"},
      {"GGUF\x03"s, "GGUF"},
      {"\xff\xfe{\0\"\0a\0"s, "UTF-16"},
      {"\xfe\xff\0{\0\"\0a"s, "UTF-16"}};
  for (const auto& [content, words] : cases) {
    std::ofstream(path("other"), std::ios::binary) << content;
    const Result<MappedFile> file = MappedFile::open(path("other"), Code::kModelNotFound);
    ASSERT_FALSE(file.is_ok()) << words;
    EXPECT_EQ(file.status().code(), Code::kModelNotFound);
    EXPECT_NE(file.status().message().find("expected the file, got "), std::string::npos);
    EXPECT_NE(file.status().message().find(words), std::string::npos) << file.status().message();
  }
}

TEST_F(PlatformTest, ATextHasNoByteOrderMark) {
  std::ofstream(path("marked")) << "\xef\xbb\xbf{}";
  EXPECT_EQ(MappedFile::open(path("marked"), Code::kModelNotFound).value().text(), "{}");
}

TEST_F(PlatformTest, ReleasedPartsOfAMappedFileReadAsBefore) {
  std::string content;
  for (int i = 0; i < 5000; ++i) content += std::to_string(i);
  std::ofstream(path("large")) << content;
  Result<MappedFile> file = MappedFile::open(path("large"), Code::kModelNotFound);
  ASSERT_TRUE(file.is_ok());
  const std::span<const std::byte> bytes = file.value().bytes();
  for (const auto part : {bytes, bytes.first(0), bytes.subspan(5, 4095), bytes.subspan(7)}) {
    file.value().release(part);
    EXPECT_EQ(text_of(file.value()), content);
  }
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

TEST(ThreadPoolTest, EveryTaskRunsOnceOnAThreadThatRunsNoOtherMeanwhile) {
  for (const uint32_t threads : {1u, 2u, 5u}) {
    ThreadPool pool(threads);
    for (const uint32_t count : {0u, 1u, 2u, 9u, 700u}) {
      std::vector<std::atomic<int>> runs(count);
      std::vector<std::atomic<int>> busy(threads);
      pool.parallel_tasks(count, [&](uint32_t task, uint32_t thread) {
        EXPECT_EQ(busy.at(thread).fetch_add(1), 0);
        runs[task].fetch_add(1);
        busy[thread].fetch_sub(1);
      });
      for (const std::atomic<int>& run : runs) EXPECT_EQ(run.load(), 1);
    }
  }
}

TEST(ThreadPoolTest, TasksBeginInTheOrderOfTheirNumbers) {
  ThreadPool pool(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<uint32_t> last(3);
    pool.parallel_tasks(50, [&](uint32_t task, uint32_t thread) {
      EXPECT_TRUE(task == 0 || task > last[thread] || last[thread] == 0);
      last[thread] = task;
    });
  }
}

TEST(ThreadPoolTest, AForkOfManySizesNeverRunsAPartOfAnother) {
  ThreadPool pool(4);
  std::atomic<uint64_t> ran{0};
  uint64_t wanted = 0;
  for (uint32_t round = 0; round < 5000; ++round) {
    const uint32_t count = 2 + round * 7919 % 11;
    pool.parallel_tasks(count, [&ran, round, count](uint32_t task, uint32_t) {
      EXPECT_LT(task, count);
      ran += uint64_t{round} * 100 + task;
    });
    wanted += uint64_t{round} * 100 * count + count * (count - 1) / 2;
    EXPECT_EQ(ran.load(), wanted);
  }
}

TEST(ThreadPoolTest, BackgroundThreadsAskBeforeEachPartOfLoopsAndTasks) {
  for (const uint32_t threads : {1u, 3u}) {
    std::atomic<uint32_t> asked{0};
    ThreadPool pool(
        ThreadPoolOptions{.thread_count = threads, .before_part = [&] { asked.fetch_add(1); }});
    constexpr uint64_t kCount = 100;
    std::vector<std::atomic<uint32_t>> visits(kCount);
    pool.parallel_for(kCount, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) visits[i].fetch_add(1);
    });
    EXPECT_EQ(asked.exchange(0), threads * ThreadPool::kPartsOfBackground);
    for (const auto& count : visits) EXPECT_EQ(count.load(), 1u);
    pool.parallel_tasks(7, [&](uint32_t task, uint32_t) { visits[task].fetch_add(1); });
    EXPECT_EQ(asked.load(), 7u);
  }
}

TEST(FolderLockTest, AnotherProcessAndAFileSystemWithoutLocksAreToldApart) {
  const std::string held = lock_refusal("lock", EWOULDBLOCK, Code::kStoreInvalid).message();
  EXPECT_NE(held.find("another process uses"), std::string::npos) << held;
  for (const int error : {ENOLCK, EBADF, EOPNOTSUPP, EACCES}) {
    const Status refusal = lock_refusal("lock", error, Code::kStoreInvalid);
    EXPECT_EQ(refusal.code(), Code::kStoreInvalid);
    EXPECT_EQ(refusal.message().find("another process"), std::string::npos) << refusal.message();
    EXPECT_NE(refusal.message().find(std::strerror(error)), std::string::npos);
    EXPECT_NE(refusal.message().find("use a local volume"), std::string::npos);
  }
}

TEST(Cpus, ThreadsThatAreThereDoNotPreemptTheCaller) {
  std::promise<pid_t> begun;
  std::promise<void> end;
  std::thread other([&begun, ended = end.get_future()] {
    begun.set_value(::gettid());
    ended.wait();
  });
  const pid_t other_id = begun.get_future().get();
  const int before = ::sched_getscheduler(0);
  EXPECT_GE(keep_other_threads_from_preempting(), 1u);
  EXPECT_EQ(::sched_getscheduler(0), before);
  EXPECT_EQ(::sched_getscheduler(other_id), SCHED_BATCH);
  end.set_value();
  other.join();
  // Threads begun later are as their maker is.
  int later = -1;
  std::thread([&] { later = ::sched_getscheduler(0); }).join();
  EXPECT_EQ(later, before);
}

TEST(Cpus, KnowsTheFirstThread) {
  EXPECT_TRUE(is_first_thread());
  bool other_is_first = true;
  std::thread([&] { other_is_first = is_first_thread(); }).join();
  EXPECT_FALSE(other_is_first);
}

TEST(MachineTest, SomeMemoryIsAvailable) { EXPECT_GT(available_memory_bytes(), 1u << 20); }

/// Bytes available on a machine with 8 MiB left, under these files.
uint64_t available_with(const fs::path& folder, const std::map<std::string, std::string>& files) {
  const std::string root = (folder / "machine/").string();
  const auto write = [&](const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  };
  write("proc/meminfo", "MemTotal: 16384 kB\nMemAvailable: 8192 kB\n");
  for (const auto& [path, text] : files) write(path, text);
  const uint64_t available = available_memory_bytes(root);
  fs::remove_all(root);
  return available;
}

TEST_F(PlatformTest, AvailableMemoryIsWhatTheNarrowestCgroupLeaves) {
  constexpr uint64_t kMiB = 1u << 20;
  const std::string own = "proc/self/cgroup", v2 = "sys/fs/cgroup/";
  EXPECT_EQ(available_with(folder_, {}), 8 * kMiB);
  EXPECT_EQ(available_with(folder_, {{own, "0::/\n"}, {v2 + "memory.max", "max"}}), 8 * kMiB);
  // A container sees its own cgroup as the root.
  EXPECT_EQ(
      available_with(folder_, {{v2 + "memory.max", "4194304"}, {v2 + "memory.current", "1048576"}}),
      3 * kMiB);
  const std::map<std::string, std::string> nested = {{own, "0::/pods/one\n"},
                                                     {v2 + "pods/memory.max", "3145728"},
                                                     {v2 + "pods/memory.current", "2097152"},
                                                     {v2 + "pods/one/memory.max", "max"},
                                                     {v2 + "pods/one/memory.current", "1048576"}};
  EXPECT_EQ(available_with(folder_, nested), 1 * kMiB);
  // Pages of files that nobody touches are given back; a group over its limit has nothing left.
  auto reading = nested;
  reading[v2 + "pods/memory.stat"] = "anon 7\nactive_file 9\ninactive_file 1048576\n";
  EXPECT_EQ(available_with(folder_, reading), 2 * kMiB);
  reading[v2 + "pods/memory.current"] = "9000000";
  EXPECT_EQ(available_with(folder_, reading), 0u);
  const std::string v1 = v2 + "memory/box/";
  EXPECT_EQ(available_with(
                folder_, {{own, "5:cpu,cpuacct:/other\n9:hugetlb,memory:/box\n"},
                          {v1 + "memory.limit_in_bytes", "5242880"},
                          {v1 + "memory.usage_in_bytes", "2097152"},
                          {v1 + "memory.stat", "inactive_file 5\ntotal_inactive_file 1048576\n"}}),
            4 * kMiB);
}

TEST(MachineTest, WiderInstructionSetsImplyNarrowerOnes) {
  const CpuFeatures features = detect_cpu_features();
  EXPECT_TRUE(!features.avx512 || features.avx2_fma);
  EXPECT_TRUE(!features.avx512_bf16 || features.avx512);
  EXPECT_TRUE(!features.avx512_vnni || features.avx512);
  EXPECT_TRUE(!features.avx_vnni || features.avx2_fma);
  EXPECT_TRUE(!features.amx || features.avx512);
}

}  // namespace platform_test
}  // namespace tessera::platform
