#include <algorithm>
#include <chrono>

#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/generated/objects.h"
#include "bridge/handles.h"
#include "bridge/lane.h"
#include "bridge/links.h"
#include "bridge/object_reader.h"
#include "bridge/object_writer.h"
#include "bridge/submit_requests.h"
#include "cuda/engine/open_on_card.h"

namespace tessera::bridge {
namespace {

Napi::Value engine_open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  engine::EngineOptions options;
  read(env, info[0], "engineOpen.options", options);
  for (const int32_t number : options.kv.shared_links) {
    auto link = find_link(static_cast<uint32_t>(number));
    if (link == nullptr) {
      throw make_error(
          env, Code::kRequestInvalid,
          "engineOpen.options.kvSharedLinks: expected open links, got " + std::to_string(number));
    }
    options.kv.shared.push_back(std::move(link));
  }
  if (!info[1].IsFunction()) {
    throw make_error(
        env, Code::kRequestInvalid,
        "engineOpen.onCompletions: expected a function, got " + describe_value(info[1]));
  }
  auto handle = std::make_shared<EngineHandle>();
  handle->channel = CompletionChannel::create(env, info[1].As<Napi::Function>());
  return run_in_lane(
      env, LaneKind::kBuild,
      [handle, options]() -> Status {
        auto engine = engine::Engine::open(options, *handle->channel, &engine::cuda::open_on_card);
        if (!engine.is_ok()) return engine.status();
        handle->engine = std::move(engine).value();
        return Status::ok();
      },
      [handle](Napi::Env settled, const Status& status) -> Napi::Value {
        if (!status.is_ok()) {
          handle->close();
          return settled.Undefined();
        }
        // Before Node tears the environment down, the engine's thread must be gone.
        settled.AddCleanupHook(
            [](std::weak_ptr<EngineHandle>* weak) {
              if (auto open = weak->lock()) open->engine->close();
              delete weak;
            },
            new std::weak_ptr<EngineHandle>(handle));
        return wrap_engine(settled, handle);
      });
}

Napi::Value model_shape(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsString()) {
    throw make_error(env, Code::kRequestInvalid,
                     "modelShape.modelPath: expected a string, got " + describe_value(info[0]));
  }
  const auto config = model::ModelConfig::load(info[0].As<Napi::String>().Utf8Value());
  if (!config.is_ok()) throw make_error(env, config.status());
  return to_js(env, config.value());
}

Napi::Value engine_model(const Napi::CallbackInfo& info) {
  return to_js(info.Env(), open_engine(info[0])->engine->model());
}

Napi::Value engine_bind(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto handle = open_engine(info[0]);
  const auto catalogue = open_catalogue(info[1]);
  BindingOptions given;
  read(env, info[2], "engineBind.options", given);
  const std::span<const uint32_t> offsets = given.level_offsets;
  const std::span<const int32_t> tokens = given.level_tokens;
  const std::span<const int32_t> terminal = given.terminal_tokens;
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != tokens.size() ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    throw make_error(env, Code::kRequestInvalid,
                     "engineBind.options.levelOffsets: expected ascending offsets from 0 to "
                     "levelTokens.length");
  }
  std::vector<std::vector<int32_t>> levels;
  for (size_t l = 0; l + 1 < offsets.size(); ++l) {
    levels.emplace_back(tokens.begin() + offsets[l], tokens.begin() + offsets[l + 1]);
  }
  const engine::ServedModel& model = handle->engine->model();
  auto binding = engine::Binding::create(model.config, catalogue->live, std::move(levels),
                                         {terminal.begin(), terminal.end()}, model.vocabulary);
  if (!binding.is_ok()) throw make_error(env, binding.status());
  auto version = handle->engine->add_version(given.template_digest, given.codebook_digest, "");
  if (!version.is_ok()) throw make_error(env, version.status());
  catalogue->is_bound = true;
  auto& slots = handle->bindings;
  auto free_slot = std::find_if(slots.begin(), slots.end(),
                                [](const BoundCatalogue& slot) { return slot.binding == nullptr; });
  if (free_slot == slots.end()) free_slot = slots.insert(slots.end(), BoundCatalogue{});
  *free_slot = {std::move(binding).value(), version.value(), given.template_digest,
                given.codebook_digest};
  return Napi::Number::New(env, static_cast<double>(free_slot - slots.begin()));
}

Napi::Value engine_unbind(const Napi::CallbackInfo& info) {
  const auto handle = open_engine(info[0]);
  *bound_slot(*handle, info[1], "engineUnbind.binding") = {};
  return info.Env().Undefined();
}

Napi::Value engine_submit(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto handle = open_engine(info[0]);
  std::vector<engine::Request> requests = read_requests(info[1], info[2], *handle);
  read_reaches(env, info[3], requests);
  return to_js(env, handle->engine->submit(std::move(requests)));
}

Napi::Value engine_cancel(const Napi::CallbackInfo& info) {
  const auto handle = open_engine(info[0]);
  handle->engine->cancel(read_u32s(info, 1, "engineCancel.tickets"));
  return info.Env().Undefined();
}

Napi::Value engine_drain(const Napi::CallbackInfo& info) {
  const auto handle = open_engine(info[0]);
  const double budget_us = info[1].IsNumber() ? info[1].As<Napi::Number>().DoubleValue() : -1;
  if (!(budget_us >= 0 && budget_us <= 1e15)) {
    throw make_error(info.Env(), Code::kRequestInvalid,
                     "engineDrain.budgetUs: expected 0..1e15, got " + describe_value(info[1]));
  }
  handle->engine->refuse_new();  // from this call on, not from when the task gets its turn
  return run_in_lane(
      info.Env(), LaneKind::kEnd,
      [handle, budget_us] {
        handle->engine->drain(std::chrono::microseconds(static_cast<int64_t>(budget_us)));
        return Status::ok();
      },
      [](Napi::Env env, const Status&) { return env.Undefined(); });
}

Napi::Value engine_close(const Napi::CallbackInfo& info) {
  const auto handle = any_engine(info[0]);
  handle->closed = true;
  return run_in_lane(
      info.Env(), LaneKind::kEnd,
      [handle] {
        handle->engine->close();
        return Status::ok();
      },
      [handle](Napi::Env env, const Status&) {
        handle->close();
        handle->bindings.clear();
        handle->adapters.clear();
        return env.Undefined();
      });
}

Napi::Value engine_stats(const Napi::CallbackInfo& info) {
  return to_js(info.Env(), open_engine(info[0])->engine->stats());
}

Napi::Value engine_forecast(const Napi::CallbackInfo& info) {
  return to_js(info.Env(), open_engine(info[0])->engine->forecast());
}

}  // namespace

void register_engine_functions(Napi::Env env, Napi::Object exports) {
  exports["modelShape"] = Napi::Function::New<&model_shape>(env, "modelShape");
  exports["engineOpen"] = Napi::Function::New<&engine_open>(env, "engineOpen");
  exports["engineModel"] = Napi::Function::New<&engine_model>(env, "engineModel");
  exports["engineBind"] = Napi::Function::New<&engine_bind>(env, "engineBind");
  exports["engineUnbind"] = Napi::Function::New<&engine_unbind>(env, "engineUnbind");
  exports["engineSubmit"] = Napi::Function::New<&engine_submit>(env, "engineSubmit");
  exports["engineCancel"] = Napi::Function::New<&engine_cancel>(env, "engineCancel");
  exports["engineDrain"] = Napi::Function::New<&engine_drain>(env, "engineDrain");
  exports["engineClose"] = Napi::Function::New<&engine_close>(env, "engineClose");
  exports["engineStats"] = Napi::Function::New<&engine_stats>(env, "engineStats");
  exports["engineForecast"] = Napi::Function::New<&engine_forecast>(env, "engineForecast");
}

}  // namespace tessera::bridge
