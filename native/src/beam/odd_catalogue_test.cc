// Catalogues at the edges of what they may be, searched against the rules restated on lists.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "beam/export.h"
#include "beam/naive_beam_search.h"
#include "beam/random_case.h"
#include "catalogue/builder.h"
#include "catalogue/view_editor.h"

namespace tessera::beam {
namespace odd_catalogue_test {

using catalogue::Reach;
using catalogue::View;

class OddCatalogueTest : public testing::Test {
 protected:
  ~OddCatalogueTest() override { std::filesystem::remove(path_); }

  std::shared_ptr<const View> view_of(const std::vector<Sid>& sids,
                                      const std::vector<uint32_t>& level_sizes) {
    catalogue::CatalogueInput input;
    for (size_t i = 0; i < sids.size(); ++i) {
      input.codes.insert(input.codes.end(), sids[i].begin(), sids[i].end());
      input.sid_ends.push_back(input.codes.size());
      input.item_ids.add("item-" + std::to_string(i));
      input.priorities.push_back(static_cast<double>(i % 7));
    }
    input.level_sizes = level_sizes;
    EXPECT_TRUE(catalogue::build_snapshot(input, path_, {}).is_ok());
    return View::of(catalogue::Snapshot::open(path_).value());
  }

  /// The search over the view against the rules over the SIDs, at some widths and norms.
  void expect_by_the_rules(const std::shared_ptr<const View>& view, const std::vector<Sid>& sids,
                           const std::vector<uint32_t>& level_sizes) {
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const OracleModel logits = random_model(seed, level_sizes, true);
      DecodeOptions options;
      options.widths = {seed % 2 == 0 ? 512u : 3u};
      options.terminal_count = seed % 3 == 0 ? 1 : 0;
      NaiveBeamSearch naive(sids, logits, options);
      const auto expected = naive.run();
      const auto found = decode_loop(Reach(view), logits, options, *scratch_);
      expect_same_paths(ranked(*view, found), expected, true);
      if (HasFatalFailure()) return;
    }
  }

  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("tessera-odd-" + std::to_string(::getpid()));
  std::unique_ptr<Scratch, ScratchDeleter> scratch_ = make_scratch();
  platform::ThreadPool threads_{1};
};

TEST_F(OddCatalogueTest, OneItemIsFoundAtAnyWidth) {
  const std::vector<Sid> sids = {{4, 0, 7}};
  const auto view = view_of(sids, {8, 1, 8});
  expect_by_the_rules(view, sids, {8, 1, 8});
}

TEST_F(OddCatalogueTest, SixtyFiveItemsOfOneSidComeByPriorityThenItemId) {
  std::vector<Sid> sids(65, Sid{1, 2});
  sids.push_back({1, 3});
  const auto view = view_of(sids, {4, 4});
  expect_by_the_rules(view, sids, {4, 4});
  std::vector<std::pair<double, std::string>> expected;
  for (size_t i = 0; i < 65; ++i) {
    expected.emplace_back(-static_cast<double>(i % 7), "item-" + std::to_string(i));
  }
  std::sort(expected.begin(), expected.end());
  const catalogue::NodeIndex crowded = view->find_node(Sid{1, 2});
  for (const uint32_t cap : {0u, 1u, 64u, 65u, 66u}) {
    const Exported exported =
        export_items(std::vector<Finished>{{-1.0F, crowded}}, Reach(view), {100, cap}, threads_);
    ASSERT_EQ(exported.item_ordinals.size(), cap == 0 ? 65 : std::min(cap, 65u));
    for (size_t i = 0; i < exported.item_ordinals.size(); ++i) {
      ASSERT_EQ(view->item_id(exported.item_ordinals[i]), expected[i].second) << "rank " << i;
    }
  }
}

TEST_F(OddCatalogueTest, ALevelMayHave16384Codes) {
  constexpr uint32_t kCodes = 16384;
  std::vector<Sid> sids;
  for (uint32_t code = 0; code < kCodes; ++code) {
    if (code % 5 != 0) sids.push_back({code});
    if (code % 1024 == 3) sids.push_back({code, code / 1024});
  }
  sids.push_back({kCodes - 1});
  const std::vector<uint32_t> level_sizes = {kCodes, 16};
  const auto view = view_of(sids, level_sizes);
  const std::set<Sid> distinct(sids.begin(), sids.end());
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const OracleModel logits = random_model(seed, level_sizes, true);
    DecodeOptions options;
    options.widths = {500};
    const auto found = ranked(*view, decode_loop(Reach(view), logits, options, *scratch_));
    // The first level again, by sorting all codes that lead to an item.
    const OracleLogits first = logits({});
    std::vector<OraclePath> level;
    for (const Sid& sid : distinct) {
      if (sid.size() == 1) level.push_back({sid, first.codes[sid[0]] - first.log_sum_exp});
    }
    std::sort(level.begin(), level.end(), [](const OraclePath& a, const OraclePath& b) {
      return a.score != b.score ? a.score > b.score : a.sid < b.sid;
    });
    std::vector<OraclePath> short_ones;
    for (const OraclePath& path : found) {
      if (path.sid.size() == 1) short_ones.push_back(path);
    }
    ASSERT_GT(short_ones.size(), 400u);
    level.resize(short_ones.size());
    expect_same_paths(short_ones, level, true);
  }
}

TEST_F(OddCatalogueTest, PathsMayHave32Codes) {
  const std::vector<uint32_t> level_sizes(catalogue::kMaxDepth, 3);
  ASSERT_EQ(level_sizes.size(), 32u);
  std::mt19937_64 random(3);
  std::vector<Sid> sids;
  for (uint32_t i = 0; i < 60; ++i) {
    Sid sid(i % 4 == 0 ? 31 : 32);
    // They part late, so that the beam is full at every depth.
    for (size_t level = 0; level < sid.size(); ++level) {
      sid[level] = level % 6 == 0 ? static_cast<uint32_t>(random() % 3) : 1;
    }
    sids.push_back(sid);
  }
  const auto view = view_of(sids, level_sizes);
  expect_by_the_rules(view, sids, level_sizes);
}

TEST_F(OddCatalogueTest, ASearchKeepsItsVersionWhenTheLastItemIsPausedInItsMiddle) {
  const std::vector<Sid> sids = {{2, 1}};
  auto view = view_of(sids, {4, 4});
  const OracleModel logits = random_model(1, {4, 4}, true);
  std::shared_ptr<const View> newest = view;
  DecodeOptions options;
  options.widths = {4};
  options.observe = [&](const Beams&, const StepLogits&, const SelectOptions&, const Step&) {
    catalogue::Change pause;
    pause.kind = catalogue::ChangeKind::kPause;
    pause.item_id = "item-0";
    catalogue::ViewEditor editor(*newest);
    editor.apply(pause);
    newest = editor.finish();
  };
  const Reach pinned(view);
  view.reset();
  const auto found = decode_loop(pinned, logits, options, *scratch_);
  EXPECT_EQ(newest->live_item_count(), 0u);
  const Exported exported = export_items(found, pinned, {10, 0}, threads_);
  ASSERT_EQ(exported.item_ordinals.size(), 1u);
  EXPECT_EQ(pinned.view().item_id(exported.item_ordinals[0]), "item-0");
  options.observe = nullptr;
  EXPECT_TRUE(decode_loop(Reach(newest), logits, options, *scratch_).empty());
}

}  // namespace odd_catalogue_test
}  // namespace tessera::beam
