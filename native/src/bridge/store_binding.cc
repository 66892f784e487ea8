#include <algorithm>
#include <array>
#include <memory>

#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/generated/objects.h"
#include "bridge/handles.h"
#include "bridge/lane.h"
#include "bridge/object_reader.h"
#include "bridge/object_writer.h"
#include "catalogue/repair_changes.h"
#include "store/ordered_store.h"
#include "store/repair_store.h"

namespace tessera::bridge {
namespace {

using store::Batch;
using store::Entry;
using store::Found;
using store::OrderedStore;
using store::Query;

/// Byte strings laid end to end: string i is bytes[offsets[i] .. offsets[i + 1]).
std::vector<std::string> read_strings(Napi::Env env, std::span<const uint32_t> offsets,
                                      std::span<const uint8_t> bytes, const char* field) {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != bytes.size() ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    throw make_error(env, Code::kRequestInvalid,
                     std::string("storeWrite.batch.") + field +
                         ": expected ascending offsets from 0 to the number of bytes");
  }
  std::vector<std::string> strings;
  strings.reserve(offsets.size() - 1);
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    strings.emplace_back(bytes.begin() + offsets[i], bytes.begin() + offsets[i + 1]);
  }
  return strings;
}

[[noreturn]] void fail_query(Napi::Env env) {
  throw make_error(env, Code::kRequestInvalid,
                   "storeRead.head: expected counts, a limit and a direction for each range, and "
                   "ascending offsets of all strings from 0 to the number of bytes");
}

/// Not an object of named fields: reading those takes longer than reading the store.
Query read_query(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto is_array = [](const Napi::Value& value, napi_typedarray_type type) {
    return value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == type;
  };
  if (!is_array(info[1], napi_uint32_array) || !is_array(info[2], napi_uint8_array)) {
    fail_query(env);
  }
  const auto head_array = info[1].As<Napi::Uint32Array>();
  const auto byte_array = info[2].As<Napi::Uint8Array>();
  const std::span<const uint32_t> head(head_array.Data(), head_array.ElementLength());
  const auto* bytes = reinterpret_cast<const char*>(byte_array.Data());
  if (head.size() < 3) fail_query(env);
  const size_t key_count = head[0];
  const size_t range_count = head[1];
  const size_t string_count = key_count + 2 * range_count;
  if (head.size() != 2 + 2 * range_count + string_count + 1) fail_query(env);
  const std::span<const uint32_t> offsets = head.last(string_count + 1);
  if (offsets.front() != 0 || offsets.back() != byte_array.ElementLength() ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    fail_query(env);
  }
  const auto string_at = [&](size_t i) {
    return std::string(bytes + offsets[i], bytes + offsets[i + 1]);
  };
  Query query;
  for (size_t i = 0; i < key_count; ++i) query.keys.push_back(string_at(i));
  for (size_t i = 0; i < range_count; ++i) {
    const size_t from = key_count + 2 * i;
    query.ranges.push_back(
        {string_at(from), string_at(from + 1), head[2 + 2 * i], head[3 + 2 * i] != 0});
  }
  return query;
}

/// Calls `take` with each string of an answer, in the order in which they are laid end to end.
template <typename Take>
void each_string(const Found& found, const Take& take) {
  for (const auto& value : found.values) take(value ? std::string_view(*value) : "");
  for (const auto& entries : found.entries) {
    for (const Entry& entry : entries) {
      take(entry.first);
      take(entry.second);
    }
  }
}

/// Words of 32 bits (which keys are there, how many entries each range has, offsets), then bytes.
Napi::Value write_found(Napi::Env env, const Found& found) {
  size_t strings = 0;
  size_t total = 0;
  each_string(found, [&](std::string_view string) {
    ++strings;
    total += string.size();
  });
  const size_t words = found.values.size() + found.entries.size() + strings + 1;
  auto result = Napi::Uint8Array::New(env, words * sizeof(uint32_t) + total);
  auto* word = reinterpret_cast<uint32_t*>(result.Data());
  char* byte = reinterpret_cast<char*>(word + words);
  for (const auto& value : found.values) *word++ = value ? 1 : 0;
  for (const auto& entries : found.entries) *word++ = static_cast<uint32_t>(entries.size());
  uint32_t end = 0;
  *word++ = 0;
  each_string(found, [&](std::string_view string) {
    byte = std::copy(string.begin(), string.end(), byte);
    end += static_cast<uint32_t>(string.size());
    *word++ = end;
  });
  return result;
}

Napi::Value store_open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  store::StoreOptions options;
  read(env, info[0], "storeOpen.options", options);
  auto handle = std::make_shared<StoreHandle>();
  return run_in_lane(
      env, LaneKind::kBuild,
      [handle, options]() -> Status {
        auto opened = OrderedStore::open(options);
        if (!opened.is_ok()) return opened.status();
        handle->store = std::move(opened).value();
        return Status::ok();
      },
      [handle](Napi::Env settled, const Status& status) -> Napi::Value {
        return status.is_ok() ? wrap_store(settled, handle) : settled.Undefined();
      });
}

/// On this thread where all of it is in memory: a turn of another thread takes longer than reading.
Napi::Value store_read(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Query query = read_query(info);
  std::shared_ptr<OrderedStore> opened = open_store(info[0])->store;
  const std::optional<Found> at_once = opened->read_in_memory(query);
  if (at_once) return write_found(env, *at_once);
  auto found = std::make_shared<Found>();
  return run_in_lane(
      env, LaneKind::kRead,
      [opened, found, query = std::move(query)]() -> Status {
        auto read = opened->read(query);
        if (!read.is_ok()) return read.status();
        *found = std::move(read).value();
        return Status::ok();
      },
      [found](Napi::Env settled, const Status&) -> Napi::Value {
        return write_found(settled, *found);
      });
}

Napi::Value store_write(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  StoreBatch given;
  read(env, info[1], "storeWrite.batch", given);
  Batch batch;
  batch.erased = read_strings(env, given.erased_offsets, given.erased, "erasedOffsets");
  auto keys = read_strings(env, given.key_offsets, given.keys, "keyOffsets");
  auto values = read_strings(env, given.value_offsets, given.values, "valueOffsets");
  if (keys.size() != values.size()) {
    throw make_error(env, Code::kRequestInvalid,
                     "storeWrite.batch.valueOffsets: expected as many values as keys, got " +
                         std::to_string(values.size()));
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    batch.put.emplace_back(std::move(keys[i]), std::move(values[i]));
  }
  batch.durable = given.durability == 1;
  return run_in_lane(
      env, LaneKind::kWrite,
      [opened = open_store(info[0])->store, batch = std::move(batch)]() -> Status {
        return opened->write(batch);
      },
      [](Napi::Env settled, const Status&) -> Napi::Value { return settled.Undefined(); });
}

Napi::Value store_state(const Napi::CallbackInfo& info) {
  return to_js(info.Env(), open_store(info[0])->store->state());
}

Napi::Value store_recover(const Napi::CallbackInfo& info) {
  return run_in_lane(
      info.Env(), LaneKind::kBuild,
      [opened = open_store(info[0])->store]() -> Status { return opened->recover(); },
      [](Napi::Env settled, const Status&) -> Napi::Value { return settled.Undefined(); });
}

using Repair = Result<store::StoreRepair> (*)(const std::string& path, bool is_applied);

Result<store::StoreRepair> repair_ordered_store(const std::string& path, bool is_applied) {
  return store::repair_store(path,
                             is_applied ? store::RepairMode::kApply : store::RepairMode::kLook);
}

Result<store::StoreRepair> repair_changes(const std::string& path, bool is_applied) {
  using catalogue::ChangesRepairMode;
  auto repaired = catalogue::repair_changes(
      path, is_applied ? ChangesRepairMode::kApply : ChangesRepairMode::kLook);
  if (!repaired.is_ok()) return repaired.status();
  store::StoreRepair report;
  report.damage = repaired.value().damage;
  report.acknowledged = repaired.value().acknowledged;
  report.readable = repaired.value().readable;
  report.aside = repaired.value().aside;
  return report;
}

template <Repair kRepair>
Napi::Value repair(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsString() || !info[1].IsBoolean()) {
    throw make_error(env, Code::kRequestInvalid, "repair: expected a path and whether to apply it");
  }
  auto report = std::make_shared<store::StoreRepair>();
  return run_in_lane(
      env, LaneKind::kBuild,
      [report, path = info[0].As<Napi::String>().Utf8Value(),
       is_applied = info[1].As<Napi::Boolean>().Value()]() -> Status {
        auto repaired = kRepair(path, is_applied);
        if (!repaired.is_ok()) return repaired.status();
        *report = std::move(repaired).value();
        return Status::ok();
      },
      [report](Napi::Env settled, const Status&) -> Napi::Value {
        return to_js(settled, *report);
      });
}

/// Calls under way keep the store; it closes with the last of them.
Napi::Value store_close(const Napi::CallbackInfo& info) {
  any_store(info[0])->store.reset();
  return info.Env().Undefined();
}

}  // namespace

void register_store_functions(Napi::Env env, Napi::Object exports) {
  exports["storeOpen"] = Napi::Function::New<&store_open>(env, "storeOpen");
  exports["storeRead"] = Napi::Function::New<&store_read>(env, "storeRead");
  exports["storeWrite"] = Napi::Function::New<&store_write>(env, "storeWrite");
  exports["storeState"] = Napi::Function::New<&store_state>(env, "storeState");
  exports["storeRecover"] = Napi::Function::New<&store_recover>(env, "storeRecover");
  exports["storeClose"] = Napi::Function::New<&store_close>(env, "storeClose");
  exports["storeRepair"] = Napi::Function::New<&repair<repair_ordered_store>>(env, "storeRepair");
  exports["catalogueRepair"] = Napi::Function::New<&repair<repair_changes>>(env, "catalogueRepair");
}

}  // namespace tessera::bridge
