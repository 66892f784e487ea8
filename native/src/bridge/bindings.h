// The functions of abi.ts, one registration per group.
#pragma once

#include <napi.h>

namespace tessera::bridge {

void register_engine_functions(Napi::Env env, Napi::Object exports);
void register_update_functions(Napi::Env env, Napi::Object exports);
void register_adapter_functions(Napi::Env env, Napi::Object exports);
void register_kv_functions(Napi::Env env, Napi::Object exports);
void register_scales_functions(Napi::Env env, Napi::Object exports);
void register_embedding_functions(Napi::Env env, Napi::Object exports);
void register_catalogue_functions(Napi::Env env, Napi::Object exports);
void register_live_functions(Napi::Env env, Napi::Object exports);
void register_reach_functions(Napi::Env env, Napi::Object exports);
void register_store_functions(Napi::Env env, Napi::Object exports);
void register_folder_functions(Napi::Env env, Napi::Object exports);
void register_lane_functions(Napi::Env env, Napi::Object exports);
void register_link_functions(Napi::Env env, Napi::Object exports);

}  // namespace tessera::bridge
