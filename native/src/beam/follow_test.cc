// Followed paths against the same paths found by a beam search of full width, also of one that may
// get a part of the items alone: equal bits.
#include "beam/follow.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <map>
#include <random>

#include "beam/decode_loop.h"
#include "beam/item_model.h"
#include "beam/random_case.h"

namespace tessera::beam {
namespace follow_test {

constexpr uint64_t kCatalogues = 200;

/// Some SIDs of the catalogue, some that lead nowhere, some twice.
std::vector<Sid> asked_sids(const RandomCase& random_case, std::mt19937_64& random) {
  std::vector<Sid> asked;
  for (uint64_t i = 0, n = random() % 12; i < n; ++i) {
    asked.push_back(random_case.sids[random() % random_case.sids.size()]);
    if (random() % 4 == 0) asked.back().back() = static_cast<uint32_t>(random() % 100);
    if (random() % 4 == 0) asked.back().pop_back();
    if (random() % 8 == 0) asked.back().resize(asked.back().size() + 9, 0);
    if (random() % 4 == 0) asked.push_back(asked.back());
  }
  return asked;
}

Route route_to(const std::vector<Sid>& sids, const catalogue::Reach& reach) {
  std::vector<uint32_t> codes, offsets{0};
  for (const Sid& sid : sids) {
    codes.insert(codes.end(), sid.begin(), sid.end());
    offsets.push_back(static_cast<uint32_t>(codes.size()));
  }
  Route route;
  find_route(reach, codes, offsets, route);
  return route;
}

TEST(Follow, GivesPathsTheBitsOfABeamSearchAndEachNodeOneRow) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("tessera-follow-" + std::to_string(::getpid()));
  uint64_t compared = 0;
  for (uint64_t seed = 1; seed <= kCatalogues; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const RandomCase given = random_case(random, path);
    const catalogue::Reach reach(catalogue::View::of(given.snapshot));
    const auto scratch = make_scratch();
    const OracleModel model = random_model(seed, given.level_sizes, false);
    const std::vector<Sid> asked = asked_sids(given, random);
    const Route route = route_to(asked, reach);
    for (const ScoreNorm norm : {ScoreNorm::kFull, ScoreNorm::kLevel, ScoreNorm::kAllowed}) {
      for (const uint32_t terminals : {0u, 1u, 2u}) {
        DecodeOptions options{{100000}, terminals, norm};
        std::map<catalogue::NodeIndex, float> searched;
        for (const Finished& found : decode_loop(reach, model, options, *scratch))
          searched[found.node] = found.score;
        options.route = &route;
        const auto followed = decode_loop(reach, model, options, *scratch);
        EXPECT_EQ(followed.size(), route.ends.size());
        for (const Finished& found : followed) {
          ASSERT_TRUE(searched.contains(found.node));
          EXPECT_EQ(std::bit_cast<uint32_t>(found.score),
                    std::bit_cast<uint32_t>(searched[found.node]));
          ++compared;
        }
      }
    }
    for (const Sid& sid : asked) {
      const bool is_known =
          std::find(given.sids.begin(), given.sids.end(), sid) != given.sids.end();
      const catalogue::NodeIndex node = find_path(reach, sid);
      EXPECT_EQ(node != catalogue::kNoNode, is_known);
      const bool ends = std::binary_search(route.ends.begin(), route.ends.end(), node);
      EXPECT_EQ(ends, is_known);
    }
  }
  std::filesystem::remove(path);
  EXPECT_GT(compared, 1000u);
}

TEST(Follow, GivesPathsTheBitsOfASearchThatMayGetAPartOfTheItems) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("tessera-follow-" + std::to_string(::getpid()));
  uint64_t compared = 0;
  for (uint64_t seed = 1; seed <= kCatalogues; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const RandomCase given =
        random_case(random, path, [](uint64_t i) { return ItemModel::test_attributes(i).json(); });
    const auto view = catalogue::View::of(given.snapshot);
    const ModelFilter filter = random_filter(ItemModel(given), random);
    const catalogue::Reach part(view, compile_eligibility(*view, filter.request));
    const auto scratch = make_scratch();
    const OracleModel model = random_model(seed, given.level_sizes, false);
    const Route route = route_to(given.sids, catalogue::Reach(view));
    for (const ScoreNorm norm : {ScoreNorm::kFull, ScoreNorm::kLevel}) {
      for (const uint32_t terminals : {0u, 1u, 2u}) {
        DecodeOptions options{{100000}, terminals, norm};
        const auto searched = decode_loop(part, model, options, *scratch);
        options.route = &route;
        std::map<catalogue::NodeIndex, float> followed;
        for (const Finished& found : decode_loop(catalogue::Reach(view), model, options, *scratch))
          followed[found.node] = found.score;
        for (const Finished& found : searched) {
          ASSERT_EQ(std::bit_cast<uint32_t>(found.score),
                    std::bit_cast<uint32_t>(followed.at(found.node)));
          ++compared;
        }
      }
    }
  }
  std::filesystem::remove(path);
  EXPECT_GT(compared, 1000u);
}

}  // namespace follow_test
}  // namespace tessera::beam
