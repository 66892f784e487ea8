#include <memory>

#include "abi/generated/packed_in.h"
#include "abi/generated/packed_out.h"
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
using store::Found;
using store::OrderedStore;
using store::Query;

/// Arguments 1 and 2, a packed record (native/abi/store.mjs).
template <typename Record>
Record read_packed(const Napi::CallbackInfo& info, const char* field,
                   void (*read_fields)(abi::PackedReader&, Record&)) {
  abi::PackedReader in(packed_words(info[1], info[2], field));
  Record record;
  read_fields(in, record);
  if (in.is_whole()) return record;
  throw make_error(
      info.Env(), Code::kRequestInvalid,
      std::string(field) + ": expected a record as native/abi describes it, got " + "other words");
}

Napi::Value write_found(Napi::Env env, const Found& found) {
  abi::PackedWriter out;
  abi::write_store_found(out, found);
  return to_js(env, out.end());
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
  Query query = read_packed(info, "storeRead.words", &abi::read_store_query);
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
  Batch batch = read_packed(info, "storeWrite.words", &abi::read_store_batch);
  return run_in_lane(
      env, LaneKind::kWrite,
      [opened = open_store(info[0])->store, batch = std::move(batch)]() -> Status {
        return opened->write(batch);
      },
      [](Napi::Env settled, const Status&) -> Napi::Value { return settled.Undefined(); });
}

/// (store, words): the ranges of a query without keys.
Napi::Value store_scrub(const Napi::CallbackInfo& info) {
  Query query = read_packed(info, "storeScrub.words", &abi::read_store_query);
  return run_in_lane(
      info.Env(), LaneKind::kBuild,
      [opened = open_store(info[0])->store, query = std::move(query)]() -> Status {
        return opened->scrub(query.ranges);
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
  exports["storeScrub"] = Napi::Function::New<&store_scrub>(env, "storeScrub");
  exports["storeState"] = Napi::Function::New<&store_state>(env, "storeState");
  exports["storeRecover"] = Napi::Function::New<&store_recover>(env, "storeRecover");
  exports["storeClose"] = Napi::Function::New<&store_close>(env, "storeClose");
  exports["storeRepair"] = Napi::Function::New<&repair<repair_ordered_store>>(env, "storeRepair");
  exports["catalogueRepair"] = Napi::Function::New<&repair<repair_changes>>(env, "catalogueRepair");
}

}  // namespace tessera::bridge
