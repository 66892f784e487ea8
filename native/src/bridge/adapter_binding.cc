// Adapters: loaded off the JavaScript thread and off the engine's, named by a slot.
#include <algorithm>
#include <memory>
#include <string>

#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/generated/objects.h"
#include "bridge/handles.h"
#include "bridge/lane.h"
#include "bridge/object_reader.h"
#include "bridge/object_writer.h"

namespace tessera::bridge {
namespace {

/// The slot of an adapter that was just loaded: that of the same one, or a free one.
uint32_t slot_for(EngineHandle& handle, std::shared_ptr<const lora::Adapter> adapter) {
  auto& slots = handle.adapters;
  auto slot = std::find_if(slots.begin(), slots.end(),
                           [&](const LoadedAdapter& loaded) { return loaded.adapter == adapter; });
  if (slot == slots.end()) {
    slot = std::find_if(slots.begin(), slots.end(),
                        [](const LoadedAdapter& loaded) { return loaded.loads == 0; });
  }
  if (slot == slots.end()) slot = slots.insert(slots.end(), LoadedAdapter{});
  slot->adapter = std::move(adapter);
  slot->loads += 1;
  return static_cast<uint32_t>(slot - slots.begin());
}

Napi::Value engine_load_adapter(const Napi::CallbackInfo& info) {
  const auto handle = open_engine(info[0]);
  if (!info[1].IsString()) {
    throw make_error(info.Env(), Code::kRequestInvalid,
                     "engineLoadAdapter.folder: expected a string, got " + describe_value(info[1]));
  }
  const std::string folder = info[1].As<Napi::String>().Utf8Value();
  lora::Limits limits;
  read(info.Env(), info[2], "engineLoadAdapter.limits", limits);
  auto loaded = std::make_shared<std::shared_ptr<const lora::Adapter>>();
  return run_in_lane(
      info.Env(), LaneKind::kBuild,
      [handle, folder, limits, loaded]() -> Status {
        auto adapter = handle->engine->load_adapter(folder, limits);
        if (!adapter.is_ok()) return adapter.status();
        *loaded = std::move(adapter).value();
        return Status::ok();
      },
      [handle, loaded](Napi::Env env, const Status& status) -> Napi::Value {
        if (!status.is_ok()) return env.Undefined();
        const Napi::Value result =
            to_js(env, LoadedSlot{slot_for(*handle, *loaded), (*loaded)->summary()});
        loaded->reset();
        return result;
      });
}

/// With the last load nothing names it any more, and its keys and values are found no more.
Napi::Value engine_release_adapter(const Napi::CallbackInfo& info) {
  const auto handle = open_engine(info[0]);
  const uint32_t slot = adapter_slot(*handle, info[1], "engineReleaseAdapter.slot");
  if (slot == kNoAdapter) return info.Env().Undefined();
  LoadedAdapter& loaded = handle->adapters[slot];
  if (--loaded.loads > 0) return info.Env().Undefined();
  for (const LoadedAdapter::Prompts& prompts : loaded.prompts)
    handle->engine->drop_version(prompts.version);
  loaded = {};
  return info.Env().Undefined();
}

Napi::Value engine_succeed_adapter(const Napi::CallbackInfo& info) {
  const auto handle = open_engine(info[0]);
  const uint32_t slot = adapter_slot(*handle, info[1], "engineSucceedAdapter.slot");
  const uint32_t before = adapter_slot(*handle, info[2], "engineSucceedAdapter.predecessor");
  if (slot == kNoAdapter || before == kNoAdapter) {
    throw make_error(info.Env(), Code::kRequestInvalid,
                     "engineSucceedAdapter.slot, predecessor: expected adapters, got the base "
                     "model, which follows and precedes none");
  }
  handle->engine->succeed(handle->adapters[slot].adapter->summary().digest,
                          handle->adapters[before].adapter->summary().digest);
  // Known before its first request: what it may inherit is not given up meanwhile.
  for (const LoadedAdapter::Prompts& prompts : handle->adapters[before].prompts) {
    const BoundCatalogue bound{nullptr, 0, prompts.template_digest, prompts.codebook_digest};
    const auto version = version_of(*handle, bound, slot);
    if (!version.is_ok()) throw make_error(info.Env(), version.status());
  }
  return info.Env().Undefined();
}

Napi::Value engine_adapter_arena(const Napi::CallbackInfo& info) {
  return to_js(info.Env(), open_engine(info[0])->engine->adapter_arena());
}

}  // namespace

void register_adapter_functions(Napi::Env env, Napi::Object exports) {
  exports["engineLoadAdapter"] =
      Napi::Function::New<&engine_load_adapter>(env, "engineLoadAdapter");
  exports["engineReleaseAdapter"] =
      Napi::Function::New<&engine_release_adapter>(env, "engineReleaseAdapter");
  exports["engineSucceedAdapter"] =
      Napi::Function::New<&engine_succeed_adapter>(env, "engineSucceedAdapter");
  exports["engineAdapterArena"] =
      Napi::Function::New<&engine_adapter_arena>(env, "engineAdapterArena");
}

}  // namespace tessera::bridge
