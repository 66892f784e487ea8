#include <napi.h>

#include <string>

#include "base/status.h"
#include "bridge/abi.h"
#include "bridge/bindings.h"

namespace tessera::bridge {
namespace {

Napi::Value abi_version(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), kAbiVersion);
}

Napi::Value build_info(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), std::string("g++ ") + __VERSION__);
}

Napi::Value describe_abi(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Napi::Object description = Napi::Object::New(env);
  description["version"] = Napi::Number::New(env, kAbiVersion);
  Napi::Array codes = Napi::Array::New(env);
  for (uint8_t code = 0; code <= static_cast<uint8_t>(Code::kInternal); ++code) {
    codes.Set(code, Napi::String::New(env, code_name(static_cast<Code>(code))));
  }
  description["codes"] = codes;
  description["functions"] = info.This().As<Napi::Object>().GetPropertyNames();
  Napi::Object structs = Napi::Object::New(env);
  for (const StructTable& table : kInputStructs) {
    Napi::Array fields = Napi::Array::New(env);
    for (uint32_t i = 0; i < table.fields.size(); ++i) {
      fields.Set(i, Napi::String::New(env, std::string(table.fields[i])));
    }
    structs[std::string(table.name)] = fields;
  }
  description["structs"] = structs;
  return description;
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  exports["abiVersion"] = Napi::Function::New<&abi_version>(env, "abiVersion");
  exports["buildInfo"] = Napi::Function::New<&build_info>(env, "buildInfo");
  exports["describeAbi"] = Napi::Function::New<&describe_abi>(env, "describeAbi");
  register_engine_functions(env, exports);
  register_update_functions(env, exports);
  register_adapter_functions(env, exports);
  register_kv_functions(env, exports);
  register_scales_functions(env, exports);
  register_catalogue_functions(env, exports);
  register_live_functions(env, exports);
  register_lane_functions(env, exports);
  register_store_functions(env, exports);
  return exports;
}

}  // namespace
}  // namespace tessera::bridge

static Napi::Object tessera_init(Napi::Env env, Napi::Object exports) {
  return tessera::bridge::init(env, exports);
}
NODE_API_MODULE(tessera, tessera_init)
