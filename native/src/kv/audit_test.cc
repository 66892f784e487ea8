// The scan of the pool's books in steps: what it calls a fault, what it only suspects, and what it
// leaves alone because it changed between two steps.
#include "kv/audit.h"

#include <gtest/gtest.h>

#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

constexpr uint32_t kSlots = 8;

class AuditSteps : public ::testing::Test {
 protected:
  AuditSteps() {
    for (TierState& tier : pool_.tiers) tier.slots = std::make_unique<SlotTable>(kSlots);
  }

  SlotTable& device() { return *pool_.tier(Tier::kDevice).slots; }

  SlotIndex make_resident() {
    const SlotIndex slot = device().reserve();
    device().move(slot, SlotState::kReserved, SlotState::kResident);
    return slot;
  }

  void judge(Audit& scan) {
    scan.add_graves();
    scan.judge_leases();
    for (const Tier which : kTiers) {
      scan.judge_slots(which, 0, kSlots / 2);
      scan.judge_slots(which, kSlots / 2, kSlots);
    }
    scan.judge_free_counts();
  }

  PoolState pool_;
};

TEST_F(AuditSteps, FindNothingInAnEmptyPool) {
  Audit scan(pool_);
  judge(scan);
  EXPECT_TRUE(scan.faults().empty());
  EXPECT_TRUE(scan.suspicions().empty());
}

TEST_F(AuditSteps, SuspectABlockThatNobodyOwnsAndTheWholeScanConfirmsIt) {
  make_resident();
  Audit scan(pool_);
  judge(scan);
  EXPECT_TRUE(scan.faults().empty());
  const std::vector<std::string> expected{"I13: device slot 0 is RESIDENT and nobody's"};
  EXPECT_EQ(scan.suspicions(), expected);
  EXPECT_EQ(audit(pool_), expected);
}

TEST_F(AuditSteps, DoNotJudgeOwnersOfASlotThatChangedMeanwhile) {
  Audit taken_since(pool_);
  const SlotIndex slot = make_resident();
  judge(taken_since);
  EXPECT_TRUE(taken_since.suspicions().empty());

  Audit taken_again_since(pool_);
  device().leave(slot, SlotState::kEvicting);
  device().reclaim(slot);
  ASSERT_EQ(make_resident(), slot);
  judge(taken_again_since);
  EXPECT_TRUE(taken_again_since.suspicions().empty());
}

TEST_F(AuditSteps, CallCountsThatNoLeaseHoldsAFault) {
  const SlotIndex slot = make_resident();
  ASSERT_TRUE(device().pin(slot));
  Audit scan(pool_);
  judge(scan);
  EXPECT_EQ(scan.faults(),
            std::vector<std::string>{"I2: device slot 0 has 1 references, leases hold 0"});
}

TEST_F(AuditSteps, CountReferencesOfLeasesInEachRangeOfSlots) {
  for (uint32_t i = 0; i < kSlots; ++i) ASSERT_TRUE(device().pin(make_resident()));
  auto lease = std::make_unique<LeaseRecord>();
  lease->phase = LeasePhase::kOpen;
  for (SlotIndex slot = 0; slot < kSlots; ++slot) lease->blocks.push_back({.slot = slot});
  pool_.leases.push_back(std::move(lease));
  Audit scan(pool_);
  judge(scan);
  EXPECT_TRUE(scan.faults().empty());
  EXPECT_EQ(scan.suspicions().size(), kSlots);

  pool_.leases.front()->phase = LeasePhase::kFree;
  Audit ended(pool_);
  judge(ended);
  EXPECT_EQ(ended.faults(), std::vector<std::string>{"I18: a lease that ended still holds blocks"});
  pool_.free_leases.push_back(pool_.leases.front().get());
}

}  // namespace
}  // namespace tessera::kv
