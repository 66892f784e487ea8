#include "kv/sim_remote.h"

#include <algorithm>
#include <set>

namespace tessera::kv {

class SimRemoteStore final : public BlockStore {
 public:
  explicit SimRemoteStore(SimRemote& remote) : remote_(remote) {}

  uint32_t slot_count() const override { return remote_.slot_count_; }
  void begin_read(BlockTransfer& transfer) override { under_way_.insert(&transfer); }
  void begin_write(BlockTransfer& transfer) override { under_way_.insert(&transfer); }

  bool has_ended(BlockTransfer& transfer, uint64_t budget_us) override {
    remote_.strays += under_way_.count(&transfer) == 0;
    if (budget_us == 0 && remote_.happens(remote_.faults.is_slow)) return false;
    under_way_.erase(&transfer);
    transfer.status = transfer.from.empty() ? read(transfer) : write(transfer);
    return true;
  }

 private:
  Status read(const BlockTransfer& transfer) {
    if (remote_.happens(remote_.faults.read_error)) return {Code::kIoFailed, "remote: read"};
    const Digest& key = transfer.block.key;
    if (remote_.happens(remote_.faults.forgets)) remote_.blocks_.erase(key);
    const auto found = remote_.blocks_.find(key);
    if (found == remote_.blocks_.end()) return {Code::kKvStoreCorrupt, "remote: no such block"};
    auto& [bytes, checksum] = found->second;
    if (remote_.happens(remote_.faults.alters)) {
      bytes[remote_.random_() % bytes.size()] ^= std::byte{1} << (remote_.random_() % 8);
    }
    TESSERA_RETURN_IF_ERROR(check_bytes({key, transfer.block.slot, checksum}, bytes));
    std::copy(bytes.begin(), bytes.end(), transfer.to.begin());
    ++remote_.reads;
    return Status::ok();
  }

  Status write(const BlockTransfer& transfer) {
    if (remote_.happens(remote_.faults.write_error)) return {Code::kEngineOverloaded, "remote"};
    const auto& [key, slot, checksum] = transfer.block;
    const auto before = in_slot_.find(slot);
    if (before != in_slot_.end()) remote_.blocks_.erase(before->second);
    in_slot_[slot] = key;
    remote_.blocks_[key] = {{transfer.from.begin(), transfer.from.end()},
                            block_checksum(transfer.from, key)};
    ++remote_.writes;
    return Status::ok();
  }

  SimRemote& remote_;
  std::set<const BlockTransfer*> under_way_;
  std::map<SlotIndex, Digest> in_slot_;
};

std::unique_ptr<BlockStore> SimRemote::open() { return std::make_unique<SimRemoteStore>(*this); }

}  // namespace tessera::kv
