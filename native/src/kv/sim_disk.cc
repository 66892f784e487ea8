#include "kv/sim_disk.h"

#include <algorithm>

namespace tessera::kv {

class SimStore final : public BlockStore, public HeadLog {
 public:
  explicit SimStore(SimDisk& disk) : disk_(disk) {}

  uint32_t slot_count() const override { return static_cast<uint32_t>(disk_.durable_.size()); }

  void begin_read(BlockTransfer& transfer) override {
    transfer.status = read(transfer.block.slot, transfer.to);
    if (transfer.status.is_ok()) transfer.status = check_bytes(transfer.block, transfer.to);
  }

  void begin_write(BlockTransfer& transfer) override {
    transfer.block.checksum = block_checksum(transfer.from, transfer.block.key);
    transfer.status = write(transfer.block.slot, transfer.from);
  }

  HeadLog* heads() override { return this; }

  Result<uint64_t> recover(const std::function<void(HeadRecord&&)>& each) override {
    for (const auto& [key, head] : disk_.heads_) {
      Result<HeadRecord> read = decode(encode(head));
      if (!read.is_ok()) return read.status();
      each(std::move(read).value());
    }
    return uint64_t{0};
  }

  Status sync() override {
    if (!disk_.lives()) return {Code::kIoFailed, "dead"};
    if (disk_.happens(disk_.faults.sync_error)) return {Code::kIoFailed, "sync"};
    for (auto& [slot, bytes] : disk_.unsynced_) disk_.durable_[slot] = std::move(bytes);
    disk_.unsynced_.clear();
    return Status::ok();
  }

  Status commit(std::span<const HeadKey> erased, std::span<const HeadRecord> put) override {
    if (!disk_.lives()) return {Code::kIoFailed, "dead"};
    if (disk_.happens(disk_.faults.commit_full)) return {Code::kEngineOverloaded, "full"};
    const bool is_unknown = disk_.happens(disk_.faults.commit_unknown);
    if (!is_unknown || disk_.random_() % 2 == 0) apply(erased, put);
    if (is_unknown) return {Code::kIoFailed, "unknown"};
    return Status::ok();
  }

  Status discard(SlotIndex slot) override {
    if (!disk_.lives()) return {Code::kIoFailed, "dead"};
    disk_.overwritten_heads += disk_.is_in_head(slot);
    disk_.durable_[slot].assign(disk_.block_bytes_, std::byte{0});
    return Status::ok();
  }

  Status erase_traces(std::span<const HeadKey>) override { return Status::ok(); }

 private:
  Status read(SlotIndex slot, std::span<std::byte> to) {
    if (disk_.happens(disk_.faults.read_error)) return {Code::kIoFailed, "read"};
    const auto found = disk_.unsynced_.find(slot);
    const auto& bytes = found == disk_.unsynced_.end() ? disk_.durable_[slot] : found->second;
    std::copy(bytes.begin(), bytes.end(), to.begin());
    if (disk_.happens(disk_.faults.read_flip)) {
      to[disk_.random_() % to.size()] ^= std::byte{1} << (disk_.random_() % 8);
    }
    return Status::ok();
  }

  Status write(SlotIndex slot, std::span<const std::byte> from) {
    if (!disk_.lives()) return {Code::kIoFailed, "dead"};
    if (disk_.happens(disk_.faults.write_error)) return {Code::kEngineOverloaded, "full"};
    disk_.overwritten_heads += disk_.is_in_head(slot);
    disk_.unsynced_[slot].assign(from.begin(), from.end());
    return Status::ok();
  }

  void apply(std::span<const HeadKey> erased, std::span<const HeadRecord> put) {
    for (const HeadKey& key : erased) disk_.heads_.erase(encode_key(key));
    for (const HeadRecord& head : put) {
      for (const HeadBlock& block : head.blocks) {
        disk_.early_heads += disk_.unsynced_.count(block.slot);
      }
      disk_.heads_[encode_key(head.key)] = head;
    }
  }

  SimDisk& disk_;
};

SimDisk::SimDisk(uint32_t slot_count, uint64_t block_bytes, uint64_t seed)
    : block_bytes_(block_bytes), random_(seed) {
  durable_.assign(slot_count, std::vector<std::byte>(block_bytes));
}

std::unique_ptr<BlockStore> SimDisk::open() { return std::make_unique<SimStore>(*this); }

bool SimDisk::lives() {
  if (calls_left_ == 0) return false;
  if (calls_left_ != UINT32_MAX) --calls_left_;
  return calls_left_ > 0;
}

bool SimDisk::is_in_head(SlotIndex slot) const {
  return std::any_of(heads_.begin(), heads_.end(), [&](const auto& entry) {
    const auto& blocks = entry.second.blocks;
    return std::any_of(blocks.begin(), blocks.end(),
                       [&](const HeadBlock& block) { return block.slot == slot; });
  });
}

uint64_t SimDisk::highest_seq() const {
  uint64_t highest = 0;
  for (const auto& [key, head] : heads_) highest = std::max(highest, head.seq);
  return highest;
}

void SimDisk::crash() {
  for (const auto& [slot, bytes] : unsynced_) {
    const uint64_t kept = random_() % 3 * block_bytes_ / 2;  // none, half or all
    std::copy_n(bytes.begin(), kept, durable_[slot].begin());
  }
  unsynced_.clear();
  calls_left_ = UINT32_MAX;
}

void SimDisk::flip_bit() {
  std::vector<std::byte>& bytes = durable_[random_() % durable_.size()];
  bytes[random_() % bytes.size()] ^= std::byte{1} << (random_() % 8);
}

}  // namespace tessera::kv
