#include "kv/loader.h"

namespace tessera::kv {

void Loader::queue(Chain& chain, uint32_t end) {
  ChainLoad& load = chain.load;
  if (!load.is_queued && load.in_flight == 0) load.next = chain.resident[kDevice];
  load.end = std::max(load.end, end);
  if (load.is_queued) return;
  load.is_queued = true;
  load.asked_us = options_.now_us();
  queue_.push_back(&chain);
}

void Loader::drop(Chain& chain) {
  if (!chain.load.is_queued) return;
  std::erase(queue_, &chain);
  chain.load.is_queued = false;
  landed.notify_all();
}

void Loader::pop_front() {
  Chain& chain = *queue_.front();
  queue_.erase(queue_.begin());
  chain.load.is_queued = false;
  end_if_idle(chain);
  chains_.forget_if_empty(chain);
}

void Loader::end_if_idle(Chain& chain) {
  ChainLoad& load = chain.load;
  if (load.is_queued || load.in_flight > 0) return;
  // Blocks that landed behind a hole are of no use.
  for (uint32_t i = chain.resident[kDevice]; i < chain.blocks.size(); ++i) {
    chains_.drop_slot(chain, i, kDevice, SlotState::kEvicting);
  }
  load.next = load.end = 0;
  landed.notify_all();
}

PrefetchRecord& Loader::begin(Chain* chain, Chain* prefix) {
  if (free_.empty()) {
    records_.push_back(std::make_unique<PrefetchRecord>());
    free_.push_back(records_.back().get());
  }
  PrefetchRecord& record = *free_.back();
  free_.pop_back();
  record = {};
  hold(record, chain, prefix);
  return record;
}

void Loader::hold(PrefetchRecord& record, Chain* chain, Chain* prefix) {
  record.chain = chain;
  record.prefix = prefix;
  for (Chain* wanted : {chain, prefix}) {
    if (wanted == nullptr) continue;
    ++wanted->holds;
    ++wanted->load.waiting;
  }
}

void Loader::end(PrefetchRecord& record) {
  for (Chain* chain : {record.chain, record.prefix}) {
    if (chain == nullptr) continue;
    if (--chain->load.waiting == 0) chain->load.end = chain->load.next;
    chains_.release(*chain);
  }
  free_.push_back(&record);
}

}  // namespace tessera::kv
