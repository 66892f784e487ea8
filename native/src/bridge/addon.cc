#include <napi.h>

#include <string>

#include "base/status.h"
#include "bridge/bindings.h"
#include "bridge/generated/digest.h"
#include "bridge/generated/objects.h"
#include "bridge/object_writer.h"
#include "platform/cpus.h"

namespace tessera::bridge {
namespace {

Napi::Value build_info(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), std::string("g++ ") + __VERSION__);
}

Napi::Value describe_abi(const Napi::CallbackInfo& info) {
  AbiDescription description;
  description.digest = kAbiDigest;
  for (uint8_t code = 0; code <= static_cast<uint8_t>(Code::kInternal); ++code) {
    description.codes.emplace_back(code_name(static_cast<Code>(code)));
  }
  const Napi::Array names = info.This().As<Napi::Object>().GetPropertyNames();
  for (uint32_t i = 0; i < names.Length(); ++i) {
    description.functions.push_back(names.Get(i).As<Napi::String>().Utf8Value());
  }
  description.structs.assign(kReadStructs.begin(), kReadStructs.end());
  return to_js(info.Env(), description);
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  // Of the process's first thread alone: loaded in another one, it would hold that one back.
  if (platform::is_first_thread()) platform::keep_other_threads_from_preempting();
  exports["buildInfo"] = Napi::Function::New<&build_info>(env, "buildInfo");
  exports["describeAbi"] = Napi::Function::New<&describe_abi>(env, "describeAbi");
  register_engine_functions(env, exports);
  register_update_functions(env, exports);
  register_adapter_functions(env, exports);
  register_kv_functions(env, exports);
  register_link_functions(env, exports);
  register_scales_functions(env, exports);
  register_embedding_functions(env, exports);
  register_catalogue_functions(env, exports);
  register_live_functions(env, exports);
  register_reach_functions(env, exports);
  register_lane_functions(env, exports);
  register_folder_functions(env, exports);
  register_store_functions(env, exports);
  return exports;
}

}  // namespace
}  // namespace tessera::bridge

static Napi::Object tessera_init(Napi::Env env, Napi::Object exports) {
  return tessera::bridge::init(env, exports);
}
NODE_API_MODULE(tessera, tessera_init)
