#include <string>

#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/generated/objects.h"
#include "bridge/lane.h"
#include "bridge/object_writer.h"

namespace tessera::bridge {
namespace {

constexpr uint32_t kThreadsMax = 64;
constexpr uint32_t kWaitingMax = 1'000'000;

void check_count(Napi::Env env, const char* field, uint32_t count, uint32_t max) {
  if (count >= 1 && count <= max) return;
  throw make_error(env, Code::kRequestInvalid,
                   std::string("tasksConfigure.options.") + field + ": expected 1.." +
                       std::to_string(max) + ", got " + std::to_string(count));
}

Napi::Value tasks_configure(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  LaneOptions options;
  read(env, info[0], "tasksConfigure.options", options);
  check_count(env, "servingThreads", options.serving.threads, kThreadsMax);
  check_count(env, "servingQueueMax", options.serving.waiting_max, kWaitingMax);
  check_count(env, "threads", options.rare.threads, kThreadsMax);
  check_count(env, "queueMax", options.rare.waiting_max, kWaitingMax);
  Lane::configure(env, options);
  return env.Undefined();
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
