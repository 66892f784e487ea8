#include <algorithm>
#include <array>
#include <memory>

#include "bridge/abi.h"
#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/handles.h"
#include "bridge/object_reader.h"
#include "bridge/task.h"
#include "catalogue/repair_changes.h"
#include "store/ordered_store.h"
#include "store/repair_store.h"

namespace tessera::bridge {
namespace {

using store::Batch;
using store::Entry;
using store::OrderedStore;
using store::Range;

constexpr std::array<std::string_view, 2> kDirections = {"ascending", "descending"};
constexpr std::array<std::string_view, 2> kDurabilities = {"process", "machine"};

/// Byte strings laid end to end: string i is bytes[offsets[i] .. offsets[i + 1]).
std::vector<std::string> read_strings(const ObjectReader& reader, std::string_view offsets_field,
                                      std::string_view bytes_field) {
  const std::span<const uint32_t> offsets = reader.u32_array(offsets_field);
  const std::span<const uint8_t> bytes = reader.u8_array(bytes_field);
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != bytes.size() ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    reader.fail(offsets_field, "ascending offsets from 0 to the number of bytes");
  }
  std::vector<std::string> strings;
  strings.reserve(offsets.size() - 1);
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    strings.emplace_back(bytes.begin() + offsets[i], bytes.begin() + offsets[i + 1]);
  }
  return strings;
}

std::string bytes_of(std::span<const uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

/// `string_at(i)` for i below `count`, laid end to end into result[offsets] and result[bytes].
template <typename StringAt>
void write_strings(Napi::Object result, const char* offsets, const char* bytes, size_t count,
                   const StringAt& string_at) {
  const Napi::Env env = result.Env();
  size_t total = 0;
  for (size_t i = 0; i < count; ++i) total += string_at(i).size();
  auto starts = Napi::Uint32Array::New(env, count + 1);
  auto flat = Napi::Uint8Array::New(env, total);
  uint32_t at = 0;
  starts[0] = 0;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view string = string_at(i);
    std::copy(string.begin(), string.end(), flat.Data() + at);
    at += static_cast<uint32_t>(string.size());
    starts[i + 1] = at;
  }
  result[offsets] = starts;
  result[bytes] = flat;
}

Napi::Value store_open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const ObjectReader reader(env, info[0], "storeOpen.options", kStoreOpenOptionsFields);
  store::StoreOptions options;
  options.folder = reader.string("path");
  options.reserve_bytes = reader.u53("reserveBytes");
  auto handle = std::make_shared<StoreHandle>();
  return Task::start_long(
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

Napi::Value store_get(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const ObjectReader reader(env, info[1], "storeGet.keys", kStoreKeysFields);
  auto values = std::make_shared<std::vector<std::optional<std::string>>>();
  return Task::start(
      env,
      [opened = open_store(info[0])->store, values,
       keys = read_strings(reader, "offsets", "bytes")]() -> Status {
        auto found = opened->get(keys);
        if (!found.is_ok()) return found.status();
        *values = std::move(found).value();
        return Status::ok();
      },
      [values](Napi::Env settled, const Status&) -> Napi::Value {
        Napi::Object result = Napi::Object::New(settled);
        auto present = Napi::Uint8Array::New(settled, values->size());
        for (size_t i = 0; i < values->size(); ++i) present[i] = (*values)[i].has_value() ? 1 : 0;
        result["present"] = present;
        write_strings(result, "offsets", "bytes", values->size(), [&](size_t i) {
          const auto& value = (*values)[i];
          return value ? std::string_view(*value) : std::string_view();
        });
        return result;
      });
}

Napi::Value store_scan(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const ObjectReader reader(env, info[1], "storeScan.range", kStoreRangeFields);
  Range range{bytes_of(reader.u8_array("from")), bytes_of(reader.u8_array("to")),
              reader.u32("limit"), reader.choice("direction", kDirections) == 1};
  auto entries = std::make_shared<std::vector<Entry>>();
  return Task::start(
      env,
      [opened = open_store(info[0])->store, entries, range = std::move(range)]() -> Status {
        auto scanned = opened->scan(range);
        if (!scanned.is_ok()) return scanned.status();
        *entries = std::move(scanned).value();
        return Status::ok();
      },
      [entries](Napi::Env settled, const Status&) -> Napi::Value {
        Napi::Object result = Napi::Object::New(settled);
        write_strings(result, "keyOffsets", "keys", entries->size(),
                      [&](size_t i) { return std::string_view((*entries)[i].first); });
        write_strings(result, "valueOffsets", "values", entries->size(),
                      [&](size_t i) { return std::string_view((*entries)[i].second); });
        return result;
      });
}

Napi::Value store_write(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const ObjectReader reader(env, info[1], "storeWrite.batch", kStoreBatchFields);
  Batch batch;
  batch.erased = read_strings(reader, "erasedOffsets", "erased");
  std::vector<std::string> keys = read_strings(reader, "keyOffsets", "keys");
  std::vector<std::string> values = read_strings(reader, "valueOffsets", "values");
  if (keys.size() != values.size()) reader.fail("valueOffsets", "as many values as keys");
  for (size_t i = 0; i < keys.size(); ++i) {
    batch.put.emplace_back(std::move(keys[i]), std::move(values[i]));
  }
  batch.durable = reader.choice("durability", kDurabilities) == 1;
  return Task::start(
      env,
      [opened = open_store(info[0])->store, batch = std::move(batch)]() -> Status {
        return opened->write(batch);
      },
      [](Napi::Env settled, const Status&) -> Napi::Value { return settled.Undefined(); });
}

Napi::Value store_state(const Napi::CallbackInfo& info) {
  const store::StoreState state = open_store(info[0])->store->state();
  Napi::Object result = Napi::Object::New(info.Env());
  result["health"] = Napi::Number::New(info.Env(), static_cast<double>(state.health));
  result["reason"] = Napi::String::New(info.Env(), state.reason);
  return result;
}

Napi::Value store_recover(const Napi::CallbackInfo& info) {
  return Task::start(
      info.Env(), [opened = open_store(info[0])->store]() -> Status { return opened->recover(); },
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
  return Task::start(
      env,
      [report, path = info[0].As<Napi::String>().Utf8Value(),
       is_applied = info[1].As<Napi::Boolean>().Value()]() -> Status {
        auto repaired = kRepair(path, is_applied);
        if (!repaired.is_ok()) return repaired.status();
        *report = std::move(repaired).value();
        return Status::ok();
      },
      [report](Napi::Env settled, const Status&) -> Napi::Value {
        Napi::Object result = Napi::Object::New(settled);
        result["damage"] = Napi::String::New(settled, report->damage);
        result["acknowledged"] =
            Napi::Number::New(settled, static_cast<double>(report->acknowledged));
        result["readable"] = Napi::Number::New(settled, static_cast<double>(report->readable));
        result["isGathered"] = Napi::Boolean::New(settled, report->is_gathered);
        result["keysLeft"] = Napi::Number::New(settled, static_cast<double>(report->keys_left));
        result["aside"] = Napi::String::New(settled, report->aside);
        return result;
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
  exports["storeGet"] = Napi::Function::New<&store_get>(env, "storeGet");
  exports["storeScan"] = Napi::Function::New<&store_scan>(env, "storeScan");
  exports["storeWrite"] = Napi::Function::New<&store_write>(env, "storeWrite");
  exports["storeState"] = Napi::Function::New<&store_state>(env, "storeState");
  exports["storeRecover"] = Napi::Function::New<&store_recover>(env, "storeRecover");
  exports["storeClose"] = Napi::Function::New<&store_close>(env, "storeClose");
  exports["storeRepair"] = Napi::Function::New<&repair<repair_ordered_store>>(env, "storeRepair");
  exports["catalogueRepair"] = Napi::Function::New<&repair<repair_changes>>(env, "catalogueRepair");
}

}  // namespace tessera::bridge
