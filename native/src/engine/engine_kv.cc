// The engine's face of the user KV pool.
#include <algorithm>

#include "engine/engine.h"
#include "engine/open_pool.h"

namespace tessera::engine {
namespace {

/// What is not on disk yet when the engine closes has this long to get there.
constexpr uint64_t kCloseFlushUs = 2'000'000;

}  // namespace

/// Tokens of the prompt that need not be computed, as far as is known before they are compared: at
/// most, because a refusal is final and a late answer is only late. REQUIRES: mutex_ held.
uint32_t Engine::kept_tokens(const Request& request) const {
  const KvUse& use = request.kv;
  if (pool_ == nullptr || !options_.kv.is_enabled || use.user.empty()) return 0;
  if (!request.task->needs().shares_blocks) return 0;
  uint32_t kept = use.prefix_tokens / kv::kBlockTokens * kv::kBlockTokens;
  for (const uint32_t tokens : pool_->whereabouts(versions_.now(use.version), use.user))
    kept += tokens;
  const auto size = static_cast<uint32_t>(request.prompt.size());
  return std::min({kept, use.keep_tokens, size - 1});
}

/// The folder is free for another engine from then on, unless an operation of the pool still runs.
void Engine::close_pool() {
  std::shared_ptr<kv::Pool> pool;
  {
    std::lock_guard lock(mutex_);
    gate_.clear();
    pool = std::move(pool_);
  }
  if (pool != nullptr) (void)pool->flush(kCloseFlushUs);
}

std::shared_ptr<kv::Pool> Engine::pool() const {
  std::lock_guard lock(mutex_);
  return pool_;
}

Result<kv::Version> Engine::add_version(const std::string& template_digest,
                                        const std::string& codebook_digest,
                                        const std::string& adapter_digest) {
  const std::lock_guard lock(mutex_);
  if (pool_ == nullptr) return Status(Code::kEngineClosed, "the engine was closed");
  return versions_.add(*pool_, model_, {template_digest, codebook_digest, adapter_digest});
}

void Engine::succeed(const std::string& adapter_digest, const std::string& predecessor_digest) {
  const std::lock_guard lock(mutex_);
  if (pool_ == nullptr || options_.kv.versions_back_max == 0) return;
  versions_.succeed(*pool_, model_, adapter_digest, predecessor_digest);
}

void Engine::drop_version(kv::Version version) {
  const std::lock_guard lock(mutex_);
  if (pool_ != nullptr) versions_.drop(*pool_, version);
}

Result<std::shared_ptr<const lora::Adapter>> Engine::load_adapter(const std::string& folder,
                                                                  const lora::Limits& limits) {
  if (arena_ != nullptr) return arena_->load(folder, limits);
  return Status(Code::kAdapterInvalid, folder + ": adapters are not served on a card");
}

lora::ArenaUse Engine::adapter_arena() const {
  return arena_ == nullptr ? lora::ArenaUse{} : arena_->use();
}

void Engine::prefetch(uint32_t ticket, kv::Version version, const std::string& user) {
  std::lock_guard lock(mutex_);
  if (pool_ == nullptr || draining_ || is_swapping_ || !options_.kv.is_enabled) return;
  gate_.prefetch(ticket, versions_.now(version), user);
}

kv::Rates Engine::kv_rates() {
  std::lock_guard lock(mutex_);
  return pool_ == nullptr ? kv::Rates{} : gate_.rates(Clock::now(), admission_.cost());
}

}  // namespace tessera::engine
