// The pool's own books, compared with a fresh scan of everything that refers to a slot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kv/block.h"
#include "kv/tier.h"

namespace tessera::kv {

class PoolState;
struct Chain;

/// One line per broken invariant (docs/internals/kv-pool.md names them); empty when all hold. Valid
/// at any moment at which the pool's lock is free, also with leases and transfers in flight.
/// REQUIRES: the lock is held.
std::vector<std::string> audit(PoolState& pool);

/// The same scan in steps that may release the lock in between. A mismatch within a chain, or in a
/// slot's own counts, is a fault. The owner of a slot is pieced together from several steps and
/// judged only if the slot was not freed or taken meanwhile; a chain that was renamed or buried
/// between two steps can still make it look wrong. So a mismatch of owners is only a suspicion,
/// which audit() confirms or dismisses under one lock.
class Audit {
 public:
  /// Notes the states of all slots; needs no lock.
  explicit Audit(PoolState& pool);

  // Each with the lock held, in this order.
  void add_graves();
  void add_chain(const Chain& chain);
  void judge_leases();
  /// REQUIRES: begin <= end <= the tier's slots.
  void judge_slots(TierIndex which, SlotIndex begin, SlotIndex end);
  void judge_free_counts();
  void judge_chain_tokens();

  const std::vector<std::string>& faults() const { return faults_; }
  const std::vector<std::string>& suspicions() const { return suspicions_; }

 private:
  struct Seen {
    uint32_t state_and_generation = 0;
    uint16_t owners = 0;
  };

  void fault(const char* invariant, const std::string& what);
  void suspect(const char* invariant, const std::string& what);
  void own(TierIndex which, SlotIndex slot);
  void own_durable(const Chain& chain);
  void check_residence(const Chain& chain, uint32_t index, TierIndex which);
  void judge_slot(TierIndex which, SlotIndex slot, uint32_t references);
  bool is_kept_back(TierIndex which, SlotIndex slot) const;

  PoolState& pool_;
  std::vector<std::vector<Seen>> seen_;  // by tier
  std::vector<std::string> faults_, suspicions_;
};

}  // namespace tessera::kv
