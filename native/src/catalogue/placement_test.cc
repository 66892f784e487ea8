// Codes of vectors against the trainer's and against loops alone; items that come with a vector
// against a map of how many items each semantic ID has.
#include "catalogue/placement.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "catalogue/live_catalogue.h"

namespace tessera::catalogue {
namespace placement_test {

namespace fs = std::filesystem;

/// Numbers that the trainer draws too (trainer/semantic_ids/fixtures.py): a 64-bit linear
/// congruential generator, its upper bits on a grid of `steps` to each side of 0.
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed) {}
  float next(uint32_t steps) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto whole = static_cast<int64_t>((state_ >> 33) % (2 * steps + 1));
    return static_cast<float>(whole - static_cast<int64_t>(steps)) / static_cast<float>(steps);
  }
  std::vector<float> many(size_t count, uint32_t steps) {
    std::vector<float> numbers(count);
    for (float& number : numbers) number = next(steps);
    return numbers;
  }

 private:
  uint64_t state_;
};

struct Case {
  uint64_t seed;
  uint32_t dimension;
  uint32_t hidden;  // 0: no encoder
  uint32_t steps;
  uint64_t codes_hash;  // FNV-1a of the codes of 10,000 vectors, 4 levels of 32, as trained
};

GivenCodebooks drawn_codebooks(const Case& drawn, Draws& draws) {
  GivenCodebooks given;
  given.dimension = drawn.dimension;
  given.capacity = 1;
  uint32_t width = drawn.dimension;
  if (drawn.hidden > 0) {
    given.encoder.push_back({draws.many(size_t{drawn.hidden} * width, drawn.steps),
                             draws.many(drawn.hidden, drawn.steps)});
    given.encoder.push_back(
        {draws.many(size_t{12} * drawn.hidden, drawn.steps), draws.many(12, drawn.steps)});
    width = 12;
  }
  for (int level = 0; level < 4; ++level) {
    given.levels.push_back({draws.many(size_t{32} * width, drawn.steps)});
  }
  return given;
}

class TrainersCodes : public ::testing::TestWithParam<Case> {};

TEST_P(TrainersCodes, AreTheServicesCodesOfTenThousandVectors) {
  const Case& drawn = GetParam();
  Draws draws(drawn.seed);
  const auto made = Codebooks::make(drawn_codebooks(drawn, draws));
  ASSERT_TRUE(made.is_ok()) << made.status().message();
  uint64_t hash = 14695981039346656037ULL;
  for (int i = 0; i < 10000; ++i) {
    const auto found = made.value()->nearest(draws.many(drawn.dimension, drawn.steps));
    ASSERT_TRUE(found.is_ok());
    for (const uint32_t code : found.value().codes) hash = (hash ^ code) * 1099511628211ULL;
  }
  EXPECT_EQ(hash, drawn.codes_hash);
}

// Printed by `python -m trainer.semantic_ids.fixtures`. Few steps make many ties.
INSTANTIATE_TEST_SUITE_P(Fixtures, TrainersCodes,
                         ::testing::Values(Case{1, 128, 0, 1 << 20, 15330492249681424055ULL},
                                           Case{2, 37, 0, 2, 2760709915093565497ULL},
                                           Case{3, 5, 0, 1, 14159377453324688874ULL},
                                           Case{4, 24, 40, 1 << 20, 11598585443819027673ULL},
                                           Case{5, 24, 40, 1, 14117021301752135527ULL}));

GivenCodebooks small_codebooks(uint32_t capacity) {
  GivenCodebooks given;
  given.dimension = 2;
  given.capacity = capacity;
  given.levels = {{{0, 0, 8, 0, 0, 8}}, {{0, 0, 1, 0, 0, 1}}};
  return given;
}

TEST(Codebooks, RefusesWhatDoesNotFitAndNamesIt) {
  const auto message = [](auto change) {
    GivenCodebooks given = small_codebooks(1);
    change(given);
    return Codebooks::make(given).status().message();
  };
  EXPECT_EQ(message([](auto& g) { g.levels[1].values.pop_back(); }),
            "codebooks.levels[1]: expected rows of 2 numbers, got 5 numbers");
  EXPECT_EQ(message([](auto& g) { g.levels.clear(); }), "codebooks.levels: expected 1..32, got 0");
  EXPECT_EQ(message([](auto& g) { g.capacity = 0; }),
            "codebooks.capacity: expected 1 or more, got 0");
  EXPECT_EQ(message([](auto& g) { g.dimension = 0; }),
            "codebooks.dimension: expected 1..16384, got 0");
  EXPECT_EQ(
      message([](auto& g) { g.levels[0].values[3] = std::numeric_limits<float>::infinity(); }),
      "codebooks.levels[0][3]: expected a number of at most 1e15, got inf");
  EXPECT_EQ(message([](auto& g) {
              g.encoder = {{{1, 0, 0, 1}, {0}}};
            }),
            "codebooks.encoder[0].bias: expected a number per row of weights, at most 16384, got 1 "
            "for 2");
}

/// Items over `small_codebooks`, kept in a folder or nowhere.
class Placement : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("placement-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    CatalogueInput input;
    add(input, "a", {0, 0});
    add(input, "b", {2, 2});
    input.level_sizes = {3, 3};
    ASSERT_TRUE(build_snapshot(input, folder_ / "base", {}).is_ok());
    open();
  }
  void TearDown() override {
    live_.reset();
    fs::remove_all(folder_);
  }

  static void add(CatalogueInput& input, const std::string& id, std::vector<uint32_t> sid) {
    input.item_ids.add(id);
    input.codes.insert(input.codes.end(), sid.begin(), sid.end());
    input.sid_ends.push_back(input.codes.size());
  }
  void open(uint32_t capacity = 1) {
    live_.reset();
    auto snapshot = Snapshot::open(folder_ / "base");
    ASSERT_TRUE(snapshot.is_ok());
    LiveOptions options;
    options.folder = folder_ / "changes";
    auto live = LiveCatalogue::open(snapshot.value(), options);
    ASSERT_TRUE(live.is_ok()) << live.status().message();
    live_ = std::move(live).value();
    const auto made = Codebooks::make(small_codebooks(capacity));
    ASSERT_TRUE(live_->quantise_by(made.value()).is_ok());
  }

  static GivenChange upsert(const std::string& id, std::vector<float> vector) {
    GivenChange change;
    change.item_id = id;
    change.vector = std::move(vector);
    EXPECT_TRUE(complete_change(0, change).is_ok());
    return change;
  }
  static GivenChange of(ChangeKind kind, const std::string& id) {
    GivenChange change;
    change.kind = kind;
    change.item_id = id;
    return change;
  }
  Result<Applied> apply(std::vector<GivenChange> changes) { return live_->apply(changes); }
  std::vector<uint32_t> sid_of(const std::string& id) const {
    const auto view = live_->view();
    std::array<uint32_t, kMaxDepth> codes;
    const uint32_t depth = view->sid(view->node_of(view->find_item(id)), codes);
    return {codes.begin(), codes.begin() + depth};
  }

  fs::path folder_;
  std::unique_ptr<LiveCatalogue> live_;
};

using Sid = std::vector<uint32_t>;

TEST_F(Placement, AFullSidPassesAnItemOnAndAPausedItemKeepsItsPlace) {
  // (0, 0) is nearest to {0.1, 0}, then (0, 1), (0, 2), then those of the next first code.
  const auto applied = apply({upsert("n1", {0.1F, 0}), upsert("n2", {0.1F, 0})});
  ASSERT_TRUE(applied.is_ok()) << applied.status().message();
  EXPECT_EQ(applied.value().placed.codes, (Sid{0, 1, 0, 2}));
  EXPECT_EQ(applied.value().placed.offsets, (Sid{0, 2, 4}));
  ASSERT_TRUE(apply({of(ChangeKind::kPause, "n1")}).is_ok());
  EXPECT_EQ(apply({upsert("n3", {0.1F, 0})}).value().placed.codes, (Sid{1, 0}));
  ASSERT_TRUE(apply({of(ChangeKind::kRemove, "n1")}).is_ok());
  EXPECT_EQ(apply({upsert("n4", {0.1F, 0})}).value().placed.codes, (Sid{0, 1}));
}

TEST_F(Placement, APublishedSidNeverMoves) {
  ASSERT_TRUE(apply({upsert("n", {0.1F, 8})}).is_ok());
  const Sid first = sid_of("n");
  EXPECT_EQ(apply({upsert("n", {8, 0})}).value().placed.codes, first);
  EXPECT_EQ(apply({upsert("a", {8, 0})}).value().placed.codes, (Sid{0, 0}));
  ASSERT_TRUE(apply({of(ChangeKind::kPause, "n")}).is_ok());
  EXPECT_EQ(apply({upsert("n", {8, 0})}).value().placed.codes, first);
  ASSERT_TRUE(live_->compact({}).is_ok());
  open();
  EXPECT_EQ(sid_of("n"), first);
  EXPECT_EQ(apply({upsert("n", {8, 0})}).value().placed.codes, first);
}

TEST_F(Placement, IsWhatTheLogKeeps) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> anywhere(-2, 10);
  std::map<std::string, Sid> expected;
  for (int i = 0; i < 6; ++i) {
    const std::string id = "n" + std::to_string(i);
    ASSERT_TRUE(apply({upsert(id, {anywhere(random), anywhere(random)})}).is_ok());
    expected[id] = sid_of(id);
  }
  open();
  for (const auto& [id, sid] : expected) EXPECT_EQ(sid_of(id), sid) << id;
}

TEST_F(Placement, TakesTheFirstWithRoomAgainstCounting) {
  for (const uint32_t capacity : {1U, 2U}) {
    open(capacity);
    std::mt19937 random(capacity);
    std::uniform_real_distribution<float> anywhere(-2, 10);
    std::map<Sid, uint32_t> taken;
    const auto view = live_->view();
    for (ItemOrdinal item = 0; item < view->item_count(); ++item) {
      ++taken[sid_of(std::string(view->item_id(item)))];
    }
    const auto books = Codebooks::make(small_codebooks(capacity)).value();
    for (uint32_t i = 0; i < 9 * capacity; ++i) {
      const std::vector<float> vector = {anywhere(random), anywhere(random)};
      const auto expected = books->first_with_room(vector, [&](Codebooks::Sid sid) {
        return taken[{sid.begin(), sid.end()}] < capacity;
      });
      const auto applied = apply({upsert(std::to_string(capacity * 100 + i), vector)});
      ASSERT_EQ(applied.is_ok(), expected.is_ok()) << applied.status().message();
      if (!applied.is_ok()) continue;
      EXPECT_EQ(applied.value().placed.codes, expected.value());
      ++taken[expected.value()];
    }
  }
}

TEST_F(Placement, RefusesVectorsThatItCannotPlaceAndAppliesNothing) {
  const auto message = [this](std::vector<float> vector) {
    const auto refused = apply({upsert("good", {1, 1}), upsert("n", std::move(vector))});
    EXPECT_EQ(refused.status().code(), Code::kCatalogueInvalid);
    return refused.status().message();
  };
  EXPECT_EQ(message({1}), "changes[1].vector: expected 2 numbers, as the codebooks have, got 1");
  EXPECT_EQ(message({0, std::numeric_limits<float>::quiet_NaN()}),
            "changes[1].vector[1]: expected a number of at most 1e15, got nan");
  EXPECT_EQ(live_->view()->find_item("good"), kNoItem);
  GivenChange both = upsert("n", {1, 1});
  both.sid = {0, 0};
  EXPECT_EQ(complete_change(3, both).message(),
            "changes[3].vector: expected none beside a sid, and none but of an upsert, got 2 "
            "numbers");
}

TEST_F(Placement, UsesNoCodeThatTheModelCannotWrite) {
  live_->forbid_codes({{}, {1, 2}});
  EXPECT_EQ(apply({upsert("n", {0.1F, 0})}).value().placed.codes, (Sid{1, 0}));
}

TEST_F(Placement, ACatalogueWithoutCodebooksRefusesVectors) {
  const auto snapshot = Snapshot::open(folder_ / "base");
  auto bare = LiveCatalogue::open(snapshot.value(), {});
  const std::vector<GivenChange> changes = {upsert("n", {1, 2})};
  EXPECT_EQ(bare.value()->apply(changes).status().message(),
            "changes[0].vector: expected none, since the catalogue has no codebooks "
            "(catalogue.codebooksPath), got 2 numbers");
}

TEST_F(Placement, ALandingShowsCodesNeighboursAndChangesNothing) {
  ASSERT_TRUE(apply({upsert("n1", {0.1F, 0}), upsert("n2", {8, 0}), upsert("n3", {0, 1})}).is_ok());
  ASSERT_TRUE(apply({of(ChangeKind::kPause, "n2")}).is_ok());
  const uint64_t before = live_->view()->sequence();
  const auto found = live_->landing(std::vector<float>{0.1F, 0}, 10);
  ASSERT_TRUE(found.is_ok()) << found.status().message();
  const auto& [landing, view] = found.value();
  EXPECT_EQ(landing.nearest.codes, (Sid{0, 0}));
  EXPECT_EQ(landing.sid, (Sid{1, 2}));
  std::vector<std::string> ids;
  for (const ItemOrdinal item : landing.neighbours) ids.emplace_back(view->item_id(item));
  EXPECT_EQ(ids, (std::vector<std::string>{"a", "n1", "n3", "b"}));
  EXPECT_EQ(landing.shared_levels, (Sid{2, 1, 1, 0}));
  EXPECT_EQ(live_->landing(std::vector<float>{0.1F, 0}, 2).value().first.neighbours.size(), 2);
  EXPECT_EQ(live_->view()->sequence(), before);
}

}  // namespace placement_test
}  // namespace tessera::catalogue
