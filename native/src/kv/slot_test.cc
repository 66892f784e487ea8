// Slots, eviction order, identity, records and the load plan: the parts below the pool.
#include "kv/slot.h"

#include <gtest/gtest.h>

#include <thread>

#include "kv/chain.h"
#include "kv/eviction.h"
#include "kv/head_record.h"
#include "kv/identity.h"
#include "kv/load_plan.h"

namespace tessera::kv {
namespace slot_test {

TEST(Slot, IsFreedOnlyWithoutReferencesAndTransfers) {
  SlotTable slots(1);
  const SlotIndex slot = slots.reserve();
  EXPECT_EQ(slots.reserve(), kNoSlot);
  EXPECT_FALSE(slots.pin(slot));  // RESERVED: nothing to read
  slots.move(slot, SlotState::kReserved, SlotState::kFilling);
  slots.io_begin(slot);
  EXPECT_TRUE(slots.pin(slot));
  EXPECT_FALSE(slots.leave(slot, SlotState::kDraining));
  EXPECT_FALSE(slots.pin(slot));  // leaving
  EXPECT_FALSE(slots.unpin(slot));
  EXPECT_FALSE(slots.reclaim(slot));  // cancelled is not finished
  EXPECT_TRUE(slots.io_end(slot));
  EXPECT_EQ(slots.view(slot).generation, 0u);
  EXPECT_TRUE(slots.reclaim(slot));
  EXPECT_FALSE(slots.reclaim(slot));
  EXPECT_EQ(slots.view(slot).generation, 1u);
  EXPECT_EQ(slots.free_count(), 1u);
}

TEST(Slot, PinAndEvictionCannotBothWin) {
  for (int round = 0; round < 200; ++round) {
    SlotTable slots(1);
    const SlotIndex slot = slots.reserve();
    slots.move(slot, SlotState::kReserved, SlotState::kFilling);
    slots.move(slot, SlotState::kFilling, SlotState::kResident);
    bool is_pinned = false;
    std::thread reader([&] { is_pinned = slots.pin(slot); });
    const bool is_freed = slots.leave(slot, SlotState::kEvicting);
    reader.join();
    EXPECT_NE(is_pinned, is_freed);
    EXPECT_EQ(is_pinned && slots.unpin(slot), is_pinned);
  }
}

TEST(Slot, CountsFitTheirFields) {
  SlotTable slots(2);
  const SlotIndex slot = slots.reserve();
  slots.move(slot, SlotState::kReserved, SlotState::kFilling);
  for (int i = 0; i < 70'000; ++i) ASSERT_TRUE(slots.pin(slot));
  for (int i = 0; i < 1000; ++i) slots.io_begin(slot);
  slots.set_unwritten(slot, true);
  const SlotView view = slots.view(slot);
  EXPECT_EQ(view.refs, 70'000u);
  EXPECT_EQ(view.io, 1000u);
  EXPECT_EQ(view.state, SlotState::kFilling);
  EXPECT_TRUE(view.is_unwritten);
}

TEST(Identity, GoldenVectorsPinTheDigests) {
  Identity identity;
  identity.model = "model";
  identity.adapter = "adapter";
  identity.template_text = "template";
  identity.codebook = "codebook";
  identity.layout = "layout";
  identity.dtype = "bf16";
  identity.numeric_class = "fma";
  identity.block_bytes = 65536;
  const Digest version = version_digest(identity);
  const std::vector<Token> tokens = {1, 2, 3, -1};
  const Digest prefix = prefix_digest(version, tokens);
  const Digest root = root_digest(version, "user", prefix);
  EXPECT_EQ(to_text(version), "59f545769ca0af1fad586ac7438132b5");
  EXPECT_EQ(to_text(prefix), "f90c5bf9d85ad2e3b62a6d82b0e1b948");
  EXPECT_EQ(to_text(root), "2d7a00bd91c706139c8651bba9fac6b9");
  EXPECT_EQ(to_text(block_digest(root, tokens)), "a607735462ceead4f7ecd309cdc46831");
}

TEST(Identity, EveryFieldCountsAndNoneRunsIntoAnother) {
  const Identity base = {.model = "ab", .adapter = "c", .block_bytes = 64};
  std::vector<Identity> others(8, base);
  others[0].model = "a";
  others[0].adapter = "bc";
  others[1].adapter = "";
  others[2].template_text = "x";
  others[3].codebook = "x";
  others[4].layout = "x";
  others[5].dtype = "x";
  others[6].numeric_class = "x";
  others[7].block_bytes = 128;
  for (const Identity& other : others) EXPECT_NE(version_digest(base), version_digest(other));
  const Digest root = root_digest(version_digest(base), "u", {});
  EXPECT_NE(root, root_digest(version_digest(base), "v", {}));
  EXPECT_NE(root, root_digest(version_digest(others[2]), "u", {}));
}

HeadRecord some_record() {
  HeadRecord record;
  record.key = {version_digest({.model = "m"}), false, "user"};
  record.seq = 77;
  record.prefix_blocks = 2;
  for (Token token = 0; token < 40; ++token) record.tokens.push_back(token);
  record.blocks = {{5, 32, 123}, {9, 8, 456}};
  return record;
}

TEST(HeadRecord, ReadsBackWhatWasWrittenAndNothingElse) {
  const HeadRecord record = some_record();
  const std::string bytes = encode(record);
  ASSERT_TRUE(decode(bytes).is_ok());
  EXPECT_EQ(decode(bytes).value(), record);
  for (uint64_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(decode(flipped).is_ok()) << "bit " << bit;
  }
  for (uint64_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode(std::string_view(bytes).substr(0, size)).is_ok());
  }
}

TEST(HeadRecord, ABlockOfAnotherChainDoesNotPassItsChecksum) {
  const std::vector<std::byte> bytes(256, std::byte{7});
  EXPECT_NE(block_checksum(bytes, version_digest({.model = "a"})),
            block_checksum(bytes, version_digest({.model = "b"})));
}

TEST(Chain, CommonPrefixIsExact) {
  const std::vector<Token> a = {1, 2, 3};
  const std::vector<Token> b = {1, 2, 4, 5};
  EXPECT_EQ(common_prefix(a, b), 2u);
  EXPECT_EQ(common_prefix(a, std::vector<Token>{1, 2, 3, 9}), 3u);
  EXPECT_EQ(common_prefix(a, {}), 0u);
  EXPECT_EQ(common_prefix(std::vector<Token>{7}, a), 0u);
}

bool accept_all(void*, EvictionNode&) { return true; }

TEST(Eviction, TheOneUsedLongestAgoThatCanGoesFirst) {
  EvictionList order;
  std::vector<EvictionNode> nodes(4);
  for (EvictionNode& node : nodes) order.insert(node);
  order.hit(nodes[0]);
  EXPECT_EQ(order.victim(accept_all, nullptr, 1), &nodes[1]);
  order.remove(nodes[1]);
  EXPECT_EQ(order.victim(accept_all, nullptr, 1), &nodes[2]);
  const auto is_context = [](void* context, EvictionNode& node) { return &node == context; };
  EXPECT_EQ(order.victim(is_context, &nodes[0], 3), &nodes[0]);
  EXPECT_EQ(order.victim(is_context, &nodes[0], 2), nullptr);
}

constexpr TierIndex kNear = 1, kFar = 2;

Rates rates_of(double near, double far, double token_us, double pair_us = 0) {
  Rates rates{.compute_token_us = token_us, .compute_token_pair_us = pair_us};
  rates.bytes_per_us[kNear] = near;
  rates.bytes_per_us[kFar] = far;
  return rates;
}

TEST(LoadPlan, LoadsWhatIsCheaperThanComputingIt) {
  const std::vector<TierIndex> disk(10, kFar);
  LoadQuestion question{
      .device_tokens = 0, .prompt_tokens = 330, .missing = disk, .block_bytes = 1000};
  Rates rates = rates_of(0, 10, 10);
  LoadPlan plan = plan_load(question, rates);  // 100 us a block against 320
  EXPECT_EQ(plan.blocks, 10u);
  EXPECT_DOUBLE_EQ(plan.predicted_us, 1000 + 100);
  rates.bytes_per_us[kFar] = 2;  // 500 us a block
  plan = plan_load(question, rates);
  EXPECT_EQ(plan.blocks, 0u);
  EXPECT_DOUBLE_EQ(plan.predicted_us, 3300);
  question.hidden_us = 2000;  // four of them cost nothing
  plan = plan_load(question, rates);
  EXPECT_EQ(plan.blocks, 4u);
  EXPECT_DOUBLE_EQ(plan.predicted_us, 3300 - 4 * 320);
}

TEST(LoadPlan, LoadsAStateWithAllBlocksOrNothing) {
  const std::vector<TierIndex> blocks(5, kFar), state(20, kFar);
  LoadQuestion question{.device_tokens = 32, .prompt_tokens = 200, .missing = blocks};
  question.state = state;
  question.block_bytes = 1000;
  LoadPlan plan = plan_load(question, rates_of(0, 20, 10));  // 25 blocks of 50 us against 2,000
  EXPECT_TRUE(plan.loads_state);
  EXPECT_EQ(plan.blocks, 5u);
  EXPECT_DOUBLE_EQ(plan.load_us, 1250);
  EXPECT_DOUBLE_EQ(plan.predicted_us, 1250 + 80);
  plan = plan_load(question, rates_of(0, 10, 10));  // 100 us a block
  EXPECT_FALSE(plan.loads_state);
  EXPECT_EQ(plan.blocks, 0u);
  EXPECT_DOUBLE_EQ(plan.predicted_us, 2000);  // of no use alone: the 32 tokens on the device
  question.missing = {};
  EXPECT_FALSE(plan_load(question, rates_of(0, 20, 10)).loads_state);  // 1,000 us, 1,680 left
  question.device_tokens = 192;
  EXPECT_TRUE(plan_load(question, rates_of(0, 20, 10)).loads_state);
}

TEST(LoadPlan, MatchesABruteForceOverAllCuts) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::vector<TierIndex> missing;
    for (uint32_t i = 0; i < seed % 7; ++i) missing.push_back(kNear);
    for (uint32_t i = 0; i < seed % 5; ++i) missing.push_back(kFar);
    LoadQuestion question{.device_tokens = 32 * (seed % 3),
                          .prompt_tokens = 100 + seed * 3,
                          .missing = missing,
                          .block_bytes = 4096,
                          .hidden_us = seed * 17 % 400};
    question.queued_bytes[kFar] = seed * 100;
    const Rates rates = rates_of(100, 5.0 + seed % 60, 1.0 + seed % 9, 0.001);
    double best = 1e300;
    for (uint64_t count = 0; count <= missing.size(); ++count) {
      double load = 0;
      bool any_far = false;
      for (uint64_t i = 0; i < count; ++i) {
        load += 4096 / rates.bytes_per_us[missing[i]];
        any_far = any_far || missing[i] == kFar;
      }
      if (any_far) load += seed * 100 / rates.bytes_per_us[kFar];
      double compute = 0;
      const double context = std::min<double>(
          question.prompt_tokens, question.device_tokens + 32.0 * static_cast<double>(count));
      const double fresh = question.prompt_tokens - context;
      compute = fresh * rates.compute_token_us +
                fresh * (context + fresh / 2) * rates.compute_token_pair_us;
      best =
          std::min(best, std::max(0.0, load - static_cast<double>(question.hidden_us)) + compute);
    }
    EXPECT_NEAR(plan_load(question, rates).predicted_us, best, 1e-6) << "seed " << seed;
  }
}

TEST(LoadPlan, ARateFollowsWhatWasMeasuredLast) {
  RateMeter meter;
  EXPECT_EQ(meter.rate(), 0);
  for (int i = 0; i < 500; ++i) meter.add(100, 10);
  EXPECT_NEAR(meter.rate(), 10, 1e-9);
  for (int i = 0; i < 500; ++i) meter.add(300, 10);
  EXPECT_NEAR(meter.rate(), 30, 0.01);
}

}  // namespace slot_test
}  // namespace tessera::kv
