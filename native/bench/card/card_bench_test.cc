// The program on emulated threads with tiny sizes: every launch of it, and the checks that come
// before a time; on a card by `npm run test:cuda`.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "card/attention_case.h"
#include "card/product_case.h"
#include "card/shapes.h"
#include "card/stages.h"
#include "cuda/device/test_card.h"

namespace tessera::bench::card {
namespace card_bench_test {

class CardBench : public ::testing::Test {
 protected:
  CardBench()
      : cache_(std::filesystem::temp_directory_path() /
               ("tessera-card-bench-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(cache_);
    if (device::cuda::on_card()) {
      auto opened = open_card(0);
      if (!opened.is_ok()) throw std::runtime_error(opened.status().message());
      card_ = std::move(opened).value();
    } else {
      card_ = open_emulation();
    }
  }
  ~CardBench() override { std::filesystem::remove_all(cache_); }

  std::vector<std::string> names_of(std::vector<std::string> words) {
    for (const char* word : {"--shape", "tiny", "--rounds", "1", "--warm-up", "0", "--cache"}) {
      words.emplace_back(word);
    }
    words.push_back(cache_.string());
    const Result<Options> options = parse(words);
    EXPECT_TRUE(options.is_ok()) << options.status().message();
    Report report;
    const Status status = run_stage(*card_, options.value(), report);
    EXPECT_TRUE(status.is_ok()) << status.message();
    std::vector<std::string> names;
    for (const Line& line : report.lines()) {
      EXPECT_GT(line.value, 0) << line.name;
      names.push_back(line.name);
    }
    return names;
  }

  std::filesystem::path cache_;
  std::unique_ptr<BenchCard> card_;
};

using Names = std::vector<std::string>;

TEST_F(CardBench, ChecksAndTimesTheKernelsOfAShape) {
  EXPECT_EQ(names_of({"kernels", "--contexts", "40", "--rows", "3", "--width", "5", "--copy-mib",
                      "1", "--peak-side", "72"}),
            (Names{"peak/copy", "peak/product 72", "kernels/tiny/product qkv/3x256x64",
                   "kernels/tiny/product o/3x64x128", "kernels/tiny/product gate_up/3x192x64",
                   "kernels/tiny/product down/3x64x96", "kernels/tiny/attention prompt/context 40",
                   "kernels/tiny/attention 5 beams/context 40", "kernels/tiny/norm/3 rows",
                   "kernels/tiny/head/5x120"}));
}

TEST_F(CardBench, ComparesTilesOfProductsBitForBit) {
  EXPECT_EQ(names_of({"bits", "--rows", "3"}),
            (Names{"bits/tiny/product qkv/3 rows", "bits/tiny/product o/3 rows",
                   "bits/tiny/product gate_up/3 rows", "bits/tiny/product down/3 rows"}));
}

TEST_F(CardBench, ChecksAndTimesRecallsAloneAndTogether) {
  EXPECT_EQ(names_of({"recall", "--items", "300", "--width", "4", "--cases", "20x1,9x2"}),
            (Names{"recall/tiny/context 20/requests 1/width 4",
                   "recall/tiny/context 9/requests 2/width 4"}));
}

TEST_F(CardBench, TimesRecallsByOfferedLoad) {
  const Names names =
      names_of({"load", "--items", "300", "--width", "3", "--contexts", "10", "--requests", "1"});
  ASSERT_EQ(names.size(), 15u);
  EXPECT_EQ(names[0], "load/tiny/context 10/offered 50 percent/offered");
  EXPECT_EQ(names[14], "load/tiny/context 10/offered 95 percent/latency p99");
}

TEST_F(CardBench, DrawsTheSameModelAndCatalogueOnce) {
  const Shape shape = shape_of("tiny").value();
  const std::string folder = model_folder(shape, cache_.string()).value();
  const auto written = std::filesystem::last_write_time(folder + "/model.safetensors");
  EXPECT_EQ(model_folder(shape, cache_.string()).value(), folder);
  EXPECT_EQ(std::filesystem::last_write_time(folder + "/model.safetensors"), written);
  const auto snapshot = random_catalogue(50, shape.codes, cache_.string());
  ASSERT_TRUE(snapshot.is_ok());
  EXPECT_EQ(snapshot.value()->item_count(), 50u);
}

TEST(CardBenchWords, AreCheckedFlagByFlag) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{}, "stage: expected kernels, bits, recall or load, got nothing"},
      {{"kernel"}, "stage: expected kernels, bits, recall or load, got kernel"},
      {{"recall", "--width"}, "--width: expected a value, got nothing"},
      {{"recall", "--width", "1025"}, "--width: expected an integer in 1..1024, got 1025"},
      {{"recall", "--cases", "1000"}, "--cases: expected CONTEXTxREQUESTS, got 1000"},
      {{"recall", "--cases", "1000x0"}, "--cases: expected an integer in 1..64, got 0"},
      {{"kernels", "--contexts", "1000,"}, "--contexts: expected an integer in 1..8000, got "},
      {{"kernels", "--shape", "8x512"},
       "--shape: expected of tiny, qwen3-0.6b, qwen3-1.7b, got 8x512"},
      {{"kernels", "--what", "1"}, "flag: expected one of the usage, got --what"}};
  for (const auto& [words, message] : cases) {
    const Result<Options> options = parse(words);
    ASSERT_FALSE(options.is_ok());
    EXPECT_EQ(options.status().code(), Code::kRequestInvalid);
    EXPECT_EQ(options.status().message(), message);
  }
}

TEST(CardBenchReport, IsJsonWithWhatMustBeDone) {
  Report report;
  report.add_seconds("a", 2e-6, {10, 20});
  report.add("b", 3, "bytes");
  EXPECT_EQ(report.text("a card"),
            "{\"card\": \"a card\", \"results\": [\n"
            "  {\"name\": \"a\", \"value\": 2, \"unit\": \"us\", \"operations\": 10, \"bytes\": "
            "20},\n"
            "  {\"name\": \"b\", \"value\": 3, \"unit\": \"bytes\", \"operations\": 0, \"bytes\": "
            "0}\n]}\n");
}

TEST(CardBenchReport, QuantilesAreValuesByNearestRank) {
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.5), 2);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.99), 4);
  EXPECT_EQ(quantile({5}, 0.01), 5);
}

}  // namespace card_bench_test
}  // namespace tessera::bench::card
