#include "bridge/submit_batch.h"

#include <algorithm>
#include <cmath>

#include "bridge/abi.h"
#include "bridge/errors.h"
#include "bridge/handles.h"
#include "bridge/object_reader.h"

namespace tessera::bridge {
namespace {

constexpr double kDeadlineUsMax = 86'400e6;  // a day: longer budgets mean the same

template <typename T>
void require_length(const ObjectReader& reader, std::string_view field, std::span<const T> values,
                    size_t expected) {
  if (values.size() != expected) reader.fail(field, std::to_string(expected) + " elements");
}

void require_offsets(const ObjectReader& reader, std::string_view field,
                     std::span<const uint32_t> offsets, size_t count, size_t values) {
  require_length(reader, field, offsets, count + 1);
  if (offsets.front() != 0 || offsets.back() != values ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    reader.fail(field, "ascending offsets from 0 to " + std::to_string(values));
  }
}

engine::Clock::time_point deadline_of(engine::Clock::time_point now, double budget_us) {
  const double bounded = std::clamp(budget_us, 0.0, kDeadlineUsMax);
  return now + std::chrono::microseconds(static_cast<int64_t>(bounded));
}

/// The fields of SubmitBatch, their lengths and offsets checked.
struct BatchArrays {
  std::span<const uint32_t> tickets, bindings, adapters;
  std::span<const uint8_t> kinds, priorities;
  std::span<const uint32_t> prompt_offsets;
  std::span<const int32_t> prompt_tokens;
  std::vector<std::string> users;
  std::span<const uint32_t> prefix_tokens, keep_tokens;
  std::span<const uint8_t> exact_kv;
  std::span<const uint32_t> width_offsets, widths, result_counts, items_per_sid;
  std::span<const uint8_t> partials;
  std::span<const uint32_t> watched_items;
  std::span<const uint8_t> trees;
  std::span<const uint32_t> sid_offsets, code_offsets, sid_codes;
  std::span<const uint8_t> norms;
  std::span<const double> budgets_us;
};

BatchArrays read_arrays(const ObjectReader& reader) {
  BatchArrays arrays;
  arrays.tickets = reader.u32_array("tickets");
  arrays.bindings = reader.u32_array("bindings");
  arrays.adapters = reader.u32_array("adapters");
  arrays.kinds = reader.u8_array("kinds");
  arrays.priorities = reader.u8_array("priorities");
  arrays.prompt_offsets = reader.u32_array("promptOffsets");
  arrays.prompt_tokens = reader.i32_array("promptTokens");
  arrays.users = reader.strings("users");
  arrays.prefix_tokens = reader.u32_array("prefixTokens");
  arrays.keep_tokens = reader.u32_array("keepTokens");
  arrays.exact_kv = reader.u8_array("exactKv");
  arrays.width_offsets = reader.u32_array("widthOffsets");
  arrays.widths = reader.u32_array("widths");
  arrays.result_counts = reader.u32_array("resultCounts");
  arrays.items_per_sid = reader.u32_array("itemsPerSid");
  arrays.partials = reader.u8_array("partials");
  arrays.watched_items = reader.u32_array("watchedItems");
  arrays.trees = reader.u8_array("trees");
  arrays.sid_offsets = reader.u32_array("sidOffsets");
  arrays.code_offsets = reader.u32_array("codeOffsets");
  arrays.sid_codes = reader.u32_array("sidCodes");
  arrays.norms = reader.u8_array("scoreNorms");
  arrays.budgets_us = reader.f64_array("budgetsUs");
  const size_t count = arrays.tickets.size();
  require_length(reader, "bindings", arrays.bindings, count);
  require_length(reader, "adapters", arrays.adapters, count);
  require_length(reader, "kinds", arrays.kinds, count);
  require_length(reader, "priorities", arrays.priorities, count);
  require_offsets(reader, "promptOffsets", arrays.prompt_offsets, count,
                  arrays.prompt_tokens.size());
  require_length(reader, "users", std::span<const std::string>(arrays.users), count);
  require_length(reader, "prefixTokens", arrays.prefix_tokens, count);
  require_length(reader, "keepTokens", arrays.keep_tokens, count);
  require_length(reader, "exactKv", arrays.exact_kv, count);
  require_offsets(reader, "widthOffsets", arrays.width_offsets, count, arrays.widths.size());
  require_length(reader, "resultCounts", arrays.result_counts, count);
  require_length(reader, "itemsPerSid", arrays.items_per_sid, count);
  require_length(reader, "partials", arrays.partials, count);
  require_length(reader, "watchedItems", arrays.watched_items, count);
  require_length(reader, "trees", arrays.trees, count);
  if (arrays.code_offsets.empty()) reader.fail("codeOffsets", "at least one offset");
  require_offsets(reader, "sidOffsets", arrays.sid_offsets, count, arrays.code_offsets.size() - 1);
  require_offsets(reader, "codeOffsets", arrays.code_offsets, arrays.code_offsets.size() - 1,
                  arrays.sid_codes.size());
  require_length(reader, "scoreNorms", arrays.norms, count);
  require_length(reader, "budgetsUs", arrays.budgets_us, count);
  return arrays;
}

/// Copies what belongs to request i.
void fill(const BatchArrays& arrays, size_t i, engine::Request& request) {
  const auto part = [i](const auto& values, std::span<const uint32_t> offsets) {
    return values.subspan(offsets[i], offsets[i + 1] - offsets[i]);
  };
  request.ticket = arrays.tickets[i];
  request.task = engine::task_of(arrays.kinds[i]);
  request.priority = arrays.priorities[i];
  const auto prompt = part(arrays.prompt_tokens, arrays.prompt_offsets);
  request.prompt.assign(prompt.begin(), prompt.end());
  request.kv.user = arrays.users[i];
  request.kv.prefix_tokens = arrays.prefix_tokens[i];
  request.kv.keep_tokens = arrays.keep_tokens[i];
  request.kv.wants_exact = arrays.exact_kv[i] != 0;
  const auto widths = part(arrays.widths, arrays.width_offsets);
  request.widths.assign(widths.begin(), widths.end());
  request.result_count = arrays.result_counts[i];
  request.items_per_sid = arrays.items_per_sid[i];
  request.allows_partial = arrays.partials[i] != 0;
  request.watched_item = arrays.watched_items[i];
  request.wants_tree = arrays.trees[i] != 0;
  request.norm = static_cast<beam::ScoreNorm>(arrays.norms[i]);
  const uint32_t first_code = arrays.code_offsets[arrays.sid_offsets[i]];
  const uint32_t end_code = arrays.code_offsets[arrays.sid_offsets[i + 1]];
  const auto codes = arrays.sid_codes.subspan(first_code, end_code - first_code);
  request.sid_codes.assign(codes.begin(), codes.end());
  for (uint32_t s = arrays.sid_offsets[i]; s <= arrays.sid_offsets[i + 1]; ++s)
    request.sid_offsets.push_back(arrays.code_offsets[s] - first_code);
}

}  // namespace

std::vector<engine::Request> read_batch(Napi::Env env, const Napi::Value& value,
                                        EngineHandle& handle) {
  const ObjectReader reader(env, value, "engineSubmit.batch", kSubmitBatchFields);
  const std::span<const BoundCatalogue> bindings = handle.bindings;
  const BatchArrays arrays = read_arrays(reader);
  const engine::Clock::time_point now = engine::Clock::now();
  std::vector<engine::Request> requests(arrays.tickets.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    const uint32_t slot = arrays.bindings[i];
    if (slot >= bindings.size() || bindings[slot].binding == nullptr) {
      throw make_error(env, Code::kRequestInvalid,
                       "engineSubmit.batch.bindings[" + std::to_string(i) +
                           "]: expected the slot of a binding, got " + std::to_string(slot));
    }
    if (engine::task_of(arrays.kinds[i]) == nullptr ||
        arrays.norms[i] > static_cast<uint8_t>(beam::ScoreNorm::kAllowed) ||
        std::isnan(arrays.budgets_us[i])) {
      throw make_error(env, Code::kRequestInvalid,
                       "engineSubmit.batch[" + std::to_string(i) +
                           "]: kind, scoreNorm or budgetUs out of range");
    }
    requests[i].binding = bindings[slot].binding;
    const uint32_t adapter = arrays.adapters[i];
    if (!is_adapter_slot(handle, adapter)) {
      throw make_error(env, Code::kRequestInvalid,
                       "engineSubmit.batch.adapters[" + std::to_string(i) +
                           "]: expected the slot of a loaded adapter, got " +
                           std::to_string(adapter));
    }
    if (adapter != kNoAdapter) requests[i].adapter = handle.adapters[adapter].adapter;
    const auto version = version_of(handle, bindings[slot], adapter);
    if (!version.is_ok()) throw make_error(env, version.status());
    requests[i].kv.version = version.value();
    requests[i].deadline = deadline_of(now, arrays.budgets_us[i]);
    fill(arrays, i, requests[i]);
  }
  return requests;
}

void read_reaches(Napi::Env env, const Napi::Value& value, std::span<engine::Request> requests) {
  const auto fail = [&](const std::string& place, const std::string& expected) {
    throw make_error(env, Code::kRequestInvalid,
                     "engineSubmit.reaches" + place + ": expected " + expected);
  };
  const auto reaches = value.IsArray() ? value.As<Napi::Array>() : Napi::Array::New(env);
  if (!value.IsArray() || reaches.Length() != requests.size()) {
    fail("", "an array of " + std::to_string(requests.size()));
  }
  for (uint32_t i = 0; i < requests.size(); ++i) {
    const Napi::Value entry = reaches.Get(i);
    if (entry.IsNull()) continue;
    const auto handle = any_reach(entry);
    if (&requests[i].binding->catalogue() != handle->live.get()) {
      fail("[" + std::to_string(i) + "]", "one of the binding's catalogue");
    }
    requests[i].reach = handle->reach;
    requests[i].item_policy = handle->item_policy;
  }
}

}  // namespace tessera::bridge
