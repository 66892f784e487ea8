// Writers, a compaction after another and searches at once: every answer is what brute force makes
// of the items that the version it names has. The writers' own notes say which those are, in
// the order of the numbers that they were given.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "base/mutex.h"
#include "base/test_count.h"
#include "beam/item_model.h"
#include "beam/naive_beam_search.h"
#include "catalogue/live_catalogue.h"

namespace tessera::beam {
namespace live_threads_test {

namespace fs = std::filesystem;

using catalogue::Change;
using catalogue::LiveCatalogue;
using catalogue::Reach;
using catalogue::View;

constexpr uint32_t kWriters = 2;
constexpr uint32_t kReaders = 2;
constexpr uint32_t kBatches = 120;    // of each writer
constexpr uint32_t kAnswersMin = 30;  // of each reader
constexpr uint32_t kAnswersMax = 1500;
constexpr uint64_t kBatchChangesMax = 4;
constexpr uint64_t kFilters = 6;  // so few that readers ask for the same bits at once

const uint64_t seeds = test_count("SEEDS", 2);

struct Applied {
  uint64_t sequence = 0;  // of the last change
  std::vector<Change> changes;
};

struct Answer {
  uint64_t sequence = 0;
  ModelFilter filter;
  DecodeOptions options;
  std::vector<OraclePath> paths;
};

class LiveThreadsTest : public testing::Test {
 protected:
  LiveThreadsTest()
      : folder_((fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
                ("tessera-live-threads-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~LiveThreadsTest() override { fs::remove_all(folder_); }

  void open(uint64_t seed) {
    std::mt19937_64 random(seed);
    are_written_ = false;
    applied_.clear();
    // Of so few items that the same ones are changed and searched for again and again.
    do {
      test_ = random_case(random, folder_ / "seed",
                          [](uint64_t i) { return ItemModel::test_attributes(i).json(); });
    } while (test_.sids.size() < 8);
    logits_ = random_model(random(), test_.level_sizes, true);
    auto live = LiveCatalogue::open(
        test_.snapshot, {folder_ / std::to_string(seed), catalogue::SyncPolicy::kNever, {}});
    ASSERT_TRUE(live.is_ok()) << live.status().message();
    live_ = std::move(live).value();
    const ItemModel model(test_);
    filters_.clear();
    while (filters_.size() < kFilters) filters_.push_back(random_filter(model, random));
  }

  /// Batches that another writer has overtaken are refused, and are no matter.
  void write(uint64_t seed, ItemModel& drawer) {
    std::mt19937_64 random(seed);
    for (uint32_t i = 0; i < kBatches; ++i) {
      std::vector<Change> changes = random_batch(drawer, random, kBatchChangesMax);
      const auto applied = live_->apply(catalogue::given(changes));
      if (!applied.is_ok()) continue;
      const MutexLock lock(applied_mutex_);
      applied_.push_back({applied.value().sequence, std::move(changes)});
    }
  }

  void read(uint64_t seed, std::vector<Answer>& answers) {
    std::mt19937_64 random(seed);
    const auto scratch = make_scratch();
    uint64_t last = 0;
    std::shared_ptr<const View> pinned = live_->view();
    while (answers.size() < kAnswersMax && (!are_written_ || answers.size() < kAnswersMin)) {
      Answer answer;
      answer.filter = filters_[random() % kFilters];
      answer.options.widths = {static_cast<uint32_t>(1 + random() % 8)};
      std::shared_ptr<const View> view = live_->view();
      EXPECT_GE(view->sequence(), last);
      last = view->sequence();
      // Or a version that was pinned a while ago; then the newest is.
      if (random() % 4 == 0) view.swap(pinned);
      answer.sequence = view->sequence();
      ASSERT_TRUE(check_eligibility(*view, answer.filter.request).is_ok());
      const Reach reach(view, compile_eligibility(*view, answer.filter.request));
      answer.paths = ranked(*view, decode_loop(reach, logits_, answer.options, *scratch));
      answers.push_back(std::move(answer));
    }
  }

  void expect_answers(ItemModel model, std::vector<Answer> answers) {
    std::sort(applied_.begin(), applied_.end(),
              [](const Applied& a, const Applied& b) { return a.sequence < b.sequence; });
    std::sort(answers.begin(), answers.end(),
              [](const Answer& a, const Answer& b) { return a.sequence < b.sequence; });
    auto next = applied_.begin();
    uint64_t sequence = 0;
    for (const Answer& answer : answers) {
      for (; next != applied_.end() && next->sequence <= answer.sequence; ++next) {
        sequence += next->changes.size();
        ASSERT_EQ(sequence, next->sequence);
        for (const Change& change : next->changes) model.apply(change);
      }
      SCOPED_TRACE("version " + std::to_string(answer.sequence));
      ASSERT_EQ(answer.sequence, sequence);  // whole batches
      NaiveBeamSearch naive(model.sids_to_be_had(answer.filter), logits_, answer.options);
      expect_same_paths(answer.paths, naive.run(), true);
      if (HasFatalFailure()) return;
    }
  }

  void compact_until_written() {
    while (!are_written_) {
      const Status compacted = live_->compact({});
      // Of a catalogue without items there is no snapshot.
      EXPECT_TRUE(compacted.is_ok() || compacted.code() == Code::kCatalogueInvalid)
          << compacted.message();
    }
  }

  const fs::path folder_;
  RandomCase test_;
  OracleModel logits_;
  std::vector<ModelFilter> filters_;
  std::unique_ptr<LiveCatalogue> live_;
  Mutex applied_mutex_;
  std::vector<Applied> applied_;
  std::atomic<bool> are_written_{false};

  void run(uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    open(seed);
    if (HasFatalFailure()) return;
    const ItemModel model(test_);
    std::vector<ItemModel> drawers(kWriters, model);
    std::vector<std::vector<Answer>> answers(kReaders);
    std::vector<std::thread> writers;
    for (uint32_t w = 0; w < kWriters; ++w) {
      writers.emplace_back([&, w] { write(seed * 100 + w, drawers[w]); });
    }
    std::thread compactor([&] { compact_until_written(); });
    std::vector<std::thread> readers;
    for (uint32_t r = 0; r < kReaders; ++r) {
      readers.emplace_back([&, r] { read(seed * 1000 + r, answers[r]); });
    }
    for (std::thread& writer : writers) writer.join();
    are_written_ = true;
    compactor.join();
    for (std::thread& reader : readers) reader.join();
    ItemModel replayed = model;
    for (const ItemModel& drawer : drawers) replayed.learn(drawer);
    for (std::vector<Answer>& of_reader : answers) {
      ASSERT_GE(of_reader.size(), kAnswersMin);
      expect_answers(replayed, std::move(of_reader));
    }
  }
};

TEST_F(LiveThreadsTest, EveryAnswerIsBruteForceOnTheVersionItNames) {
  for (uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed) run(seed);
}

}  // namespace live_threads_test
}  // namespace tessera::beam
