// Items in their flight against the plain rule: over changes, seconds that pass, requests that
// overtake each other, clocks that are set back, compactions and restarts.
#include "catalogue/flight.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "catalogue/eligibility.h"
#include "catalogue/live_catalogue.h"

namespace tessera::catalogue {
namespace flight_test {

namespace fs = std::filesystem;

constexpr uint32_t kSeedItems = 120;
constexpr uint32_t kLevelSize = 16;
constexpr uint32_t kStart = 1'700'000'000;  // seconds since 1970
const FlightAttributes kNames = {"begin", "end"};

std::string random_attributes(std::mt19937_64& random, uint32_t now) {
  const auto moment = [&] {
    const int64_t around = static_cast<int64_t>(random() % 40'000) - 20'000;  // ms
    return std::to_string(int64_t{now} * 1000 +
                          (random() % 2 == 0 ? around : around / 1000 * 1000));
  };
  std::string json = R"({"country":)" + std::string(random() % 2 == 0 ? "\"de\"" : "\"fr\"");
  if (random() % 3 != 0) json += ",\"begin\":" + moment();
  if (random() % 3 != 0) json += ",\"end\":" + moment();
  return json + "}";
}

/// The rule, restated: in the whole of the second it is live, let pass and in its flight.
bool may_be_had(const View& view, ItemOrdinal item, bool is_german, uint32_t second) {
  if (view.state(item) != ItemState::kLive) return false;
  double begin_ms = -1e300;
  double end_ms = 1e300;
  bool passes = !is_german;
  for (const AttributeValue& value : read_attributes(view.attributes(item))) {
    if (value.name == "begin") begin_ms = value.number;
    if (value.name == "end") end_ms = value.number;
    if (value.name == "country") passes = passes || value.texts[0] == "de";
  }
  const double from_ms = second * 1000.0;
  return passes && begin_ms <= from_ms && from_ms + 1000 <= end_ms;
}

class FlightTest : public testing::Test {
 protected:
  FlightTest() {
    const fs::path root =
        fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
    folder_ = root / ("tessera-flight-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::mt19937_64 random(3);
    CatalogueInput input;
    input.level_sizes = {kLevelSize, kLevelSize};
    for (uint32_t i = 0; i < kSeedItems; ++i) {
      input.codes.insert(input.codes.end(), {i % kLevelSize, i * 7 % kLevelSize});
      input.sid_ends.push_back(input.codes.size());
      input.item_ids.add("seed-" + std::to_string(i));
      input.attributes.add(random_attributes(random, kStart));
    }
    const std::string path = folder_ / "seed";
    EXPECT_TRUE(build_snapshot(input, path, {}).is_ok());
    seed_ = Snapshot::open(path).value();
  }
  ~FlightTest() override { fs::remove_all(folder_); }

  std::unique_ptr<LiveCatalogue> open(const std::string& name) const {
    auto live = LiveCatalogue::open(seed_, {folder_ / name, SyncPolicy::kNever, {}});
    EXPECT_TRUE(live.is_ok()) << live.status().message();
    return live.is_ok() ? std::move(live).value() : nullptr;
  }

  static EligibilityRequest request(bool is_german, uint32_t second) {
    EligibilityRequest request;
    request.flight = Flight{kNames, second};
    if (!is_german) return request;
    Clause german;
    german.kind = ClauseKind::kIn;
    german.attribute = "country";
    german.values = {"de"};
    request.predicate = german;
    return request;
  }

  static void expect_exact(const View& view, bool is_german, uint32_t second) {
    const auto bits = compile_eligibility(view, request(is_german, second));
    ASSERT_NE(bits, nullptr);
    std::vector<bool> nodes(view.node_count());
    for (ItemOrdinal item = 0; item < view.item_count(); ++item) {
      const bool expected = may_be_had(view, item, is_german, second);
      ASSERT_EQ(test_bit(bits->items.data(), item), expected) << view.item_id(item);
      if (!expected) continue;
      for (NodeIndex node = view.node_of(item);; node = view.parent(node)) {
        nodes[node] = true;
        if (node == kRoot) break;
      }
    }
    for (NodeIndex node = 0; node < view.node_count(); ++node) {
      ASSERT_EQ(test_bit(bits->nodes.data(), node), nodes[node]) << node;
    }
  }

  static Change draw(std::mt19937_64& random, uint32_t now) {
    Change change;
    change.item_id = random() % 2 == 0 ? "seed-" + std::to_string(random() % kSeedItems)
                                       : "new-" + std::to_string(random() % 40);
    change.kind = random() % 3 == 0 ? ChangeKind::kPause : ChangeKind::kUpsert;
    if (change.kind == ChangeKind::kPause) return change;
    change.sid = {static_cast<uint32_t>(random() % kLevelSize), 1};
    change.attributes = random_attributes(random, now);
    return change;
  }

  fs::path folder_;
  std::shared_ptr<const Snapshot> seed_;
};

TEST(FlightSecondsTest, AreTheWholeSecondsOfTheFlight) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto has = [](double begin, double end, uint32_t second) {
    return flight_seconds(begin, end).has(second);
  };
  EXPECT_TRUE(has(5000, 7000, 5) && has(5000, 7000, 6));
  EXPECT_FALSE(has(5000, 7000, 4) || has(5000, 7000, 7));
  EXPECT_FALSE(has(5001, 6999, 5) || has(5001, 6999, 6));
  EXPECT_TRUE(has(nan, 7000, 0) && has(5000, nan, UINT32_MAX - 1) && has(nan, nan, 7));
  EXPECT_FALSE(has(7000, 5000, 6));
  EXPECT_TRUE(has(-1e300, 1e300, 0));
}

TEST_F(FlightTest, BitsAreThoseOfTheRuleInEverySecondAndVersion) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const std::string name = "changes-" + std::to_string(seed);
    auto live = open(name);
    std::vector<std::shared_ptr<const View>> pinned = {live->view()};
    uint32_t now = kStart;
    for (uint32_t step = 0; step < 120; ++step) {
      now += static_cast<uint32_t>(random() % 4 == 0 ? random() % 30 : random() % 2);
      if (random() % 40 == 0) now -= 100;  // a clock that was set
      for (uint64_t i = random() % 4; i-- > 0;) {
        const Change change = draw(random, now);
        (void)live->apply(given({&change, 1}));  // an item may be gone
      }
      if (random() % 30 == 0) {
        ASSERT_TRUE(live->compact({}).is_ok());
        pinned.clear();
      } else if (random() % 30 == 0) {
        pinned.clear();
        live.reset();
        live = open(name);
      }
      pinned.push_back(live->view());
      const auto held = compile_eligibility(*pinned.back(), request(true, now));  // is not written
      const auto copy = *held;
      expect_exact(*pinned[random() % pinned.size()], random() % 2 == 0, now);
      expect_exact(*pinned.back(), true, now);
      EXPECT_EQ(held->items, copy.items);
    }
  }
}

TEST_F(FlightTest, ARequestThatWasOvertakenCountsAsTheOneThatOvertookIt) {
  const auto live = open("changes");
  const View& view = *live->view();
  (void)compile_eligibility(view, request(false, kStart + 1));
  const auto late = compile_eligibility(view, request(false, kStart));
  for (ItemOrdinal item = 0; item < view.item_count(); ++item) {
    EXPECT_EQ(test_bit(late->items.data(), item), may_be_had(view, item, false, kStart + 1));
  }
}

TEST_F(FlightTest, ACatalogueWithoutFlightsIsNotRestricted) {
  const auto live = open("changes");
  EligibilityRequest other;
  other.flight = Flight{{"from", "until"}, kStart};
  EXPECT_EQ(compile_eligibility(*live->view(), other), nullptr);
}

}  // namespace flight_test
}  // namespace tessera::catalogue
