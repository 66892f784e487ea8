// The user KV pool: prefetches, metrics and operations.
#include <algorithm>
#include <string>
#include <vector>

#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/handles.h"
#include "bridge/object_reader.h"
#include "bridge/task.h"

namespace tessera::bridge {
namespace {

/// A twentieth of a core, and of what the disk gives to one reader.
constexpr uint32_t kCheckBurstUs = 500, kCheckRestUs = 9500;

constexpr double kBudgetUsMax = 1e15;
constexpr uint32_t kTierSlots = 9;
constexpr uint32_t kPoolSlots = 27;
constexpr uint32_t kKvMetricsSlots = kPoolSlots + kTierSlots * kv::kTierCount;
constexpr uint32_t kKvChainSlots = 10;

std::shared_ptr<kv::Pool> open_pool_of(const Napi::Value& value) {
  auto pool = open_engine(value)->engine->pool();
  if (pool == nullptr) throw make_error(value.Env(), Code::kEngineClosed, "engine: it was closed");
  return pool;
}

std::string text_of(const Napi::Value& value, const char* field) {
  if (value.IsString()) return value.As<Napi::String>().Utf8Value();
  throw make_error(value.Env(), Code::kRequestInvalid,
                   std::string(field) + ": expected a string, got " + describe_value(value));
}

double number_of(const Napi::Value& value, const char* field, double max) {
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1;
  if (number >= 0 && number <= max) return number;
  throw make_error(value.Env(), Code::kRequestInvalid,
                   std::string(field) + ": expected 0.." + std::to_string(max) + ", got " +
                       describe_value(value));
}

Napi::Value engine_prefetch(const Napi::CallbackInfo& info) {
  const auto handle = open_engine(info[0]);
  const auto ticket =
      static_cast<uint32_t>(number_of(info[1], "enginePrefetch.ticket", 4294967295.0));
  const BoundCatalogue* bound = bound_slot(*handle, info[2], "enginePrefetch.binding");
  const std::string user = text_of(info[3], "enginePrefetch.user");
  const uint32_t adapter = adapter_slot(*handle, info[4], "enginePrefetch.adapter");
  const auto version = version_of(*handle, *bound, adapter);
  if (!version.is_ok()) throw make_error(info.Env(), version.status());
  handle->engine->prefetch(ticket, version.value(), user);
  return info.Env().Undefined();
}

void append_tier(const kv::TierMetrics& tier, std::vector<double>& slots) {
  for (const uint64_t count : {tier.capacity_blocks, tier.used_blocks, tier.hit_tokens,
                               tier.read_bytes, tier.written_bytes, tier.read_us, tier.written_us,
                               tier.evicted_blocks, tier.evicted_dirty_blocks}) {
    slots.push_back(static_cast<double>(count));
  }
}

Napi::Value kv_metrics(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto handle = open_engine(info[0]);
  const auto pool = open_pool_of(info[0]);
  if (!info[1].IsTypedArray() ||
      info[1].As<Napi::TypedArray>().TypedArrayType() != napi_float64_array ||
      info[1].As<Napi::Float64Array>().ElementLength() != kKvMetricsSlots) {
    throw make_error(env, Code::kRequestInvalid,
                     "kvMetrics.into: expected a Float64Array of " +
                         std::to_string(kKvMetricsSlots) + " slots, got " +
                         describe_value(info[1]));
  }
  const kv::PoolMetrics metrics = pool->metrics();
  const kv::Rates rates = handle->engine->kv_rates();
  std::vector<double> slots;
  for (const uint64_t count :
       {metrics.chains, metrics.chain_tokens, metrics.leases, metrics.lookups, metrics.asked_tokens,
        metrics.commits, metrics.commits_lost, metrics.refused_extends, metrics.prefetches,
        metrics.prefetches_refused, metrics.loads_failed, metrics.loads_corrupt,
        metrics.load_wait_us, metrics.stores, metrics.stores_dropped, metrics.stores_failed,
        metrics.store_wait_us, metrics.store_queue, uint64_t{metrics.is_storing}}) {
    slots.push_back(static_cast<double>(count));
  }
  slots.push_back(rates.compute_token_us);
  for (const uint64_t count :
       {pool->block_bytes(), pool->stored_block_bytes(), metrics.inexact_tokens,
        metrics.commits_rematched, metrics.inherited_tokens, metrics.inherited_chains,
        metrics.indexes_dropped}) {
    slots.push_back(static_cast<double>(count));
  }
  for (const kv::TierMetrics& tier : metrics.tiers) append_tier(tier, slots);
  std::copy(slots.begin(), slots.end(), info[1].As<Napi::Float64Array>().Data());
  return Napi::String::New(env, metrics.store_error);
}

Napi::Value kv_inspect(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto reports = open_pool_of(info[0])->inspect(text_of(info[1], "kvInspect.user"));
  Napi::Array versions = Napi::Array::New(env, reports.size());
  auto numbers = Napi::Float64Array::New(env, reports.size() * kKvChainSlots);
  double* next = numbers.Data();
  for (uint32_t i = 0; i < reports.size(); ++i) {
    const kv::ChainReport& chain = reports[i];
    versions.Set(i, Napi::String::New(env, kv::to_text(chain.version)));
    for (const uint64_t number :
         {uint64_t{chain.is_retired}, chain.seq, uint64_t{chain.tokens},
          uint64_t{chain.prefix_tokens}, uint64_t{chain.tier_tokens[0]},
          uint64_t{chain.tier_tokens[1]}, uint64_t{chain.tier_tokens[2]},
          uint64_t{chain.durable_tokens}, chain.unused_us, uint64_t{chain.versions_back}}) {
      *next++ = static_cast<double>(number);
    }
  }
  Napi::Object result = Napi::Object::New(env);
  result["versions"] = versions;
  result["numbers"] = numbers;
  return result;
}

Napi::Value kv_holds(const Napi::CallbackInfo& info) {
  const bool holds = open_pool_of(info[0])->holds(text_of(info[1], "kvHolds.user"));
  return Napi::Boolean::New(info.Env(), holds);
}

Napi::Value kv_drop_user(const Napi::CallbackInfo& info) {
  const auto pool = open_pool_of(info[0]);
  const std::string user = text_of(info[1], "kvDropUser.user");
  const auto budget_us =
      static_cast<uint64_t>(number_of(info[2], "kvDropUser.budgetUs", kBudgetUsMax));
  return Task::start_long(
      info.Env(), LaneKind::kErase,
      [pool, user, budget_us] { return pool->drop_user(user, budget_us); },
      [](Napi::Env env, const Status&) { return env.Undefined(); });
}

Napi::Value kv_drop_version(const Napi::CallbackInfo& info) {
  const auto pool = open_pool_of(info[0]);
  const auto version = pool->find_version(text_of(info[1], "kvDropVersion.version"));
  if (version.has_value()) pool->retire(*version);
  return Napi::Boolean::New(info.Env(), version.has_value());
}

Napi::Value described(Napi::Env env, const kv::IntegrityReport& report) {
  Napi::Object result = Napi::Object::New(env);
  const auto set = [&](const char* name, uint64_t value) {
    result[name] = Napi::Number::New(env, static_cast<double>(value));
  };
  set("chains", report.chains);
  set("blocks", report.blocks);
  set("checkedDiskBlocks", report.checked_disk_blocks);
  set("corruptDiskBlocks", report.corrupt_disk_blocks);
  set("unreadableDiskBlocks", report.unreadable_disk_blocks);
  Napi::Array faults = Napi::Array::New(env, report.faults.size());
  for (uint32_t i = 0; i < report.faults.size(); ++i)
    faults.Set(i, Napi::String::New(env, report.faults[i]));
  result["faults"] = faults;
  return result;
}

Napi::Value kv_check_integrity(const Napi::CallbackInfo& info) {
  const auto handle = open_engine(info[0]);
  const auto pool = open_pool_of(info[0]);
  auto report = std::make_shared<kv::IntegrityReport>();
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  handle->check_cancelled = cancelled;
  return Lane::of(info.Env(), LaneKind::kCheck)
      .start(
          info.Env(),
          [pool, report, cancelled](const Lane::Stop& stop) -> Status {
            kv::CheckPace pace;
            pace.burst_us = kCheckBurstUs;
            pace.rest_us = kCheckRestUs;
            pace.is_cancelled = [&] { return stop.load() || cancelled->load(); };
            *report = pool->check_integrity(pace);
            if (!pace.is_cancelled()) return Status::ok();
            return {Code::kCancelled, "the integrity check was cancelled"};
          },
          [report](Napi::Env env, const Status& status) -> Napi::Value {
            return status.is_ok() ? described(env, *report) : env.Undefined();
          });
}

Napi::Value kv_cancel_check(const Napi::CallbackInfo& info) {
  const auto handle = any_engine(info[0]);
  if (handle->check_cancelled != nullptr) handle->check_cancelled->store(true);
  return info.Env().Undefined();
}

}  // namespace

void register_kv_functions(Napi::Env env, Napi::Object exports) {
  exports["enginePrefetch"] = Napi::Function::New<&engine_prefetch>(env, "enginePrefetch");
  exports["kvMetrics"] = Napi::Function::New<&kv_metrics>(env, "kvMetrics");
  exports["kvHolds"] = Napi::Function::New<&kv_holds>(env, "kvHolds");
  exports["kvInspect"] = Napi::Function::New<&kv_inspect>(env, "kvInspect");
  exports["kvDropUser"] = Napi::Function::New<&kv_drop_user>(env, "kvDropUser");
  exports["kvDropVersion"] = Napi::Function::New<&kv_drop_version>(env, "kvDropVersion");
  exports["kvCheckIntegrity"] = Napi::Function::New<&kv_check_integrity>(env, "kvCheckIntegrity");
  exports["kvCancelCheck"] = Napi::Function::New<&kv_cancel_check>(env, "kvCancelCheck");
}

}  // namespace tessera::bridge
