// Requests that may be answered in part, in a world where every row is predicted to take 1000
// seconds: what they get is decided by the prediction alone.
#include <gtest/gtest.h>

#include <algorithm>

#include "catalogue/view_editor.h"
#include "engine/loop.h"
#include "engine/test_fixture.h"

namespace tessera::engine {
namespace partial_test {

using std::chrono::seconds;

constexpr double kRowUs = 1e9;

class PartialFixture : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path folder =
        std::filesystem::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures/parity/qwen3-tied";
    options_ = fixture_options(folder);
    fixture_ = read_cases(folder).front();
    fixture_.terminal_tokens.clear();
    snapshot_ = open_fixture_catalogue(folder);
    binding_ = bind_fixture(open_fixture_decoder(options_).decoder->config(), snapshot_, fixture_);
  }

  Request make(uint32_t width, seconds budget) const {
    Request request = make_request(1, binding_, fixture_);
    request.widths = {width};
    request.allows_partial = true;
    request.submitted = Clock::now();
    request.deadline = request.submitted + budget;
    return request;
  }

  Completion run(Request request) {
    LoopCounters counters;
    const scheduler::PassCost cost{0, kRowUs, 0, 0};
    const FixtureDecoder on = open_fixture_decoder(options_);
    auto passes = std::make_unique<Passes>(
        *on.decoder,
        on.decoder->make_memory(options_.batch_rows_max, options_.prompt_tokens_max, 0).value());
    Loop loop(options_, *on.processor, *on.decoder, *on.pool, std::move(passes), cost, counters);
    Status status;
    EXPECT_EQ(loop.admit(request, Clock::now(), status), Admission::kAdmitted);
    std::vector<Completion> completed;
    while (loop.running() > 0) loop.run_pass(completed);
    EXPECT_TRUE(completed.front().status.is_ok());
    return std::move(completed.front());
  }

  EngineOptions options_;
  FixtureCase fixture_;
  std::shared_ptr<const catalogue::Snapshot> snapshot_;
  std::shared_ptr<const Binding> binding_;
};

TEST_F(PartialFixture, ASearchWithTimeEnoughIsWhole) {
  const Completion whole = run(make(8, seconds(1'000'000)));
  EXPECT_EQ(whole.completeness, Completeness::kWhole);
  Request plain = make(8, seconds(1));
  plain.allows_partial = false;
  const Completion other = run(std::move(plain));
  EXPECT_EQ(other.completeness, Completeness::kWhole);
  EXPECT_EQ(whole.answer.item_ordinals, other.answer.item_ordinals);
  EXPECT_EQ(whole.answer.item_scores, other.answer.item_scores);
}

TEST_F(PartialFixture, ASearchWithoutTimeForItsWidthIsTheSearchOfANarrowerOne) {
  // Passes follow all selections but the last. Two beams need 2500 seconds for each, with the
  // reserve, four need 5000; what passes really take corrects that downwards, but slowly.
  const int passes = static_cast<int>(binding_->step_count()) - 1;
  const Completion narrowed = run(make(8, seconds(3800 * passes)));
  EXPECT_EQ(narrowed.completeness, Completeness::kNarrowed);
  EXPECT_EQ(*std::max_element(narrowed.widths_used.begin(), narrowed.widths_used.end()), 2u);
  const Completion narrow = run(make(2, seconds(1'000'000)));
  EXPECT_EQ(narrow.completeness, Completeness::kWhole);
  EXPECT_EQ(narrowed.answer.item_ordinals, narrow.answer.item_ordinals);
  EXPECT_EQ(narrowed.answer.item_scores, narrow.answer.item_scores);
}

TEST_F(PartialFixture, ASearchByProofThatIsNarrowedSaysWhatItMayHaveMissed) {
  Request proved = make(8, seconds(1'000'000'000));
  proved.row_budget = 4096;
  const Completion whole = run(std::move(proved));
  EXPECT_EQ(whole.completeness, Completeness::kWhole);
  EXPECT_TRUE(whole.certificate.is_certified);
  EXPECT_GT(whole.rows, 0u);
  Request late = make(8, seconds(1));
  late.row_budget = 4096;
  const Completion narrowed = run(std::move(late));
  EXPECT_EQ(narrowed.completeness, Completeness::kNarrowed);
  EXPECT_LT(narrowed.rows, whole.rows);
  EXPECT_FALSE(narrowed.certificate.is_certified);
  for (size_t i = narrowed.answer.path_scores.size(); i < whole.answer.path_scores.size(); ++i) {
    EXPECT_LE(whole.answer.path_scores[i], narrowed.certificate.gap);
  }
}

TEST_F(PartialFixture, WhatHasFinishedIsTheAnswerWhereEvenOneBeamComesTooLate) {
  // An item that lies on the way of the narrowest search, and so finishes before its end.
  const Completion narrowest = run(make(1, seconds(1'000'000)));
  catalogue::Change change;
  change.kind = catalogue::ChangeKind::kUpsert;
  change.item_id = "on-the-way";
  change.sid = narrowest.answer.path_codes;
  change.sid.pop_back();
  catalogue::ViewEditor editor(*catalogue::View::of(snapshot_));
  editor.apply(change);
  Request request = make(8, seconds(1));
  request.reach = catalogue::Reach(editor.finish());
  const std::shared_ptr<const catalogue::View> view = request.reach.shared_view();
  const Completion cut = run(std::move(request));
  EXPECT_EQ(cut.completeness, Completeness::kCut);
  EXPECT_EQ(cut.widths_used.size(), change.sid.size());
  ASSERT_EQ(cut.answer.item_ordinals.size(), 1u);
  EXPECT_EQ(cut.texts.ids[0], "on-the-way");
  EXPECT_EQ(cut.catalogue_sequence, view->sequence());
}

TEST_F(PartialFixture, ANarrowedSearchOfWhichNothingFinishesEarlyRunsToItsEnd) {
  const Completion late = run(make(8, seconds(1)));
  EXPECT_EQ(late.completeness, Completeness::kNarrowed);
  EXPECT_EQ(late.widths_used, std::vector<uint32_t>(binding_->step_count(), 1));
  EXPECT_EQ(late.answer.path_scores.size(), 1u);
}

}  // namespace partial_test
}  // namespace tessera::engine
