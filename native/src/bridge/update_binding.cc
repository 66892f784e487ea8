#include <chrono>
#include <memory>

#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/handles.h"
#include "bridge/lane.h"
#include "bridge/object_reader.h"
#include "bridge/object_writer.h"

namespace tessera::bridge {
namespace {

constexpr double kWaitUsMax = 1e12;

Napi::Value engine_update_weights(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto handle = open_engine(info[0]);
  if (!info[1].IsString()) {
    throw make_error(
        env, Code::kRequestInvalid,
        "engineUpdateWeights.folder: expected a string, got " + describe_value(info[1]));
  }
  const double wait_us = info[2].IsNumber() ? info[2].As<Napi::Number>().DoubleValue() : -1;
  if (!(wait_us >= 0 && wait_us <= kWaitUsMax)) {
    throw make_error(
        env, Code::kRequestInvalid,
        "engineUpdateWeights.waitUs: expected 0..1e12, got " + describe_value(info[2]));
  }
  auto report = std::make_shared<engine::UpdateReport>();
  return run_in_lane(
      env, LaneKind::kBuild,
      [handle, report, folder = info[1].As<Napi::String>().Utf8Value(), wait_us]() -> Status {
        auto updated = handle->engine->update_weights(
            folder, std::chrono::microseconds(static_cast<int64_t>(wait_us)));
        if (!updated.is_ok()) return updated.status();
        *report = std::move(updated).value();
        return Status::ok();
      },
      [report](Napi::Env settled, const Status& status) -> Napi::Value {
        if (!status.is_ok()) return settled.Undefined();
        return to_js(settled, *report);
      });
}

/// Digest and number of updates, of one moment.
Napi::Value engine_weights(const Napi::CallbackInfo& info) {
  return to_js(info.Env(), open_engine(info[0])->engine->weights());
}

}  // namespace

void register_update_functions(Napi::Env env, Napi::Object exports) {
  exports["engineUpdateWeights"] =
      Napi::Function::New<&engine_update_weights>(env, "engineUpdateWeights");
  exports["engineWeights"] = Napi::Function::New<&engine_weights>(env, "engineWeights");
}

}  // namespace tessera::bridge
