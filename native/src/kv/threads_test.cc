// The pool under its real threads: requests from several threads on the same users, prefetches cut
// off at any moment, users dropped, versions retired, books audited, all at once. Run it under
// ThreadSanitizer and AddressSanitizer.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <random>
#include <thread>

#include "kv/pool.h"
#include "kv/test_model.h"
#include "kv/work.h"

namespace tessera::kv {
namespace threads_test {

namespace fs = std::filesystem;
constexpr uint32_t kRequests = 400;  // per thread

class Threads : public testing::TestWithParam<uint32_t> {
 protected:
  Threads()
      : folder_(fs::temp_directory_path() / ("tessera-kv-threads-" + std::to_string(::getpid()))) {
    PoolOptions options;
    options.block_bytes = 4096;
    options.device_blocks = 48;
    options.host_blocks = GetParam();
    options.disk_blocks = 64;
    options.disk_folder = folder_;
    pool_ = Pool::open(std::move(options)).value();
    for (const char* model : {"a", "b"}) {
      versions_.push_back(pool_->add_version(test_identity(model, 4096)).value());
    }
  }
  ~Threads() override {
    pool_.reset();
    fs::remove_all(folder_);
  }

  TestRequest next(std::mt19937_64& random) {
    const uint64_t user = random() % 6;
    const auto which = static_cast<uint32_t>(random() % 2);
    auto tokens = random_tokens(user, static_cast<uint32_t>(1 + random() % 150));
    if (random() % 4 == 0) tokens[random() % tokens.size()] += 1;
    return {.version = versions_[which],
            .salt = 40 + which,
            .user = "user" + std::to_string(user),
            .tokens = std::move(tokens),
            .scene = {4}};
  }

  void serve_many(uint64_t seed) {
    std::mt19937_64 random(seed);
    for (uint32_t i = 0; i < kRequests; ++i) {
      const TestRequest request = next(random);
      Prefetch prefetch = pool_->prefetch(request.version, request.user, 1000);
      if (random() % 2 == 0) prefetch.wait(random() % 2000);
      prefetch.cut_off();
      const TestAnswer answer = serve(*pool_, request);
      if (!answer.status.is_ok()) continue;
      wrong_ += answer.value != expected_answer(request);
      ++answers_;
    }
  }

  void disturb() {
    std::mt19937_64 random(99);
    PoolWork work(*pool_);
    while (!is_done_.load()) {
      const std::string user = "user" + std::to_string(random() % 6);
      switch (random() % 7) {
        case 0: (void)pool_->drop_user(user, 1000); break;
        case 1:
          pool_->retire(versions_[1]);
          (void)pool_->add_version(test_identity("b", 4096));
          break;
        case 2: faults_ += work.audit().size(); break;
        case 3: (void)pool_->inspect(user); break;
        case 4: faults_ += pool_->check_integrity().faults.size(); break;
        default: (void)pool_->metrics(); break;
      }
      std::this_thread::yield();
    }
  }

  const fs::path folder_;
  std::unique_ptr<Pool> pool_;
  std::vector<Version> versions_;
  std::atomic<bool> is_done_ = false;
  std::atomic<uint64_t> wrong_ = 0, answers_ = 0, faults_ = 0;
};

TEST_P(Threads, NoAnswerEverChanges) {
  std::thread disturbing([&] { disturb(); });
  std::vector<std::thread> serving;
  for (uint64_t seed = 1; seed <= 3; ++seed) serving.emplace_back([=, this] { serve_many(seed); });
  for (std::thread& thread : serving) thread.join();
  is_done_ = true;
  disturbing.join();
  EXPECT_EQ(wrong_.load(), 0u);
  EXPECT_EQ(faults_.load(), 0u);
  EXPECT_GT(answers_.load(), kRequests);
  EXPECT_EQ(pool_->metrics().leases, 0u);
}

INSTANTIATE_TEST_SUITE_P(Host, Threads, testing::Values(0u, 16u));

}  // namespace threads_test
}  // namespace tessera::kv
