#include <algorithm>
#include <array>
#include <memory>

#include "bridge/abi.h"
#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/handles.h"
#include "bridge/object_reader.h"
#include "bridge/task.h"
#include "store/ordered_store.h"

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
  if (!info[0].IsString()) {
    throw make_error(env, Code::kRequestInvalid,
                     "storeOpen.path: expected a string, came " + describe_value(info[0]));
  }
  auto handle = std::make_shared<StoreHandle>();
  return Task::start(
      env,
      [handle, path = info[0].As<Napi::String>().Utf8Value()]() -> Status {
        auto opened = OrderedStore::open(path);
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
  exports["storeClose"] = Napi::Function::New<&store_close>(env, "storeClose");
}

}  // namespace tessera::bridge
