// Blocks that are written otherwise below the device: what is exact stays so, what is not says so.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "kv/test_codec.h"
#include "kv/test_model.h"
#include "kv/work.h"

namespace tessera::kv {
namespace codec_test {

namespace fs = std::filesystem;
constexpr uint64_t kPatience = 20'000'000;  // microseconds
constexpr uint64_t kBlockBytes = 4096;

class Codec : public testing::Test {
 protected:
  Codec()
      : folder_(fs::temp_directory_path() / ("tessera-kv-codec-" + std::to_string(::getpid()))) {}
  ~Codec() override { fs::remove_all(folder_); }

  PoolOptions options(std::shared_ptr<const BlockCodec> codec, uint32_t device_blocks = 4) const {
    PoolOptions made;
    made.block_bytes = kBlockBytes;
    made.device_blocks = device_blocks;
    made.disk_blocks = 64;
    made.disk_folder = folder_;
    made.codec = std::move(codec);
    return made;
  }
  static Version version_of(Pool& pool) {
    return pool.add_version(test_identity("model", kBlockBytes)).value();
  }
  static TestRequest request(Pool& pool, uint32_t user, uint32_t length = 90) {
    return {.version = version_of(pool),
            .salt = 5,
            .user = "user" + std::to_string(user),
            .tokens = random_tokens(user, length),
            .scene = {1, 2}};
  }
  static void store(Pool& pool, const TestRequest& asked) {
    EXPECT_EQ(serve(pool, asked).value, expected_answer(asked));
    EXPECT_TRUE(pool.flush(kPatience).is_ok());
  }
  static void bring_up(Pool& pool, const TestRequest& asked) {
    Prefetch prefetch = pool.prefetch(asked.version, asked.user, 1000);
    EXPECT_TRUE(prefetch.wait(kPatience));
  }
  static Lease look(Pool& pool, const TestRequest& asked) {
    return pool.lookup({.version = asked.version, .user = asked.user, .tokens = asked.tokens})
        .value();
  }

  const fs::path folder_;
};

TEST_F(Codec, AnExactOneChangesNoAnswer) {
  const auto codec = std::make_shared<InvertingCodec>(kBlockBytes);
  {
    auto pool = Pool::open(options(codec)).value();
    for (uint32_t user = 0; user < 5; ++user) store(*pool, request(*pool, user));
  }
  auto pool = Pool::open(options(codec)).value();
  for (uint32_t user = 0; user < 5; ++user) {
    const TestRequest asked = request(*pool, user);
    bring_up(*pool, asked);
    EXPECT_TRUE(look(*pool, asked).is_exact());
    const TestAnswer answer = serve(*pool, asked, false);
    EXPECT_EQ(answer.matched, 90u);
    EXPECT_EQ(answer.value, expected_answer(asked));
  }
  const IntegrityReport report = pool->check_integrity();
  EXPECT_TRUE(report.faults.empty());
  EXPECT_EQ(report.corrupt_disk_blocks, 0u);
  EXPECT_EQ(report.checked_disk_blocks, 15u);
}

TEST_F(Codec, WhatALossyOneGaveBackIsDeclaredWithAllThatIsBuiltOnIt) {
  auto pool = Pool::open(options(std::make_shared<HalvingCodec>(kBlockBytes), 6)).value();
  const TestRequest asked = request(*pool, 0);
  store(*pool, asked);
  EXPECT_TRUE(look(*pool, asked).is_exact());  // the device still has what was computed
  store(*pool, request(*pool, 1, 180));        // takes its place
  bring_up(*pool, asked);
  {
    const Lease lease = look(*pool, asked);
    EXPECT_EQ(lease.matched(), 90u);
    EXPECT_FALSE(lease.is_exact());
  }
  EXPECT_EQ(pool->metrics().inexact_tokens, 90u);
  TestRequest longer = asked;
  longer.tokens = random_tokens(0, 100);
  const TestAnswer answer = serve(*pool, longer);
  EXPECT_TRUE(answer.status.is_ok());
  EXPECT_NE(answer.value, expected_answer(longer));
  EXPECT_FALSE(look(*pool, longer).is_exact());
  // Of each of three looks all tokens: also those that were computed on what is not exact.
  EXPECT_EQ(pool->metrics().inexact_tokens, 90u + 90u + 100u);
  // Computed from nothing it is exact again.
  EXPECT_TRUE(pool->drop_user(asked.user, kPatience).is_ok());
  EXPECT_EQ(serve(*pool, longer).value, expected_answer(longer));
  EXPECT_TRUE(look(*pool, longer).is_exact());
}

TEST_F(Codec, WhoCopiesFromALeaderIsNoMoreExactThanIt) {
  auto pool = Pool::open(options(std::make_shared<HalvingCodec>(kBlockBytes), 8)).value();
  const TestRequest asked = request(*pool, 0, 32);
  store(*pool, asked);
  store(*pool, request(*pool, 1, 250));
  bring_up(*pool, asked);
  const auto longer = random_tokens(0, 100);
  Lease leader =
      pool->lookup({.version = asked.version, .user = asked.user, .tokens = longer}).value();
  ASSERT_EQ(leader.matched(), 32u);
  ASSERT_TRUE(pool->extend(leader, 100).is_ok());
  Lease follower =
      pool->lookup({.version = asked.version, .user = "other", .tokens = longer}).value();
  ASSERT_TRUE(pool->extend_beside(follower, leader, 0, 100).is_ok());
  EXPECT_FALSE(follower.is_exact());
}

TEST_F(Codec, BytesOfAnotherCodecAreRefusedByName) {
  {
    auto pool = Pool::open(options(std::make_shared<HalvingCodec>(kBlockBytes))).value();
    store(*pool, request(*pool, 0));
  }
  const Status status = Pool::open(options(nullptr)).status();
  EXPECT_EQ(status.code(), Code::kKvStoreInvalid);
  EXPECT_NE(status.message().find("upper halves"), std::string::npos) << status.message();
}

TEST_F(Codec, IsPartOfTheVersion) {
  Identity identity = test_identity("model", kBlockBytes);
  const Digest without = version_digest(identity);
  identity.codec = "upper halves";
  EXPECT_NE(version_digest(identity), without);
}

TEST(CodecOfTheHost, TheHostHoldsWhatTheCodecMakes) {
  PoolOptions options;
  options.block_bytes = kTestBlockBytes;
  options.device_blocks = 8;
  options.host_blocks = 32;
  options.read_threads = 0;
  options.codec = std::make_shared<HalvingCodec>(kTestBlockBytes);
  auto pool = Pool::open(std::move(options)).value();
  const Version version = pool->add_version(test_identity("model")).value();
  serve(*pool, {.version = version, .user = "u", .tokens = random_tokens(1, 90)});
  PoolWork work(*pool);
  StoreJob job;
  ASSERT_TRUE(work.begin_store(job));
  work.perform(job);
  work.finish(job);
  EXPECT_EQ(pool->metrics().tier("host").written_bytes, 3 * kTestBlockBytes / 2);
}

}  // namespace codec_test
}  // namespace tessera::kv
