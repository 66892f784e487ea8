#include "bridge/submit_requests.h"

#include <algorithm>
#include <cmath>

#include "abi/generated/packed_in.h"
#include "bridge/errors.h"
#include "bridge/object_reader.h"
#include "engine/tasks/task.h"

namespace tessera::bridge {
namespace {

constexpr double kDeadlineUsMax = 86'400e6;  // a day: longer budgets mean the same

engine::Clock::time_point deadline_of(engine::Clock::time_point now, double budget_us) {
  const double bounded = std::clamp(budget_us, 0.0, kDeadlineUsMax);
  return now + std::chrono::microseconds(static_cast<int64_t>(bounded));
}

[[noreturn]] void fail(Napi::Env env, size_t index, const std::string& problem) {
  throw make_error(env, Code::kRequestInvalid,
                   "engineSubmit.requests[" + std::to_string(index) + "]" + problem);
}

const BoundCatalogue& bound_of(Napi::Env env, size_t index, uint32_t slot, bool needs_binding,
                               EngineHandle& handle) {
  if (slot == kNoBinding && !needs_binding) {
    const auto unbound = unbound_of(handle);
    if (!unbound.is_ok()) throw make_error(env, unbound.status());
    return *unbound.value();
  }
  if (slot >= handle.bindings.size() || !handle.bindings[slot].binding) {
    fail(env, index, ".binding: expected the slot of a binding, got " + std::to_string(slot));
  }
  return handle.bindings[slot];
}

/// Binding, adapter and the version that keys and values are found under.
void resolve(Napi::Env env, size_t index, const abi::RequestHead& head, EngineHandle& handle,
             engine::Request& request) {
  const bool needs_binding = request.task->needs().has_binding;
  const BoundCatalogue& bound = bound_of(env, index, head.binding, needs_binding, handle);
  if (!is_adapter_slot(handle, head.adapter)) {
    fail(env, index,
         ".adapter: expected the slot of a loaded adapter, got " + std::to_string(head.adapter));
  }
  request.binding = bound.binding;
  if (head.adapter != kNoAdapter) request.adapter = handle.adapters[head.adapter].adapter;
  const auto version = version_of(handle, bound, head.adapter);
  if (!version.is_ok()) throw make_error(env, version.status());
  request.kv.version = version.value();
  if (request.ranking.slot == kNoAdapter) return;
  if (!is_adapter_slot(handle, request.ranking.slot)) {
    fail(env, index,
         ".rankSlot: expected the slot of a loaded adapter, got " +
             std::to_string(request.ranking.slot));
  }
  request.ranking.adapter = handle.adapters[request.ranking.slot].adapter;
}

}  // namespace

std::vector<engine::Request> read_requests(const Napi::Value& value, const Napi::Value& count,
                                           EngineHandle& handle) {
  std::span<const uint32_t> words = packed_words(value, count, "engineSubmit.words");
  const engine::Clock::time_point now = engine::Clock::now();
  std::vector<engine::Request> requests;
  while (!words.empty()) {
    const size_t index = requests.size();
    engine::Request& request = requests.emplace_back();
    abi::PackedReader in(words);
    abi::RequestHead head;
    abi::read_request_head(in, head);
    abi::read_request_work(in, request);
    abi::kReadRequest[head.kind](in, request);
    if (!in.is_whole() || std::isnan(head.budget_us)) {
      fail(value.Env(), index, ": expected a request as native/abi describes it, got other words");
    }
    request.ticket = head.ticket;
    request.task = engine::task_of(head.kind);
    request.deadline = deadline_of(now, head.budget_us);
    resolve(value.Env(), index, head, handle, request);
    words = words.subspan(in.size());
  }
  return requests;
}

void read_reaches(Napi::Env env, const Napi::Value& value, std::span<engine::Request> requests) {
  const auto fail_at = [&](const std::string& place, const std::string& expected) {
    throw make_error(env, Code::kRequestInvalid,
                     "engineSubmit.reaches" + place + ": expected " + expected);
  };
  const auto reaches = value.IsArray() ? value.As<Napi::Array>() : Napi::Array::New(env);
  if (!value.IsArray() || reaches.Length() != requests.size()) {
    fail_at("", "an array of " + std::to_string(requests.size()));
  }
  for (uint32_t i = 0; i < requests.size(); ++i) {
    const Napi::Value entry = reaches.Get(i);
    if (entry.IsNull()) continue;
    const auto handle = any_reach(entry);
    if (requests[i].binding == nullptr) {
      fail_at("[" + std::to_string(i) + "]", "null of a request without a binding");
    }
    if (&requests[i].binding->catalogue() != handle->live.get()) {
      fail_at("[" + std::to_string(i) + "]", "one of the binding's catalogue");
    }
    requests[i].reach = handle->reach;
    requests[i].explore.reach = handle->drawn;
    requests[i].explore.items = handle->drawn_items;
    requests[i].item_policy = handle->item_policy;
    requests[i].appraiser = handle->appraiser;
  }
}

}  // namespace tessera::bridge
