// Versions of a changing catalogue on a card: searches over each are those of the CPU, bit for bit,
// whatever order they are pinned in, and a version costs what it touches.
#include "cuda/engine/card_catalogue.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "beam/item_model.h"
#include "catalogue/eligibility.h"
#include "catalogue/live_catalogue.h"
#include "catalogue/view_editor.h"
#include "cuda/kernels/test_search.h"

namespace tessera::engine::cuda {
namespace card_catalogue_test {

using beam::ItemModel;
using beam::RandomCase;
using beam::ScoreNorm;
using beam::cuda::TestSearch;
using catalogue::View;

std::string case_path() {
  const auto folder = std::filesystem::temp_directory_path();
  return folder / ("tessera-card-catalogue-" + std::to_string(::getpid()));
}

/// A batch of changes, added, moved, paused, resumed and removed items among them.
std::shared_ptr<const View> changed(const View& view, ItemModel& model, std::mt19937_64& random) {
  catalogue::ViewEditor editor(view);
  for (const catalogue::Change& change : beam::random_batch(model, random, 12)) {
    editor.apply(change);
    model.apply(change);
  }
  return editor.finish();
}

std::unique_ptr<CardCatalogue> open_catalogue(const std::vector<uint32_t>& level_sizes,
                                              device::cuda::Queue& queue) {
  std::vector<std::vector<int32_t>> tokens;
  for (const uint32_t size : level_sizes) tokens.emplace_back(size, 1);
  auto opened = CardCatalogue::open(tokens, {}, queue);
  EXPECT_TRUE(opened.is_ok());
  return std::move(opened).value();
}

class CardCatalogueTest : public testing::Test {
 protected:
  ~CardCatalogueTest() override { std::filesystem::remove(case_path()); }

  /// Of each version one search, all in one batch.
  void expect_equal_searches(const RandomCase& test,
                             const std::vector<std::shared_ptr<const View>>& views,
                             const std::vector<std::shared_ptr<const CardVersion>>& versions,
                             const ItemModel& model, device::cuda::Queue& queue,
                             std::mt19937_64& random) {
    const auto levels = static_cast<uint32_t>(test.level_sizes.size());
    const auto terminal_count = static_cast<uint32_t>(random() % 3);
    std::vector<std::unique_ptr<TestSearch>> requests;
    for (size_t i = 0; i < views.size(); ++i) {
      std::shared_ptr<const catalogue::Eligibility> eligibility;
      const beam::ModelFilter filter = beam::random_filter(model, random);
      if (random() % 2 == 0 && check_eligibility(*views[i], filter.request).is_ok()) {
        eligibility = compile_eligibility(*views[i], filter.request);
      }
      requests.push_back(std::make_unique<TestSearch>(
          catalogue::Reach(views[i], eligibility), versions[i]->trie(), terminal_count,
          static_cast<ScoreNorm>(random() % 3), levels + terminal_count));
    }
    for (uint32_t step = 0; step < levels + terminal_count; ++step) {
      device::cuda::Shared<beam::cuda::Search> searches;
      for (const auto& request : requests) {
        const uint32_t width = 1 + static_cast<uint32_t>(random() % (random() % 2 == 0 ? 4 : 50));
        searches.push_back(
            request->next(step < levels ? test.level_sizes[step] : 0, width, random));
      }
      beam::cuda::step_on_card(queue, searches, 1 + static_cast<uint32_t>(random() % 2));
      for (const auto& request : requests) request->expect_equal_step(*scratch_);
      if (HasFatalFailure()) return;
    }
  }

  std::unique_ptr<beam::Scratch, beam::ScratchDeleter> scratch_ = beam::make_scratch();
};

TEST_F(CardCatalogueTest, EveryVersionIsSearchedAsOnTheCpuInWhateverOrderTheyArePinned) {
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const RandomCase test = beam::random_case(
        random, case_path(), [](uint64_t i) { return ItemModel::test_attributes(i).json(); });
    const auto queue = beam::cuda::open_search_queue(random());
    const auto catalogue = open_catalogue(test.level_sizes, *queue);
    ItemModel model(test);
    std::vector<std::shared_ptr<const View>> views = {View::of(test.snapshot)};
    for (int i = 0; i < 4; ++i) views.push_back(changed(*views.back(), model, random));
    std::vector<size_t> order = {0, 1, 2, 3, 4};
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::shared_ptr<const CardVersion>> versions(views.size());
    for (const size_t i : order) {
      auto pinned = catalogue->pin(views[i]);
      ASSERT_TRUE(pinned.is_ok());
      versions[i] = pinned.value();
    }
    expect_equal_searches(test, views, versions, model, *queue, random);
    if (HasFatalFailure()) return;
    // Versions that are dropped take nothing from those that stay.
    std::shuffle(order.begin(), order.end(), random);
    views = {views[order[0]], views[order[1]]};
    versions = {versions[order[0]], versions[order[1]]};
    expect_equal_searches(test, views, versions, model, *queue, random);
    if (HasFatalFailure()) return;
  }
}

/// Emulated memory that gives out after so many allocations and copies.
class FailingQueue final : public device::cuda::EmulatedQueue {
 public:
  uint64_t left = ~uint64_t{0};

  Result<void*> allocate(uint64_t bytes) override {
    return goes_on() ? EmulatedQueue::allocate(bytes) : Result<void*>(refusal());
  }
  Status copy_in(void* to, const void* from, uint64_t bytes) override {
    return goes_on() ? EmulatedQueue::copy_in(to, from, bytes) : refusal();
  }

 private:
  bool goes_on() { return left > 0 && left-- > 0; }
  static Status refusal() { return {Code::kEngineOverloaded, "no memory"}; }
};

/// Versions of one case, each with a batch of changes more than the one before.
std::vector<std::shared_ptr<const View>> random_versions(const RandomCase& test, int count,
                                                         std::mt19937_64& random) {
  ItemModel model(test);
  std::vector<std::shared_ptr<const View>> views = {View::of(test.snapshot)};
  while (views.size() < static_cast<size_t>(count)) {
    views.push_back(changed(*views.back(), model, random));
  }
  return views;
}

TEST_F(CardCatalogueTest, AVersionCopiesWhatItTouchesAndIsFreedWithTheLastThatHoldsIt) {
  std::mt19937_64 random(5);
  const RandomCase test = beam::random_case(random, case_path());
  const auto views = random_versions(test, 200, random);
  FailingQueue queue;
  const auto catalogue = open_catalogue(test.level_sizes, queue);
  std::vector<std::shared_ptr<const CardVersion>> versions;
  for (const auto& view : views) versions.push_back(catalogue->pin(view).value());
  EXPECT_EQ(catalogue->pin(views.back()).value(), versions.back());

  catalogue::ViewEditor editor(*views.back());
  catalogue::Change change;
  change.item_id = "one-more";
  change.sid = test.sids[0];
  editor.apply(change);
  const CardChanges& changes = versions.back()->changes();
  const uint64_t before = changes.copied_bytes();
  versions.push_back(catalogue->pin(editor.finish()).value());
  EXPECT_LT(changes.copied_bytes() - before, before / 50);

  // With all but the newest gone, the card has what it would have if there had been no other.
  const std::shared_ptr<const CardVersion> newest = versions.back();
  versions.clear();
  FailingQueue fresh_queue;
  const auto fresh = open_catalogue(test.level_sizes, fresh_queue);
  const auto view = std::make_shared<const View>(newest->view());
  const auto alone = fresh->pin(view).value();
  EXPECT_EQ(changes.heap().bytes_in_use(), alone->changes().heap().bytes_in_use());
  EXPECT_EQ(changes.part_count(), alone->changes().part_count());
}

TEST_F(CardCatalogueTest, AVersionThatDoesNotFitIsRefusedAndLeavesNothing) {
  std::mt19937_64 random(6);
  const RandomCase test = beam::random_case(random, case_path());
  const auto views = random_versions(test, 3, random);
  FailingQueue queue;
  const auto catalogue = open_catalogue(test.level_sizes, queue);
  const auto first = catalogue->pin(views[0]).value();
  const uint64_t bytes = first->changes().heap().bytes_in_use();
  uint64_t refusals = 0;
  for (;; ++refusals) {
    queue.left = refusals;
    const auto pinned = catalogue->pin(views[2]);
    if (pinned.is_ok()) break;
    EXPECT_EQ(pinned.status().code(), Code::kEngineOverloaded);
    EXPECT_EQ(first->changes().heap().bytes_in_use(), bytes);
    EXPECT_EQ(first->changes().part_count(), 0u);
  }
  EXPECT_GT(refusals, 5u);
  queue.left = 0;
  EXPECT_FALSE(CardCatalogue::open({}, {}, queue).is_ok());
}

TEST_F(CardCatalogueTest, ASnapshotMadeAnewIsSearchedBesideTheOldOne) {
  std::mt19937_64 random(8);
  const RandomCase test = beam::random_case(random, case_path());
  const auto views = random_versions(test, 3, random);
  const auto queue = beam::cuda::open_search_queue(1);
  const auto catalogue = open_catalogue(test.level_sizes, *queue);
  ASSERT_TRUE(catalogue::build_snapshot(catalogue::input_of(*views[2]), case_path(), {}).is_ok());
  const auto renewed = catalogue::Snapshot::open(case_path());
  ASSERT_TRUE(renewed.is_ok());
  const std::vector<std::shared_ptr<const View>> both = {
      views[2], View::of(renewed.value(), test.level_sizes, views[2]->sequence())};
  const std::vector<std::shared_ptr<const CardVersion>> versions = {
      catalogue->pin(both[0]).value(), catalogue->pin(both[1]).value()};
  EXPECT_NE(&versions[0]->changes(), &versions[1]->changes());
  expect_equal_searches(test, both, versions, ItemModel(test), *queue, random);
}

}  // namespace card_catalogue_test
}  // namespace tessera::engine::cuda
