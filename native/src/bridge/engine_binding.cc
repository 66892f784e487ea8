#include <algorithm>
#include <chrono>

#include "bridge/abi.h"
#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/handles.h"
#include "bridge/object_reader.h"
#include "bridge/submit_batch.h"
#include "bridge/task.h"

namespace tessera::bridge {
namespace {

constexpr std::string_view kComputeTypes[] = {"f32", "bf16", "w8a8"};
constexpr std::string_view kPlacements[] = {"pinned", "free"};
constexpr std::string_view kBatchings[] = {"continuous", "whole"};
constexpr std::string_view kSwitches[] = {"off", "on"};
constexpr std::string_view kBlockCodecs[] = {"exact", "int8"};
constexpr std::string_view kEvictions[] = {"lru", "segmented-lru"};
constexpr std::string_view kMemories[] = {"pageable", "locked"};
constexpr std::string_view kRefusals[] = {"ok", "queue-full", "draining"};
constexpr uint32_t kStatsSlots = 14;

engine::KvOptions read_kv_options(const ObjectReader& reader) {
  engine::KvOptions kv;
  kv.is_enabled = reader.choice("kvPool", kSwitches) == 1;
  kv.device_bytes = reader.u53("kvDeviceBytes");
  kv.host_bytes = reader.u53("kvHostBytes");
  kv.disk_bytes = reader.u53("kvDiskBytes");
  kv.folder = reader.string("kvFolder");
  kv.disk_reserve_bytes = reader.u53("kvDiskReserveBytes");
  kv.codec = static_cast<engine::KvCodec>(reader.choice("kvBlockCodec", kBlockCodecs));
  kv.versions_back_max = reader.u32("kvVersionsBackMax");
  kv.eviction = static_cast<kv::EvictionKind>(reader.choice("kvEviction", kEvictions));
  kv.read_threads = reader.u32("kvReadThreads");
  kv.store_queue_max = reader.u32("kvStoreQueueMax");
  kv.prefetch_queue_max = reader.u32("kvPrefetchQueueMax");
  kv.locks_memory = reader.choice("kvMemory", kMemories) == 1;
  return kv;
}

engine::EngineOptions read_options(Napi::Env env, const Napi::Value& value) {
  const ObjectReader reader(env, value, "engineOpen.options", kEngineOptionsFields);
  engine::EngineOptions options;
  options.model_path = reader.string("modelPath");
  options.device = reader.string("device");
  options.compute_type =
      static_cast<model::ComputeType>(reader.choice("computeType", kComputeTypes));
  options.activation_scales_path = reader.string("activationScalesPath");
  options.thread_count = reader.u32("threadCount");
  options.thread_placement =
      static_cast<engine::ThreadPlacement>(reader.choice("threadPlacement", kPlacements));
  options.queue_capacity = reader.u32("queueCapacity");
  options.batch_requests_max = reader.u32("batchRequestsMax");
  options.batch_rows_max = reader.u32("batchRowsMax");
  options.prefill_chunk_tokens = reader.u32("prefillChunkTokens");
  options.pass_time_target_us = reader.u32("passTimeTargetUs");
  options.continuous_batching = reader.choice("batching", kBatchings) == 0;
  options.kv_bytes_max = reader.u53("kvBytesMax");
  options.kv = read_kv_options(reader);
  options.prompt_tokens_max = reader.u32("promptTokensMax");
  options.width_max = reader.u32("widthMax");
  options.result_count_max = reader.u32("resultCountMax");
  options.score_items_max = reader.u32("scoreItemsMax");
  options.adapter_bytes_max = reader.u53("adapterBytesMax");
  return options;
}

Napi::Value engine_open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const engine::EngineOptions options = read_options(env, info[0]);
  if (!info[1].IsFunction()) {
    throw make_error(
        env, Code::kRequestInvalid,
        "engineOpen.onCompletions: expected a function, got " + describe_value(info[1]));
  }
  auto handle = std::make_shared<EngineHandle>();
  handle->channel = CompletionChannel::create(env, info[1].As<Napi::Function>());
  return Task::start_long(
      env, LaneKind::kBuild,
      [handle, options]() -> Status {
        auto engine = engine::Engine::open(options, *handle->channel);
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

Napi::Object describe(Napi::Env env, const model::ModelConfig& config) {
  Napi::Object result = Napi::Object::New(env);
  result["family"] = Napi::String::New(env, std::string(config.family->model_type));
  result["vocabSize"] = Napi::Number::New(env, config.vocab_size);
  result["hiddenSize"] = Napi::Number::New(env, config.hidden_size);
  result["layerCount"] = Napi::Number::New(env, config.layer_count);
  result["maxPositions"] = Napi::Number::New(env, config.max_positions);
  result["parameterCount"] =
      Napi::Number::New(env, static_cast<double>(model::Recipe(config).parameter_count()));
  return result;
}

Napi::Value model_shape(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsString()) {
    throw make_error(env, Code::kRequestInvalid,
                     "modelShape.modelPath: expected a string, got " + describe_value(info[0]));
  }
  const auto config = model::ModelConfig::load(info[0].As<Napi::String>().Utf8Value());
  if (!config.is_ok()) throw make_error(env, config.status());
  return describe(env, config.value());
}

Napi::Value engine_model(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto handle = open_engine(info[0]);
  const engine::ServedModel model = handle->engine->model();
  Napi::Object result = describe(env, model.config);
  result["digest"] = Napi::String::New(env, model.digest);
  result["computeType"] = Napi::String::New(env, model.compute_type);
  result["kvBytesPerPosition"] = Napi::Number::New(env, static_cast<double>(model.position_bytes));
  result["instructionSet"] = Napi::String::New(env, model.device);
  return result;
}

Napi::Value engine_bind(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto handle = open_engine(info[0]);
  const auto catalogue = open_catalogue(info[1]);
  const ObjectReader reader(env, info[2], "engineBind.options", kBindingOptionsFields);
  const std::span<const uint32_t> offsets = reader.u32_array("levelOffsets");
  const std::span<const int32_t> tokens = reader.i32_array("levelTokens");
  const std::span<const int32_t> terminal = reader.i32_array("terminalTokens");
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != tokens.size() ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    reader.fail("levelOffsets", "ascending offsets from 0 to levelTokens.length");
  }
  std::vector<std::vector<int32_t>> levels;
  for (size_t l = 0; l + 1 < offsets.size(); ++l) {
    levels.emplace_back(tokens.begin() + offsets[l], tokens.begin() + offsets[l + 1]);
  }
  auto binding = engine::Binding::create(handle->engine->model().config, catalogue->live,
                                         std::move(levels), {terminal.begin(), terminal.end()});
  if (!binding.is_ok()) throw make_error(env, binding.status());
  const std::string template_digest = reader.string("templateDigest");
  const std::string codebook_digest = reader.string("codebookDigest");
  auto version = handle->engine->add_version(template_digest, codebook_digest, "");
  if (!version.is_ok()) throw make_error(env, version.status());
  catalogue->is_bound = true;
  auto& slots = handle->bindings;
  auto free_slot = std::find_if(slots.begin(), slots.end(),
                                [](const BoundCatalogue& slot) { return slot.binding == nullptr; });
  if (free_slot == slots.end()) free_slot = slots.insert(slots.end(), BoundCatalogue{});
  *free_slot = {std::move(binding).value(), version.value(), template_digest, codebook_digest};
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
  std::vector<engine::Request> requests = read_batch(env, info[1], *handle);
  read_reaches(env, info[2], requests);
  const engine::SubmitOutcome outcome = handle->engine->submit(std::move(requests));
  Napi::Object result = Napi::Object::New(env);
  result["accepted"] = Napi::Number::New(env, outcome.accepted);
  result["reason"] =
      Napi::String::New(env, std::string(kRefusals[static_cast<size_t>(outcome.refusal)]));
  result["retryAfterUs"] = Napi::Number::New(env, outcome.retry_after_us);
  return result;
}

Napi::Value engine_cancel(const Napi::CallbackInfo& info) {
  const auto handle = open_engine(info[0]);
  if (!info[1].IsTypedArray() ||
      info[1].As<Napi::TypedArray>().TypedArrayType() != napi_uint32_array) {
    throw make_error(
        info.Env(), Code::kRequestInvalid,
        "engineCancel.tickets: expected a Uint32Array, got " + describe_value(info[1]));
  }
  const auto tickets = info[1].As<Napi::Uint32Array>();
  handle->engine->cancel({tickets.Data(), tickets.ElementLength()});
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
  return Task::start_long(
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
  return Task::start_long(
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
  const auto handle = open_engine(info[0]);
  if (!info[1].IsTypedArray() ||
      info[1].As<Napi::TypedArray>().TypedArrayType() != napi_float64_array ||
      info[1].As<Napi::Float64Array>().ElementLength() != kStatsSlots) {
    throw make_error(info.Env(), Code::kRequestInvalid,
                     "engineStats.into: expected a Float64Array of " + std::to_string(kStatsSlots) +
                         " slots, got " + describe_value(info[1]));
  }
  const engine::Stats stats = handle->engine->stats();
  const uint64_t slots[kStatsSlots] = {stats.queued,
                                       stats.running,
                                       stats.submitted,
                                       stats.completed,
                                       stats.failed,
                                       stats.cancelled,
                                       stats.expired,
                                       stats.prefill_tokens,
                                       stats.decode_tokens,
                                       stats.forward_passes,
                                       stats.prefix_reused_tokens,
                                       stats.rolled_back_tokens,
                                       stats.predicted_us,
                                       stats.actual_us};
  auto into = info[1].As<Napi::Float64Array>();
  std::transform(slots, slots + kStatsSlots, into.Data(),
                 [](uint64_t slot) { return static_cast<double>(slot); });
  return info.Env().Undefined();
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
}

}  // namespace tessera::bridge
