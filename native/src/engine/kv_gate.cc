#include "engine/kv_gate.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "engine/encoded_prompt.h"

namespace tessera::engine {
namespace {

/// A load may take this much longer than predicted before it is cut off.
constexpr double kPatience = 1.5;
/// Or this share of the time that it saves, if that is longer: a prediction of few milliseconds is
/// often missed, and computing what is nearly there costs more than another wait.
constexpr double kPatienceOfSaved = 0.5;
constexpr double kPatienceUsMax = 50'000;
/// And this long, where nothing of the kind has been measured yet.
constexpr double kFirstWaitUs = 100'000;
/// For a head, at most; and no longer than computing the prompt takes.
constexpr double kLookUsMax = 50'000;
/// Rates are looked at again after this long.
constexpr std::chrono::milliseconds kRatesLast{100};

}  // namespace

ComingBlocks KvGate::begin(PoolVersions versions, const std::string& user) {
  ComingBlocks coming;
  coming.prefetch = pool_.prefetch(versions.blocks, user, kv::kChainTokensMax);
  if (versions.state) coming.state = pool_.prefetch(*versions.state, user, kv::kChainTokensMax);
  return coming;
}

bool KvGate::is_ready(Request& request, ComingBlocks& coming, PoolVersions versions,
                      Clock::time_point now, const scheduler::PassCost& cost) {
  if (!coming.prefetch && !coming.state) return true;
  if (request.encoded > 0 && !is_of(request, versions.blocks)) {
    coming = {};
    return true;
  }
  const auto is_done = [](const kv::Prefetch& prefetch) { return !prefetch || prefetch.is_done(); };
  const bool has_come = is_done(coming.prefetch) && is_done(coming.state);
  const bool is_looking = (coming.prefetch && coming.prefetch.is_looking()) ||
                          (coming.state && coming.state.is_looking());
  const bool is_new = !coming.is_decided || (coming.was_looking && !is_looking);
  if (!has_come && is_new) {
    const MutexLock lock(mutex_);
    coming.wait_until = decide(request, versions, now, cost);
    if (is_looking)
      coming.wait_until =
          std::max(coming.wait_until, look_end(request, versions.blocks, now, cost));
    if (!coming.is_decided) coming.wait_from = now;
    coming.was_looking = is_looking;
    coming.is_decided = true;
  }
  if (!has_come && now < coming.wait_until) return false;
  if (coming.is_decided) {
    const auto waited =
        std::chrono::duration_cast<std::chrono::microseconds>(now - coming.wait_from);
    request.kv.waited_us = static_cast<uint32_t>(waited.count());
  }
  coming = {};
  return true;
}

/// False where the user's blocks are of another prompt than the encoder's.
bool KvGate::is_of(const Request& request, kv::Version version) const {
  const std::optional<kv::Token> kept = pool_.first_token(version, request.kv.user);
  return !kept || *kept == first_name(request);  // unknown: it may still come
}

kv::Rates KvGate::rates(Clock::time_point now, const scheduler::PassCost& cost) {
  const MutexLock lock(mutex_);
  return rates_locked(now, cost);
}

kv::Rates KvGate::rates_locked(Clock::time_point now, const scheduler::PassCost& cost) {
  if (now - measured_ > kRatesLast) {
    const kv::PoolMetrics metrics = pool_.metrics();
    for (uint32_t i = 0; i < metrics.tiers.size(); ++i) {
      tier_rates_.bytes_per_us[i] = metrics.tiers[i].read_bytes_per_us(pool_.stored_block_bytes());
    }
    measured_ = now;
  }
  kv::Rates rates = tier_rates_;
  rates.compute_token_us = cost.row_us_among(scheduler::kRowsOfRate);
  rates.compute_token_pair_us = cost.pair_us;
  return rates;
}

/// Until when it is worth waiting to hear whether another process has left something of a user of
/// whom this one has nothing.
Clock::time_point KvGate::look_end(const Request& request, kv::Version version,
                                   Clock::time_point now, const scheduler::PassCost& cost) {
  const auto tokens = pool_.whereabouts(version, request.kv.user);
  if (tokens != kv::PerTier<uint32_t>{}) return now;
  kv::LoadQuestion question;
  question.prompt_tokens = static_cast<uint32_t>(request.prompt.size());
  question.block_bytes = pool_.stored_block_bytes();
  const double compute_us = kv::plan_load(question, rates_locked(now, cost)).compute_all_us;
  const double wait_us = std::min(kLookUsMax, compute_us);
  return now + std::chrono::microseconds(static_cast<int64_t>(wait_us));
}

/// Until when it is worth waiting for what is on its way.
Clock::time_point KvGate::decide(const Request& request, PoolVersions versions,
                                 Clock::time_point now, const scheduler::PassCost& cost) {
  const auto tokens = pool_.whereabouts(versions.blocks, request.kv.user);
  const auto below_device = [](const kv::PerTier<uint32_t>& counts) {
    std::vector<kv::TierIndex> tiers;
    for (const kv::TierIndex tier : kv::TierRange(kv::kDevice + 1, kv::kTiersMax))
      tiers.insert(tiers.end(), kv::blocks_of(counts[tier]), tier);
    return tiers;
  };
  const std::vector<kv::TierIndex> missing = below_device(tokens);
  std::vector<kv::TierIndex> state;
  if (versions.state) {
    const auto of_state = pool_.whereabouts(*versions.state, request.kv.user);
    if (of_state == kv::PerTier<uint32_t>{}) return now;  // blocks alone are of no use
    state = below_device(of_state);
  }
  kv::LoadQuestion question;
  question.state = state;
  question.device_tokens = tokens[kv::kDevice];
  question.prompt_tokens = static_cast<uint32_t>(request.prompt.size());
  question.missing = missing;
  question.block_bytes = pool_.stored_block_bytes();
  const kv::LoadPlan plan = kv::plan_load(question, rates_locked(now, cost));
  const double saved_us = plan.compute_all_us - plan.predicted_us;
  double wait_us = plan.load_us * kPatience;
  if (wait_us > 0)
    wait_us = std::max(wait_us, std::min(saved_us * kPatienceOfSaved, kPatienceUsMax));
  if ((plan.blocks > 0 || plan.loads_state) && wait_us == 0)
    wait_us = std::max(plan.compute_all_us, kFirstWaitUs);
  return now + std::chrono::microseconds(static_cast<int64_t>(wait_us));
}

}  // namespace tessera::engine
