#include "scheduler/prefix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace tessera::scheduler {
namespace prefix_test {

using Tokens = std::vector<int32_t>;

std::span<const int32_t> inner(const Tokens& tokens) {
  return std::span(tokens).first(tokens.size() - 1);
}

Link leader_of(const std::vector<Tokens>& running, const Tokens& prompt) {
  const std::vector<std::span<const int32_t>> spans(running.begin(), running.end());
  return find_leader(spans, prompt);
}

TEST(Prefix, TheLeaderIsTheOldestOfThoseThatShareMost) {
  const std::vector<Tokens> running{{1, 2, 9}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 6}};
  const Link link = leader_of(running, {1, 2, 3, 4, 7});
  EXPECT_EQ(link.leader, 1u);
  EXPECT_EQ(link.shared, 4u);
  EXPECT_EQ(leader_of(running, {5, 2}).leader, kNoLeader);
  EXPECT_EQ(leader_of({}, {5, 2}).leader, kNoLeader);
}

TEST(Prefix, TheLastTokenOfNeitherIsShared) {
  EXPECT_EQ(leader_of({{1, 2, 3}}, {1, 2, 3}).shared, 2u);
  EXPECT_EQ(leader_of({{1, 2, 3}}, {1, 2, 3, 4}).shared, 2u);
  EXPECT_EQ(leader_of({{1, 2, 3, 4}}, {1, 2, 3}).shared, 2u);
  EXPECT_EQ(leader_of({{1}}, {1}).leader, kNoLeader);
}

TEST(Prefix, WhoLeavesIsReplacedByTheFollowerThatSharesMost) {
  // 0 <- 1 (8), 1 <- 2 (3), 1 <- 3 (6), 3 <- 4 (5)
  std::vector<Link> links{{}, {0, 8}, {1, 3}, {1, 6}, {3, 5}};
  unlink(links, 1);
  ASSERT_EQ(links.size(), 4u);
  EXPECT_EQ(links[0].leader, kNoLeader);
  EXPECT_EQ(links[1].leader, 2u);  // was 2, now follows what was 3
  EXPECT_EQ(links[1].shared, 3u);
  EXPECT_EQ(links[2].leader, 0u);
  EXPECT_EQ(links[2].shared, 6u);
  EXPECT_EQ(links[3].leader, 2u);
  unlink(links, 0);
  EXPECT_EQ(links[1].leader, kNoLeader);
  EXPECT_EQ(links[1].shared, 0u);
}

TEST(Prefix, LinksTellWhatAnyTwoShareWhoeverCameAndWent) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<Tokens> prompts;
    std::vector<Link> links;
    for (int event = 0; event < 40; ++event) {
      if (!prompts.empty() && random() % 3 == 0) {
        const auto gone = static_cast<uint32_t>(random() % prompts.size());
        prompts.erase(prompts.begin() + gone);
        unlink(links, gone);
      } else {
        Tokens tokens(1 + random() % 30);
        for (int32_t& token : tokens) token = random() % 12 == 0 ? 1 : 0;
        links.push_back(leader_of(prompts, tokens));
        prompts.push_back(std::move(tokens));
      }
      std::vector<uint32_t> shared(prompts.size());
      for (uint32_t i = 0; i < prompts.size(); ++i) {
        shared_with(links, i, shared);
        for (uint32_t j = 0; j < prompts.size(); ++j) {
          if (i == j) continue;
          EXPECT_EQ(shared[j], common_prefix(inner(prompts[i]), inner(prompts[j])));
        }
      }
    }
  }
}

using enum SliceOutcome;
using Outcomes = std::vector<SliceOutcome>;

struct Outcome {
  std::vector<uint32_t> lengths;
  std::vector<SliceOutcome> outcomes;
};

Outcome committed(const std::vector<Link>& links, const std::vector<PromptSlice>& shares,
                  const std::vector<uint8_t>& finite, std::vector<uint32_t> lengths) {
  Outcome outcome{std::move(lengths), std::vector<SliceOutcome>(shares.size())};
  std::vector<uint32_t> scratch;
  commit(links, shares, finite, outcome.lengths, outcome.outcomes, scratch);
  return outcome;
}

TEST(Prefix, ComputedRowsRaiseAllThatShareThem) {
  const Outcome outcome =
      committed({{}, {0, 10}, {1, 6}}, {{0, 0, 12}, {1, 10, 4}, {2, 6, 2}}, {1, 1, 1}, {0, 0, 0});
  EXPECT_EQ(outcome.lengths, (std::vector<uint32_t>{12, 14, 8}));
  EXPECT_EQ(outcome.outcomes, (Outcomes{kCommitted, kCommitted, kCommitted}));
}

TEST(Prefix, AFailureTakesBackWhatWasBuiltOnItAtAnyDistance) {
  const Outcome outcome =
      committed({{}, {0, 10}, {1, 12}, {}}, {{0, 4, 6}, {1, 10, 4}, {2, 12, 2}, {3, 0, 5}},
                {0, 1, 0, 1}, {4, 4, 4, 0});
  EXPECT_EQ(outcome.lengths, (std::vector<uint32_t>{4, 4, 4, 5}));
  EXPECT_EQ(outcome.outcomes, (Outcomes{kFailed, kTakenBack, kTakenBack, kCommitted}));
}

TEST(Prefix, AFailureBeyondWhatIsSharedHurtsNobodyElse) {
  const Outcome outcome =
      committed({{}, {0, 10}}, {{0, 0, 10}, {0, 10, 2}, {1, 10, 4}}, {1, 0, 1}, {0, 0});
  EXPECT_EQ(outcome.lengths, (std::vector<uint32_t>{10, 14}));
  EXPECT_EQ(outcome.outcomes, (Outcomes{kCommitted, kFailed, kCommitted}));
}

}  // namespace prefix_test
}  // namespace tessera::scheduler
