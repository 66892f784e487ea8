#include "kv/sim_server.h"

#include <algorithm>

namespace tessera::kv {

SimServer::~SimServer() {
  while (!lines_.empty()) disconnect(lines_.back()->link);
}

std::shared_ptr<StoreLink> SimServer::connect(const std::atomic<uint64_t>& erased_until,
                                              uint64_t limit_us) {
  auto line = std::make_unique<Line>();
  line->link = std::make_shared<StoreLink>(limit_us);
  line->erased_until = &erased_until;
  Line& served = *line;
  served.link->serve([&served] {
    const MutexLock lock(served.mutex);
    served.is_rung = true;
    served.rung.notify_one();
  });
  served.thread = std::thread([this, &served] { serve(served); });
  lines_.push_back(std::move(line));
  return served.link;
}

void SimServer::disconnect(const std::shared_ptr<StoreLink>& link) {
  const auto found = std::find_if(lines_.begin(), lines_.end(),
                                  [&](const auto& line) { return line->link == link; });
  if (found == lines_.end()) return;
  Line& line = **found;
  line.link->serve(nullptr);
  {
    const MutexLock lock(line.mutex);
    line.is_over = true;
    line.rung.notify_one();
  }
  line.thread.join();
  lines_.erase(found);
}

void SimServer::serve(Line& line) {
  while (true) {
    {
      MutexLock lock(line.mutex);
      lock.wait(line.rung, [&] { return line.is_rung || line.is_over; });
      if (line.is_over) return;
      line.is_rung = false;
    }
    for (const StoreCall& call : line.link->take()) perform(line, call);
  }
}

void SimServer::perform(Line& line, const StoreCall& call) {
  std::string carried, bytes, text;
  const bool carries = call.kind == StoreCallKind::kWrite || call.kind == StoreCallKind::kPublish;
  const auto copy = [&](std::span<const std::byte> front, std::span<const std::byte> rest) {
    for (const auto part : {front, rest}) {
      carried.append(reinterpret_cast<const char*>(part.data()), part.size());
    }
  };
  if (carries && !line.link->bytes_of(call.id, copy)) return;
  StoreCallEnd how = StoreCallEnd::kFailed;
  {
    const MutexLock lock(mutex_);
    if (happens(faults_.hides)) return;
    if (!happens(faults_.fails)) how = act(call, line.erased_until->load(), carried, bytes, text);
    if (happens(faults_.loses_answer)) how = StoreCallEnd::kFailed;
    if (!bytes.empty() && happens(faults_.alters)) flip(bytes, random_);
    if (!bytes.empty() && happens(faults_.cuts)) bytes.pop_back();
  }
  line.link->end(call.id, how, std::as_bytes(std::span<const char>(bytes)), text);
}

StoreCallEnd SimServer::act(const StoreCall& call, uint64_t erased_until,
                            const std::string& carried, std::string& bytes, std::string& text) {
  const Name name{call.chain.owner, call.chain.version};
  if (call.kind == StoreCallKind::kErase) {
    uint64_t& erased = erased_[call.chain.owner];
    erased = std::max(erased, call.at);
    std::erase_if(chains_, [&](const auto& kept) { return kept.first.first == name.first; });
    return StoreCallEnd::kOk;
  }
  if (happens(faults_.forgets)) chains_.erase(name);
  const auto found = chains_.find(name);
  if (call.kind == StoreCallKind::kFind) {
    if (found == chains_.end() || found->second.head.empty()) return StoreCallEnd::kMissing;
    bytes = found->second.head;
    text = found->second.revision;
    return StoreCallEnd::kOk;
  }
  if (call.kind == StoreCallKind::kRead) {
    if (found == chains_.end() || found->second.blocks.count(call.block) == 0) {
      return StoreCallEnd::kMissing;
    }
    bytes = found->second.blocks[call.block];
    return StoreCallEnd::kOk;
  }
  const auto erased = erased_.find(call.chain.owner);
  if (erased != erased_.end() && erased->second > erased_until) return StoreCallEnd::kErased;
  if (call.kind == StoreCallKind::kWrite) {
    chains_[name].blocks[call.block] = carried;
    return StoreCallEnd::kOk;
  }
  const std::string revision = found == chains_.end() ? "" : found->second.revision;
  if (revision != call.replaces) return StoreCallEnd::kChanged;
  Kept& kept = chains_[name];
  kept.head = carried;
  kept.revision = text = std::to_string(++revisions_);
  for (const Digest& block : call.gone) kept.blocks.erase(block);
  return StoreCallEnd::kOk;
}

void SimServer::set_faults(const ServerFaults& faults) {
  const MutexLock lock(mutex_);
  faults_ = faults;
}

size_t SimServer::kept_of(const Digest& owner) {
  const MutexLock lock(mutex_);
  size_t kept = 0;
  for (const auto& [name, chain] : chains_) {
    if (name.first == owner) kept += chain.blocks.size() + (chain.head.empty() ? 0 : 1);
  }
  return kept;
}

void SimServer::forget() {
  const MutexLock lock(mutex_);
  chains_.clear();
}

void SimServer::flip(std::string& bytes, std::mt19937_64& random) {
  char& byte = bytes[random() % bytes.size()];
  byte = static_cast<char>(byte ^ (1 << (random() % 8)));
}

void SimServer::damage() {
  const MutexLock lock(mutex_);
  for (auto& [name, kept] : chains_) {
    if (!kept.head.empty() && happens(500)) flip(kept.head, random_);
    for (auto& [key, block] : kept.blocks) {
      if (happens(200)) flip(block, random_);
    }
  }
}

}  // namespace tessera::kv
