#include <string>

#include "bridge/abi.h"
#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/lane.h"
#include "bridge/object_reader.h"

namespace tessera::bridge {
namespace {

constexpr uint32_t kThreadsMax = 64;
constexpr uint32_t kWaitingMax = 1'000'000;

uint32_t count_of(const Napi::Value& value, const char* field, uint32_t max) {
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : 0;
  if (number >= 1 && number <= max && number == static_cast<uint32_t>(number)) {
    return static_cast<uint32_t>(number);
  }
  throw make_error(value.Env(), Code::kRequestInvalid,
                   std::string(field) + ": expected 1.." + std::to_string(max) + ", got " +
                       describe_value(value));
}

Napi::Value tasks_configure(const Napi::CallbackInfo& info) {
  const uint32_t threads = count_of(info[0], "tasksConfigure.threads", kThreadsMax);
  const uint32_t waiting = count_of(info[1], "tasksConfigure.waitingMax", kWaitingMax);
  Lane::configure(info.Env(), {threads, waiting});
  return info.Env().Undefined();
}

/// By lane: how many wait, how many run.
Napi::Value tasks_depths(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  auto depths = Napi::Uint32Array::New(env, 2 * kLaneNames.size());
  for (size_t i = 0; i < kLaneNames.size(); ++i) {
    const LaneDepth depth = Lane::of(env, static_cast<LaneKind>(i)).depth();
    depths[2 * i] = depth.waiting;
    depths[2 * i + 1] = depth.running;
  }
  return depths;
}

}  // namespace

void register_lane_functions(Napi::Env env, Napi::Object exports) {
  exports["tasksConfigure"] = Napi::Function::New<&tasks_configure>(env, "tasksConfigure");
  exports["tasksDepths"] = Napi::Function::New<&tasks_depths>(env, "tasksDepths");
}

}  // namespace tessera::bridge
