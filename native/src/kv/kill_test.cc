// kill -9 at random points of the disk tier's work: a child serves and says what is durable, dies
// in the middle of a write, a sync or a commit (or anywhere, by the parent's hand), and a second
// child opens the folder: every user is there with a head that was committed, at least as long as
// what was reported durable, every byte right. The parent opens nothing: it forks. Long form:
// --kills=N.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>

#include "base/test_count.h"
#include "kv/disk_store.h"
#include "kv/memory.h"
#include "kv/test_model.h"

namespace tessera::kv {
namespace kill_test {

namespace fs = std::filesystem;

const uint64_t kills = test_count("KILLS", 16);
constexpr uint64_t kBlockBytes = 8192;
constexpr uint32_t kDiskBlocks = 8192;
constexpr uint32_t kUsers = 5;
constexpr uint32_t kTokensMax = 300;  // of a user; then the next generation begins
constexpr uint64_t kPatience = 60'000'000;
constexpr uint64_t kSalt = 3;

/// Dies by SIGKILL at the n-th point where a file changes; n = 0 never.
struct Fuse {
  uint64_t left = 0;
  void burn() {
    if (left > 0 && --left == 0) ::kill(::getpid(), SIGKILL);
  }
};

class FusedFile final : public File {
 public:
  FusedFile(std::unique_ptr<File> file, Fuse& fuse) : file_(std::move(file)), fuse_(fuse) {}
  int64_t read_some(uint64_t offset, std::span<std::byte> to) override {
    return file_->read_some(offset, to);
  }
  int64_t write_some(uint64_t offset, std::span<const std::byte> from) override {
    fuse_.burn();
    const uint64_t half = from.size() / 2 / Arena::kAlignment * Arena::kAlignment;
    return file_->write_some(offset, half > 0 ? from.first(half) : from);
  }
  int sync() override {
    fuse_.burn();
    const int done = file_->sync();
    fuse_.burn();
    return done;
  }
  int punch(uint64_t offset, uint64_t size) override { return file_->punch(offset, size); }
  uint64_t space_left() override { return file_->space_left(); }
  bool is_direct() const override { return file_->is_direct(); }

 private:
  const std::unique_ptr<File> file_;
  Fuse& fuse_;
};

class FusedIndex final : public HeadIndex {
 public:
  FusedIndex(std::unique_ptr<HeadIndex> index, Fuse& fuse)
      : index_(std::move(index)), fuse_(fuse) {}
  Result<std::string> get(std::string_view key) override { return index_->get(key); }
  Status scan(
      const std::function<void(std::string_view key, std::string_view value)>& each) override {
    return index_->scan(each);
  }
  Status commit(std::span<const std::string> erased, std::span<const Entry> put) override {
    fuse_.burn();
    const Status status = index_->commit(erased, put);
    fuse_.burn();
    return status;
  }
  Status scrub(std::span<const std::string> keys) override { return index_->scrub(keys); }

 private:
  const std::unique_ptr<HeadIndex> index_;
  Fuse& fuse_;
};

std::unique_ptr<Pool> open_pool(const std::string& folder, Fuse& fuse) {
  const DiskLayout layout{folder, kBlockBytes, kDiskBlocks};
  PoolOptions options;
  options.block_bytes = kBlockBytes;
  options.device_blocks = 64;
  auto index = open_rocksdb_index(folder + "/index");
  auto blocks = open_file(folder + "/blocks", slot_stride(kBlockBytes) * kDiskBlocks);
  if (!index.is_ok() || !blocks.is_ok()) return nullptr;
  options.store = std::make_unique<DiskStore>(
      layout, std::make_unique<FusedFile>(std::move(blocks).value(), fuse),
      std::make_unique<FusedIndex>(std::move(index).value(), fuse), nullptr);
  Result<std::unique_ptr<Pool>> pool = Pool::open(std::move(options));
  if (!pool.is_ok()) std::fprintf(stderr, "open: %s\n", pool.status().message().c_str());
  return pool.is_ok() ? std::move(pool).value() : nullptr;
}

std::string name_of(uint32_t user, uint32_t generation) {
  return std::to_string(user) + "." + std::to_string(generation);
}

/// A user's history is the beginning of an endless one: any length of it can be checked.
TestRequest request_of(Version version, const std::string& user, uint32_t length) {
  return {.version = version,
          .salt = kSalt,
          .user = user,
          .tokens = random_tokens(std::hash<std::string>()(user), length),
          .scene = {1, 2, 3}};
}

uint32_t tokens_of(const Pool& pool, const std::string& user) {
  const std::vector<ChainReport> reports = pool.inspect(user);
  return reports.empty() ? 0 : reports.front().tokens;
}

/// Sent by the child through the pipe once a user's blocks are durable.
struct Report {
  char user[32];
  uint32_t tokens;
};

[[noreturn]] void serve_until_killed(const std::string& folder, uint64_t seed, int pipe) {
  std::mt19937_64 random(seed);
  Fuse fuse;
  auto pool = open_pool(folder, fuse);
  if (pool == nullptr) std::_Exit(2);
  const Version version = pool->add_version(test_identity("model", kBlockBytes)).value();
  if (seed % 4 != 0) fuse.left = 1 + random() % 60;
  while (true) {
    std::vector<Report> reports;
    for (uint64_t i = 1 + random() % 3; i > 0; --i) {
      const auto user = static_cast<uint32_t>(random() % kUsers);
      uint32_t generation = 0;
      while (tokens_of(*pool, name_of(user, generation)) >= kTokensMax) ++generation;
      const std::string name = name_of(user, generation);
      const auto length =
          static_cast<uint32_t>(tokens_of(*pool, name) + 1 + random() % (2 * kBlockTokens));
      const TestRequest request = request_of(version, name, length);
      if (serve(*pool, request).value != expected_answer(request)) std::_Exit(3);
      Report report{};
      std::memcpy(report.user, name.data(), name.size());
      report.tokens = length;
      reports.push_back(report);
    }
    if (!pool->flush(kPatience).is_ok()) std::_Exit(4);
    for (Report& report : reports) {
      report.tokens = pool->inspect(report.user).at(0).durable_tokens;
      if (::write(pipe, &report, sizeof(report)) != sizeof(report)) std::_Exit(5);
    }
  }
}

/// Exit code 0 when the folder keeps every promise.
[[noreturn]] void check_folder(const std::string& folder,
                               const std::map<std::string, uint32_t>& durable) {
  Fuse fuse;
  auto pool = open_pool(folder, fuse);
  if (pool == nullptr) std::_Exit(2);
  const Version version = pool->add_version(test_identity("model", kBlockBytes)).value();
  int broken = 0;
  for (const auto& [user, tokens] : durable) {
    const uint32_t found = tokens_of(*pool, user);
    Prefetch prefetch = pool->prefetch(version, user, kTokensMax * 2);
    broken += !prefetch.wait(kPatience);
    prefetch.cut_off();
    const TestRequest request = request_of(version, user, found + 1);
    const TestAnswer answer = serve(*pool, request, false);
    const bool is_right =
        found >= tokens && answer.matched == found && answer.value == expected_answer(request);
    if (!is_right) {
      std::fprintf(stderr, "user %s: durable %u, found %u, matched %u, answer %s\n", user.c_str(),
                   tokens, found, answer.matched,
                   answer.value == expected_answer(request) ? "right" : "wrong");
    }
    broken += !is_right;
  }
  const IntegrityReport report = pool->check_integrity();
  for (const std::string& fault : report.faults) std::fprintf(stderr, "%s\n", fault.c_str());
  const PoolMetrics metrics = pool->metrics();
  broken += !report.faults.empty() || report.corrupt_disk_blocks > 0 || metrics.heads_corrupt > 0;
  broken += metrics.tier("disk").used_blocks != report.checked_disk_blocks;
  std::_Exit(broken == 0 ? 0 : 1);
}

/// Reads reports until the child is gone; kills it after `after` of them.
void follow(int pipe, pid_t child, uint64_t after, std::map<std::string, uint32_t>& durable) {
  Report report;
  for (uint64_t count = 1; ::read(pipe, &report, sizeof(report)) == sizeof(report); ++count) {
    durable[report.user] = std::max(durable[report.user], report.tokens);
    if (count == after) ::kill(child, SIGKILL);
  }
}

TEST(Kill, AtAnyPointLeavesWhatWasDurableAndNothingWrong) {
  const fs::path folder =
      fs::temp_directory_path() / ("tessera-kv-kill-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::map<std::string, uint32_t> durable;
  uint64_t reports = 0;
  for (uint64_t round = 1; round <= kills && !HasFailure(); ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(ends[0]);
      serve_until_killed(folder, round, ends[1]);
    }
    ::close(ends[1]);
    follow(ends[0], child, round % 4 == 0 ? 1 + round % 23 : 100, durable);
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "round " << round;
    const pid_t checker = ::fork();
    ASSERT_GE(checker, 0);
    if (checker == 0) check_folder(folder, durable);
    ASSERT_EQ(::waitpid(checker, &status, 0), checker);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "round " << round;
    reports += durable.size();
  }
  EXPECT_GT(reports, kills);
  fs::remove_all(folder);
}

}  // namespace kill_test
}  // namespace tessera::kv
