// The user KV pool: prefetches, metrics and operations.
#include <algorithm>
#include <string>
#include <vector>

#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/handles.h"
#include "bridge/lane.h"
#include "bridge/object_reader.h"
#include "bridge/object_writer.h"

namespace tessera::bridge {
namespace {

/// A twentieth of a core, and of what the disk gives to one reader.
constexpr uint32_t kCheckBurstUs = 500, kCheckRestUs = 9500;

constexpr double kBudgetUsMax = 1e15;

std::shared_ptr<kv::Pool> open_pool_of(const Napi::Value& value) {
  auto pool = open_engine(value)->engine->pool();
  if (pool == nullptr)
    throw make_error(value.Env(), Code::kEngineClosed, "engine: the handle was closed");
  return pool;
}

std::string text_of(const Napi::Value& value, const char* field) {
  if (value.IsString()) return value.As<Napi::String>().Utf8Value();
  throw make_error(value.Env(), Code::kRequestInvalid,
                   std::string(field) + ": expected a string, got " + describe_value(value));
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

Napi::Value kv_metrics(const Napi::CallbackInfo& info) {
  const auto handle = open_engine(info[0]);
  const auto pool = open_pool_of(info[0]);
  const PoolReport report{pool->metrics(), handle->engine->kv_rates(), pool->block_bytes(),
                          pool->stored_block_bytes()};
  return to_js(info.Env(), report);
}

Napi::Value kv_inspect(const Napi::CallbackInfo& info) {
  return to_js(info.Env(), open_pool_of(info[0])->inspect(text_of(info[1], "kvInspect.user")));
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
  const auto at = static_cast<uint64_t>(number_of(info[3], "kvDropUser.at", kBudgetUsMax));
  return run_in_lane(
      info.Env(), LaneKind::kErase,
      [pool, user, budget_us, at] { return pool->drop_user(user, budget_us, at); },
      [](Napi::Env env, const Status&) { return env.Undefined(); });
}

Napi::Value kv_drop_version(const Napi::CallbackInfo& info) {
  const auto pool = open_pool_of(info[0]);
  const auto version = pool->find_version(text_of(info[1], "kvDropVersion.version"));
  if (version.has_value()) pool->retire(*version);
  return Napi::Boolean::New(info.Env(), version.has_value());
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
            return status.is_ok() ? to_js(env, *report) : env.Undefined();
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
