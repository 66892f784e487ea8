#include "lora/arena.h"

#include <cmath>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "device/backends.h"
#include "lora/packing.h"

namespace tessera::lora {

/// Adapters in the arena and their bytes; shared with the adapters, which sign off in it.
struct Arena::Ledger {
  mutable Mutex mutex;
  ArenaUse use GUARDED_BY(mutex);
  std::unordered_map<std::string, std::weak_ptr<const Adapter>> by_digest GUARDED_BY(mutex);

  std::shared_ptr<const Adapter> find(const std::string& digest) const {
    const MutexLock lock(mutex);
    const auto found = by_digest.find(digest);
    return found == by_digest.end() ? nullptr : found->second.lock();
  }

  Status reserve(uint64_t bytes) {
    const MutexLock lock(mutex);
    const uint64_t free = use.max_bytes - use.used_bytes;
    if (bytes > free) {
      return {Code::kAdapterArenaFull, "adapter: expected at most " + std::to_string(free) +
                                           " bytes (free, of " + std::to_string(use.max_bytes) +
                                           "), got " + std::to_string(bytes)};
    }
    use.used_bytes += bytes;
    return Status::ok();
  }

  void give_back(uint64_t bytes) {
    const MutexLock lock(mutex);
    use.used_bytes -= bytes;
  }

  /// The digest may already stand for another one, loaded again.
  void sign_off(const Summary& summary) {
    const MutexLock lock(mutex);
    use.used_bytes -= summary.bytes;
    use.adapters -= 1;
    const auto found = by_digest.find(summary.digest);
    if (found != by_digest.end() && found->second.expired()) by_digest.erase(found);
  }
};

namespace {

Status check(const Limits& limits) {
  if (limits.rank_max < 1 || limits.rank_max > ops::kRankMax) {
    return {Code::kRequestInvalid, "limits.rankMax: expected 1.." + std::to_string(ops::kRankMax) +
                                       ", got " + std::to_string(limits.rank_max)};
  }
  if (!(limits.norm_max > 0) || !std::isfinite(limits.norm_max)) {
    return {Code::kRequestInvalid,
            "limits.normMax: expected a number above 0, got " + std::to_string(limits.norm_max)};
  }
  return Status::ok();
}

/// Null where the folder has no file of them.
Result<std::shared_ptr<const Heads>> heads_of(const std::string& folder, uint32_t hidden_size) {
  if (!Heads::are_in(folder)) return std::shared_ptr<const Heads>();
  return Heads::open(folder, hidden_size);
}

/// None where the folder has heads alone.
Result<AdapterTensors> tensors_of(const std::string& folder, bool has_heads,
                                  const model::ModelConfig& model, const Limits& limits) {
  if (has_heads && !AdapterTensors::are_in(folder)) return AdapterTensors();
  auto tensors = AdapterTensors::open(folder, model, limits);
  if (!tensors.is_ok() || !tensors.value().is_activated) return tensors;
  if (tensors.value().embedding.is_there || tensors.value().head.is_there) {
    return Status(Code::kAdapterInvalid,
                  folder +
                      "/adapter_config.json: alora_invocation_tokens: expected factors of layers "
                      "alone beside it, got rows of the embedding or the head, which change every "
                      "prompt");
  }
  if (has_heads) return tensors;
  return Status(Code::kAdapterInvalid,
                folder +
                    "/adapter_config.json: alora_invocation_tokens: expected heads beside it "
                    "(ranking.json), as it changes the rows of ranked items alone, got none");
}

}  // namespace

Arena::Arena(std::shared_ptr<const model::Decoder> decoder, std::shared_ptr<device::Device> device,
             std::shared_ptr<Ledger> ledger)
    : decoder_(std::move(decoder)), device_(std::move(device)), ledger_(std::move(ledger)) {}

Result<std::unique_ptr<Arena>> Arena::open(std::shared_ptr<const model::Decoder> decoder,
                                           uint64_t bytes_max) {
  auto device = device::open_cpu_device({});
  if (!device.is_ok()) return device.status();
  auto ledger = std::make_shared<Ledger>();
  {
    const MutexLock lock(ledger->mutex);
    ledger->use.max_bytes = bytes_max;
  }
  return std::unique_ptr<Arena>(
      new Arena(std::move(decoder), std::move(device).value(), std::move(ledger)));
}

Result<std::shared_ptr<const Adapter>> Arena::load(const std::string& folder,
                                                   const Limits& limits) {
  TESSERA_RETURN_IF_ERROR(check(limits));
  const MutexLock loading(loading_);
  auto heads = heads_of(folder, decoder_->config().hidden_size);
  if (!heads.is_ok()) return heads.status();
  auto tensors = tensors_of(folder, heads.value() != nullptr, decoder_->config(), limits);
  if (!tensors.is_ok()) return tensors.status();
  Packing packing(*decoder_, device_, tensors.value(), heads.value(), limits);
  const auto in_folder = [&](const Status& status) {
    return Status(status.code(), folder + ": " + status.message());
  };
  if (Status status = packing.look_through(); !status.is_ok()) return in_folder(status);
  const Summary summary = packing.summary();
  if (auto same = ledger_->find(summary.digest)) return same;
  TESSERA_RETURN_IF_ERROR(ledger_->reserve(summary.bytes));
  auto packed = packing.pack();
  if (!packed.is_ok()) {
    ledger_->give_back(summary.bytes);
    return in_folder(packed.status());
  }
  auto held = decoder_->hold(packed.value()->numbers());
  if (!held.is_ok()) {
    ledger_->give_back(summary.bytes);
    return in_folder(held.status());
  }
  packed.value()->held_ = std::move(held).value();
  std::shared_ptr<const Adapter> adapter(packed.value().release(),
                                         [ledger = ledger_](const Adapter* last) {
                                           const Summary own = last->summary();
                                           delete last;
                                           ledger->sign_off(own);
                                         });
  const MutexLock lock(ledger_->mutex);
  ledger_->use.adapters += 1;
  ledger_->by_digest[summary.digest] = adapter;
  return adapter;
}

ArenaUse Arena::use() const {
  const MutexLock lock(ledger_->mutex);
  return ledger_->use;
}

}  // namespace tessera::lora
