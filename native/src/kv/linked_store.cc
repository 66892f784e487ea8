#include "kv/linked_store.h"

#include <utility>

namespace tessera::kv {
namespace {

Status failed(const StoreAnswer& answer) {
  return {Code::kIoFailed, "shared store: " + answer.text};
}

Result<FoundHead> found_in(StoreAnswer answer) {
  const bool is_known = answer.end == StoreCallEnd::kOk || answer.end == StoreCallEnd::kMissing;
  if (!is_known) return failed(answer);
  return FoundHead{std::move(answer.bytes), std::move(answer.text)};
}

}  // namespace

void LinkedStore::begin_read(BlockTransfer& transfer) {
  StoreCall call;
  call.kind = StoreCallKind::kRead;
  call.chain = transfer.chain;
  call.block = transfer.block.key;
  transfer.call = link_->begin_transfer(std::move(call), transfer.to, {});
}

void LinkedStore::begin_write(BlockTransfer& transfer) {
  transfer.block.checksum = block_checksum(transfer.from, transfer.block.key);
  StoreCall call;
  call.kind = StoreCallKind::kWrite;
  call.chain = transfer.chain;
  call.block = transfer.block.key;
  call.checksum = transfer.block.checksum;
  transfer.call = link_->begin_transfer(std::move(call), {}, transfer.from);
}

bool LinkedStore::has_ended(BlockTransfer& transfer, uint64_t budget_us) {
  if (transfer.call == 0) return true;
  StoreAnswer answer;
  if (!link_->has_ended(transfer.call, budget_us, answer)) return false;
  transfer.call = 0;
  switch (answer.end) {
    case StoreCallEnd::kOk:
      if (!transfer.from.empty()) break;
      transfer.block.checksum = answer.checksum;
      transfer.status = check_bytes(transfer.block, transfer.to);
      break;
    case StoreCallEnd::kMissing:
      transfer.is_missing = true;
      transfer.status = {Code::kKvStoreCorrupt, "shared store: the block is gone"};
      break;
    case StoreCallEnd::kErased:
      transfer.status = {Code::kCancelled, "shared store: the user was erased"};
      break;
    case StoreCallEnd::kDamaged:
      transfer.status = {Code::kKvStoreCorrupt, "shared store: " + answer.text};
      break;
    case StoreCallEnd::kChanged:
    case StoreCallEnd::kFailed: transfer.status = failed(answer); break;
  }
  return true;
}

void LinkedStore::find(const ChainName& chain, FindEnd then) {
  StoreCall call;
  call.chain = chain;
  link_->begin(std::move(call), {},
               [then = std::move(then)](StoreAnswer answer) { then(found_in(std::move(answer))); });
}

Result<FoundHead> LinkedStore::find_now(const ChainName& chain) {
  StoreCall call;
  call.chain = chain;
  return found_in(link_->call(std::move(call)));
}

Result<Published> LinkedStore::publish(const ChainName& chain, const std::string& head,
                                       const std::string& replaces, std::span<const Digest> gone,
                                       std::string& revision) {
  StoreCall call;
  call.kind = StoreCallKind::kPublish;
  call.chain = chain;
  call.replaces = replaces;
  call.gone.assign(gone.begin(), gone.end());
  StoreAnswer answer = link_->call(std::move(call), head);
  switch (answer.end) {
    case StoreCallEnd::kOk: revision = std::move(answer.text); return Published::kKept;
    case StoreCallEnd::kChanged: return Published::kChanged;
    case StoreCallEnd::kErased: return Published::kErased;
    default: return failed(answer);
  }
}

Status LinkedStore::erase(const Digest& owner, uint64_t at) {
  StoreCall call;
  call.kind = StoreCallKind::kErase;
  call.chain.owner = owner;
  call.at = at;
  const StoreAnswer answer = link_->call(std::move(call));
  return answer.end == StoreCallEnd::kOk ? Status::ok() : failed(answer);
}

}  // namespace tessera::kv
