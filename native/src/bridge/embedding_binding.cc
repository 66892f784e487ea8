#include <memory>
#include <utility>
#include <vector>

#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/generated/objects.h"
#include "bridge/handles.h"
#include "bridge/lane.h"
#include "bridge/object_reader.h"

namespace tessera::bridge {
namespace {

Napi::Value embedder_open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  engine::EmbedderOptions options;
  read(env, info[0], "embedderOpen.options", options);
  auto handle = std::make_shared<EmbedderHandle>();
  return run_in_lane(
      env, LaneKind::kBuild,
      [handle, options]() -> Status {
        auto embedder = engine::Embedder::open(options);
        if (!embedder.is_ok()) return embedder.status();
        handle->embedder = std::move(embedder).value();
        return Status::ok();
      },
      [handle](Napi::Env settled, const Status&) -> Napi::Value {
        return wrap_embedder(settled, handle);
      });
}

Napi::Value embedder_info(const Napi::CallbackInfo& info) {
  return to_js(info.Env(), *open_embedder(info[0])->embedder);
}

Napi::Value embedder_embed(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::span<const uint32_t> tokens = read_u32s(info, 1, "embedderEmbed.tokens");
  const std::span<const uint32_t> offsets = read_u32s(info, 2, "embedderEmbed.offsets");
  const std::span<const uint32_t> seconds = read_u32s(info, 3, "embedderEmbed.seconds");
  const auto pass = std::make_shared<engine::EmbeddedPass>();
  return run_in_lane(
      env, LaneKind::kEmbed,
      [embedder = open_embedder(info[0])->embedder, pass,
       tokens = std::vector<int32_t>(tokens.begin(), tokens.end()),
       offsets = std::vector<uint32_t>(offsets.begin(), offsets.end()),
       seconds = std::vector<uint32_t>(seconds.begin(), seconds.end())]() -> Status {
        auto embedded = embedder->embed(tokens, offsets, seconds);
        if (!embedded.is_ok()) return embedded.status();
        *pass = std::move(embedded).value();
        return Status::ok();
      },
      [pass](Napi::Env settled, const Status&) -> Napi::Value { return to_js(settled, *pass); });
}

Napi::Value embedder_measure(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::span<const uint32_t> tokens = read_u32s(info, 1, "embedderMeasure.tokens");
  const std::span<const uint32_t> offsets = read_u32s(info, 2, "embedderMeasure.offsets");
  const auto made = std::make_shared<engine::MeasuredTexts>();
  return run_in_lane(
      env, LaneKind::kBuild,
      [embedder = open_embedder(info[0])->embedder, made,
       tokens = std::vector<int32_t>(tokens.begin(), tokens.end()),
       offsets = std::vector<uint32_t>(offsets.begin(), offsets.end())]() -> Status {
        auto measured = embedder->measure(tokens, offsets);
        if (!measured.is_ok()) return measured.status();
        *made = std::move(measured).value();
        return Status::ok();
      },
      [made](Napi::Env settled, const Status&) -> Napi::Value { return to_js(settled, *made); });
}

/// Passes under way keep the embedder; it closes with the last of them.
Napi::Value embedder_close(const Napi::CallbackInfo& info) {
  any_embedder(info[0])->embedder.reset();
  return info.Env().Undefined();
}

}  // namespace

void register_embedding_functions(Napi::Env env, Napi::Object exports) {
  exports["embedderOpen"] = Napi::Function::New<&embedder_open>(env, "embedderOpen");
  exports["embedderInfo"] = Napi::Function::New<&embedder_info>(env, "embedderInfo");
  exports["embedderEmbed"] = Napi::Function::New<&embedder_embed>(env, "embedderEmbed");
  exports["embedderMeasure"] = Napi::Function::New<&embedder_measure>(env, "embedderMeasure");
  exports["embedderClose"] = Napi::Function::New<&embedder_close>(env, "embedderClose");
}

}  // namespace tessera::bridge
