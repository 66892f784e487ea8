// Tests the checks of an embedder, and that its passes give way to recalls.
#include "engine/embedder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "engine/foreground.h"

namespace tessera::engine {
namespace embedder_test {

const std::string kModel =
    std::string(TESSERA_REPOSITORY_ROOT) + "/test/fixtures/encoders/bert-mean";

EmbedderOptions options() {
  return {.model_path = kModel, .thread_count = 1, .rows_max = 40, .texts_max = 3};
}

std::unique_ptr<Embedder> open() {
  auto embedder = Embedder::open(options());
  EXPECT_TRUE(embedder.is_ok()) << embedder.status().message();
  return std::move(embedder).value();
}

TEST(Embedder, APassHasAVectorForEachText) {
  const auto embedder = open();
  const std::vector<int32_t> tokens = {5, 6, 7, 8, 9};
  const auto both = embedder->embed(tokens, std::vector<uint32_t>{0, 2, 5});
  const auto last = embedder->embed(std::span(tokens).subspan(2), std::vector<uint32_t>{0, 3});
  ASSERT_TRUE(both.is_ok() && last.is_ok());
  const uint32_t n = embedder->model().dimension();
  const std::vector<float>& vectors = both.value().vectors;
  ASSERT_EQ(vectors.size(), 2 * n);
  EXPECT_EQ(std::vector<float>(vectors.begin() + n, vectors.end()), last.value().vectors);
  EXPECT_GT(both.value().compute_us, 0);
}

TEST(Embedder, ASecondSegmentBeginsWhereTheTextSaysSo) {
  const auto embedder = open();
  const std::vector<int32_t> tokens = {5, 6, 7, 8};
  const std::vector<uint32_t> one = {0, 4}, seconds = {2}, none = {4};
  const auto plain = embedder->embed(tokens, one);
  const auto paired = embedder->embed(tokens, one, seconds);
  const auto unpaired = embedder->embed(tokens, one, none);
  ASSERT_TRUE(plain.is_ok() && paired.is_ok() && unpaired.is_ok());
  EXPECT_EQ(plain.value().vectors, unpaired.value().vectors);
  EXPECT_NE(plain.value().vectors, paired.value().vectors);
  const std::vector<uint32_t> two = {1, 2};
  const Status refused = embedder->embed(tokens, one, two).status();
  EXPECT_EQ(refused.code(), Code::kRequestInvalid);
  EXPECT_NE(refused.message().find("seconds"), std::string::npos) << refused.message();
}

TEST(Embedder, WhatAPassDoesNotTakeIsRefusedByItsField) {
  struct Fault {
    std::vector<int32_t> tokens;
    std::vector<uint32_t> offsets;
    const char* named;
  };
  const std::vector<Fault> faults = {{{1, 2}, {0, 1}, "offsets"},
                                     {{1, 2}, {0}, "offsets"},
                                     {{1, 2}, {0, 0, 2}, "texts[0]"},
                                     {{1, 2, 3, 4}, {0, 1, 2, 3, 4}, "at most 3 texts"},
                                     {std::vector<int32_t>(41, 1), {0, 20, 41}, "tokens"},
                                     {{1, 100000}, {0, 2}, "tokens"},
                                     {{-1}, {0, 1}, "tokens"}};
  const auto embedder = open();
  for (const Fault& fault : faults) {
    const auto vectors = embedder->embed(fault.tokens, fault.offsets);
    ASSERT_FALSE(vectors.is_ok()) << fault.named;
    EXPECT_EQ(vectors.status().code(), Code::kRequestInvalid);
    EXPECT_NE(vectors.status().message().find(fault.named), std::string::npos)
        << vectors.status().message();
  }
}

TEST(Embedder, OptionsOutOfRangeAndFoldersThatAreNotThereAreRefused) {
  EmbedderOptions wrong = options();
  wrong.rows_max = kEmbedRowsMax + 1;
  EXPECT_EQ(Embedder::open(wrong).status().code(), Code::kRequestInvalid);
  EmbedderOptions missing = options();
  missing.model_path = "/nowhere";
  EXPECT_EQ(Embedder::open(missing).status().code(), Code::kModelNotFound);
}

TEST(Foreground, BackgroundWorkGoesOnWhenTheLastDriverEnds) {
  give_way(std::chrono::hours(1));  // nobody has requests: at once
  Foreground one, other;
  one.begin();
  one.begin();
  other.begin();
  give_way(std::chrono::microseconds(1));  // no longer than it may take
  std::atomic<bool> went_on{false};
  std::thread background([&] {
    give_way(std::chrono::hours(1));
    went_on = true;
  });
  other.end();
  EXPECT_FALSE(went_on);
  one.end();
  background.join();
  EXPECT_TRUE(went_on);
}

TEST(Foreground, BackgroundWorkHasAShareOfAMachineThatIsNeverIdle) {
  Foreground busy;
  busy.begin();
  give_way_for_share();  // from here on the thread has worked for at most kWorkedMax
  for (int i = 0; i < 3; ++i) {
    const auto from = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - from < kWorkedMax) continue;
    EXPECT_GE(give_way_for_share(), kGivenShare * kWorkedMax);
  }
  busy.end();
}

TEST(Embedder, APassEndsWhileAnEngineIsNeverIdle) {
  EmbedderOptions two = options();
  two.thread_count = 2;
  const auto embedder = Embedder::open(two);
  ASSERT_TRUE(embedder.is_ok());
  const std::vector<int32_t> tokens(40, 5);
  const std::vector<uint32_t> offsets = {0, 20, 40};
  const auto alone = embedder.value()->embed(tokens, offsets);
  Foreground busy;
  busy.begin();
  const auto beside = embedder.value()->embed(tokens, offsets);
  ASSERT_TRUE(alone.is_ok() && beside.is_ok());
  EXPECT_EQ(alone.value().vectors, beside.value().vectors);
}

TEST(Foreground, AMarkEndsWithItsDriver) {
  {
    Foreground gone;
    gone.begin();
  }
  give_way(std::chrono::hours(1));
}

}  // namespace embedder_test
}  // namespace tessera::engine
