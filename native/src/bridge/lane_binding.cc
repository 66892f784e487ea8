#include <string>

#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/generated/objects.h"
#include "bridge/lane.h"
#include "bridge/object_reader.h"
#include "bridge/object_writer.h"

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

Napi::Value tasks_depths(const Napi::CallbackInfo& info) {
  std::vector<NamedDepth> depths;
  for (size_t i = 0; i < kLaneNames.size(); ++i) {
    depths.push_back({kLaneNames[i], Lane::of(info.Env(), static_cast<LaneKind>(i)).depth()});
  }
  return to_js(info.Env(), depths);
}

}  // namespace

void register_lane_functions(Napi::Env env, Napi::Object exports) {
  exports["tasksConfigure"] = Napi::Function::New<&tasks_configure>(env, "tasksConfigure");
  exports["tasksDepths"] = Napi::Function::New<&tasks_depths>(env, "tasksDepths");
}

}  // namespace tessera::bridge
