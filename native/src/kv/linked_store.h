// A shared store behind a StoreLink. A value there is a block's checksum (head_record.h), eight
// bytes in the machine's order, and the block behind it: bytes that were altered, cut, or put
// by another layout are refused.
#pragma once

#include <memory>

#include "kv/shared_store.h"
#include "kv/store_link.h"

namespace tessera::kv {

class LinkedStore final : public SharedStore {
 public:
  /// `slot_count`: blocks of which this process remembers at most that they are there.
  LinkedStore(std::shared_ptr<StoreLink> link, uint32_t slot_count)
      : link_(std::move(link)), slot_count_(slot_count) {}
  ~LinkedStore() override { link_->close(); }

  uint32_t slot_count() const override { return slot_count_; }
  void begin_read(BlockTransfer& transfer) override;
  void begin_write(BlockTransfer& transfer) override;
  bool has_ended(BlockTransfer& transfer, uint64_t budget_us) override;
  bool is_available() const override { return link_->is_available(); }
  void find(const ChainName& chain, FindEnd then) override;
  Result<FoundHead> find_now(const ChainName& chain) override;
  void end_late() override { link_->end_late(); }
  Result<Published> publish(const ChainName& chain, const std::string& head,
                            const std::string& replaces, std::span<const Digest> gone,
                            std::string& revision) override;
  Status erase(const Digest& owner, uint64_t at) override;
  void close() override { link_->close(); }

 private:
  const std::shared_ptr<StoreLink> link_;
  const uint32_t slot_count_;
};

}  // namespace tessera::kv
