// The tree of a search against a naive search over a plain map of items: the same
// beams, the same paths found, the best of what was not chosen, and the items below each.
#include "beam/tree.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "beam/item_model.h"
#include "beam/naive_beam_search.h"
#include "catalogue/view_editor.h"

namespace tessera::beam {
namespace tree_test {

using catalogue::Reach;
using catalogue::View;

constexpr uint64_t kSeeds = 300;

struct Row {
  Sid path;  // codes, then terminal tokens
  float score = 0;
  uint32_t outcome = 0;
  uint32_t items = 0;
};

/// The rows of each step, the way of each followed through its parents.
std::vector<std::vector<Row>> rows_by_step(const Tree& rows) {
  std::vector<std::vector<Row>> steps;
  std::vector<Sid> paths;
  for (size_t r = 0; r < rows.scores.size(); ++r) {
    const TreeRow& row = rows.rows[r];
    Sid path = row.parent == kNoRow ? Sid{} : paths[row.parent];
    path.push_back(row.code);
    EXPECT_EQ(path.size(), row.step + 1);
    paths.push_back(path);
    steps.resize(std::max<size_t>(steps.size(), row.step + 1));
    steps[row.step].push_back({path, rows.scores[r], row.outcome, row.items});
  }
  return steps;
}

/// Items to be had whose SID begins with the codes, or is them where the path has ended.
uint32_t items_of(const ItemModel& model, const ModelFilter& filter, const Sid& path) {
  const Sid codes(path.begin(), std::find(path.begin(), path.end(), kTerminalCode));
  const bool has_ended = codes.size() < path.size();
  uint32_t count = 0;
  for (const auto& [id, item] : model.items()) {
    const bool begins =
        item.sid.size() >= codes.size() && std::equal(codes.begin(), codes.end(), item.sid.begin());
    const bool is_below = has_ended ? item.sid == codes : begins;
    count += !item.is_paused && is_below && filter.lets_pass(model, id, item) ? 1 : 0;
  }
  return count;
}

std::vector<Sid> paths_of(const std::vector<Row>& rows, uint32_t bit) {
  std::vector<Sid> paths;
  for (const Row& row : rows) {
    if ((row.outcome & bit) != 0) paths.push_back(row.path);
  }
  return paths;
}

class TreeTest : public testing::Test {
 protected:
  ~TreeTest() override { std::filesystem::remove(path_); }

  std::string path_ = std::filesystem::temp_directory_path() /
                      ("tessera-tree-" + std::to_string(::getpid()) + ".tsra");
  std::unique_ptr<Scratch, ScratchDeleter> scratch_ = make_scratch();
};

void expect_step(const std::vector<Row>& seen, const NaiveStep& naive, const ItemModel& model,
                 const ModelFilter& filter) {
  std::vector<Sid> running;
  for (const Hypothesis& beam : naive.running) running.push_back(beam.path);
  ASSERT_EQ(paths_of(seen, kGoesOn), running);
  std::vector<Sid> rejected;
  std::vector<Sid> chosen = paths_of(seen, kGoesOn | kEndsHere);
  std::sort(chosen.begin(), chosen.end());
  for (const Hypothesis& candidate : naive.candidates) {
    const bool is_chosen = std::binary_search(chosen.begin(), chosen.end(), candidate.path);
    if (!is_chosen && rejected.size() < kRejectedMax) rejected.push_back(candidate.path);
  }
  std::vector<Sid> told_rejected;
  for (const Row& row : seen) {
    if (row.outcome == 0) told_rejected.push_back(row.path);
    ASSERT_EQ(row.items, items_of(model, filter, row.path));
    const auto same = std::find_if(naive.candidates.begin(), naive.candidates.end(),
                                   [&](const auto& other) { return other.path == row.path; });
    ASSERT_NE(same, naive.candidates.end());
    ASSERT_EQ(row.score, static_cast<float>(same->score));
  }
  ASSERT_EQ(told_rejected, rejected);
}

TEST_F(TreeTest, TellsWhatEachStepKeptAndFirstRejectedAndTheItemsBelow) {
  uint64_t rows = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const RandomCase test =
        random_case(random, path_, [](uint64_t i) { return ItemModel::test_attributes(i).json(); });
    ItemModel model(test);
    const OracleModel logits = random_model(random(), test.level_sizes, true);
    std::shared_ptr<const View> view = View::of(test.snapshot);
    if (seed % 2 == 0) {
      catalogue::ViewEditor editor(*view);
      for (const catalogue::Change& change : random_batch(model, random, 12)) {
        editor.apply(change);
        model.apply(change);
      }
      view = editor.finish();
    }
    const ModelFilter filter = random_filter(model, random);
    ASSERT_TRUE(check_eligibility(*view, filter.request).is_ok());
    DecodeOptions search;
    search.widths = {static_cast<uint32_t>(1 + random() % 4)};
    search.terminal_count = static_cast<uint32_t>(random() % 3);
    const Reach reach(view, compile_eligibility(*view, filter.request));
    const std::vector<Finished> found = decode_loop(reach, logits, search, *scratch_);
    LazyOptions lazy;
    lazy.widths.assign(view->depth() + search.terminal_count, search.widths[0]);
    lazy.terminal_count = search.terminal_count;
    lazy.answer.result_count = 1;
    lazy.shown = kRejectedMax;
    lazy.is_eager = true;
    const LazySearch whole = lazy_loop(reach, logits, lazy, 1024, nullptr, *scratch_);
    const auto seen = rows_by_step(tree_of(whole, reach));
    NaiveBeamSearch naive(model.sids_to_be_had(filter), logits, search);
    naive.run();
    size_t ended = 0;
    for (size_t step = 0; step < seen.size(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      ASSERT_LT(step, naive.steps().size());
      expect_step(seen[step], naive.steps()[step], model, filter);
      if (HasFatalFailure()) return;
      ended += paths_of(seen[step], kEndsHere).size();
      rows += seen[step].size();
    }
    ASSERT_EQ(ended, found.size());
  }
  EXPECT_GT(rows, kSeeds);
}

}  // namespace tree_test
}  // namespace tessera::beam
