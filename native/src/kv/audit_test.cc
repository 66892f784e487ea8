// The scan of the pool's books in steps: what it calls a fault, what it only suspects, and what it
// leaves alone because it changed between two steps.
#include "kv/audit.h"

#include <gtest/gtest.h>

#include "kv/pool_state.h"
#include "kv/test_model.h"

namespace tessera::kv {
namespace audit_test {

constexpr uint32_t kSlots = 8;

class AuditSteps : public ::testing::Test {
 protected:
  AuditSteps() {
    PoolOptions options;
    options.block_bytes = kTestBlockBytes;
    options.device_blocks = options.host_blocks = kSlots;
    EXPECT_TRUE(pool_.tiers.open(options).is_ok());
  }

  SlotTable& device() { return *pool_.tiers.device().slots; }

  SlotIndex make_resident() {
    const SlotIndex slot = device().reserve();
    device().move(slot, SlotState::kReserved, SlotState::kResident);
    return slot;
  }

  void judge(Audit& scan) {
    scan.add_graves();
    scan.judge_leases();
    for (const TierIndex which : pool_.tiers.all()) {
      const SlotIndex count = pool_.tiers[which].slots->count();
      scan.judge_slots(which, 0, count / 2);
      scan.judge_slots(which, count / 2, count);
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
  LeaseRecord& lease = pool_.leases.take();
  for (SlotIndex slot = 0; slot < kSlots; ++slot) {
    lease.blocks.push_back({.slot = slot, .address = nullptr});
  }
  Audit scan(pool_);
  judge(scan);
  EXPECT_TRUE(scan.faults().empty());
  EXPECT_EQ(scan.suspicions().size(), kSlots);

  lease.phase = LeasePhase::kFree;
  Audit ended(pool_);
  judge(ended);
  EXPECT_EQ(ended.faults(), std::vector<std::string>{"I18: a lease that ended still holds blocks"});
  lease.own_from = kSlots;  // none of them was ever its own
  pool_.leases.end(lease);
}

}  // namespace audit_test
}  // namespace tessera::kv
