// A damaged disk tier: any file, any place. It is a cache, so every start succeeds, every answer is
// the one computed from nothing, and what was lost is kept anew and found after the next start.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <random>

#include "base/test_count.h"
#include "kv/memory.h"
#include "kv/test_model.h"
#include "platform/test_damage.h"

namespace tessera::kv {
namespace disk_damage_test {

namespace fs = std::filesystem;

constexpr uint64_t kPatience = 20'000'000;  // microseconds
constexpr uint64_t kBlockBytes = 8192;
constexpr uint32_t kUsers = 6;

const uint64_t cases = test_count("CASES", 30);

class DiskDamage : public testing::Test {
 protected:
  DiskDamage() {
    const fs::path memory = "/dev/shm";
    const fs::path parent = fs::is_directory(memory) ? memory : fs::temp_directory_path();
    std::string name = (parent / "tessera-kv-damage-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~DiskDamage() override { fs::remove_all(folder_); }

  fs::path tier() const { return folder_ / "kv"; }
  fs::path whole() const { return folder_ / "whole"; }

  std::unique_ptr<Pool> open() const {
    PoolOptions options;
    options.block_bytes = kBlockBytes;
    options.device_blocks = 8;
    options.disk_blocks = 64;
    options.disk_folder = tier();
    options.disk_reserve_bytes = 0;
    options.store_retry_us = 0;
    auto pool = Pool::open(std::move(options));
    EXPECT_TRUE(pool.is_ok()) << pool.status().message();
    return pool.is_ok() ? std::move(pool).value() : nullptr;
  }

  static TestRequest request(Pool& pool, uint32_t user) {
    return {.version = pool.add_version(test_identity("model", kBlockBytes)).value(),
            .salt = 5,
            .user = "user" + std::to_string(user),
            .tokens = random_tokens(user, 40 + 17 * user),
            .scene = {1, 2}};
  }

  /// Asks for every user; the tokens that were found on disk.
  static uint32_t ask_all(Pool& pool) {
    uint32_t found = 0;
    for (uint32_t user = 0; user < kUsers; ++user) {
      const TestRequest asked = request(pool, user);
      Prefetch prefetch = pool.prefetch(asked.version, asked.user, 1000);
      EXPECT_TRUE(prefetch.wait(kPatience));
      prefetch.cut_off();
      const TestAnswer answer = serve(pool, asked);
      EXPECT_TRUE(answer.status.is_ok()) << answer.status.message();
      EXPECT_EQ(answer.value, expected_answer(asked)) << "user " << user;
      EXPECT_TRUE(pool.flush(kPatience).is_ok());
      found += answer.matched;
    }
    return found;
  }

  fs::path folder_;
};

TEST_F(DiskDamage, NeverChangesAnAnswerNorStopsAStart) {
  {
    auto pool = open();
    ask_all(*pool);
  }
  fs::copy(tier(), whole(), fs::copy_options::recursive);
  uint32_t all = 0;
  for (uint32_t user = 0; user < kUsers; ++user) all += 40 + 17 * user;
  uint64_t unharmed = 0, emptied = 0;
  for (uint64_t seed = 0; seed < cases && !HasFailure(); ++seed) {
    fs::remove_all(tier());
    fs::copy(whole(), tier(), fs::copy_options::recursive);
    std::mt19937_64 random(seed);
    const std::string damage = platform::damage_a_file(tier(), random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + damage);
    {
      auto pool = open();
      ASSERT_NE(pool, nullptr);
      const uint32_t found = ask_all(*pool);
      EXPECT_LE(found, all);
      unharmed += found == all;
      emptied += found == 0;
      EXPECT_TRUE(pool->check_integrity().faults.empty());
    }
    auto again = open();
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(ask_all(*again), all) << "what was kept anew is not found";
  }
  std::printf("%llu damaged tiers: %llu unharmed, %llu begun anew\n",
              static_cast<unsigned long long>(cases), static_cast<unsigned long long>(unharmed),
              static_cast<unsigned long long>(emptied));
}

}  // namespace disk_damage_test
}  // namespace tessera::kv
