#include <algorithm>
#include <array>

#include "abi/generated/packed_in.h"
#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/generated/objects.h"
#include "bridge/handles.h"
#include "bridge/lane.h"
#include "bridge/object_reader.h"
#include "bridge/object_writer.h"
#include "catalogue/given_change.h"

namespace tessera::bridge {
namespace {

Napi::Value number(Napi::Env env, uint64_t value) {
  return Napi::Number::New(env, static_cast<double>(value));
}

/// Packed messages (native/abi/catalogue.mjs), copied.
std::vector<std::vector<uint32_t>> read_messages(const Napi::Value& value, const char* path) {
  std::vector<std::vector<uint32_t>> messages;
  const uint32_t count = value.IsArray() ? value.As<Napi::Array>().Length() : 0;
  for (uint32_t i = 0; i < count; ++i) {
    const Napi::Value words = value.As<Napi::Array>().Get(i);
    if (!words.IsTypedArray() ||
        words.As<Napi::TypedArray>().TypedArrayType() != napi_uint32_array) {
      break;
    }
    const auto array = words.As<Napi::Uint32Array>();
    messages.emplace_back(array.Data(), array.Data() + array.ElementLength());
  }
  if (!messages.empty() && messages.size() == count) return messages;
  throw make_error(
      value.Env(), Code::kRequestInvalid,
      std::string(path) + ": expected an array of Uint32Array, got " + describe_value(value));
}

/// Appends the changes of a message to those of the batch before it.
Status read_changes(std::span<const uint32_t> words, std::vector<catalogue::GivenChange>& changes) {
  abi::PackedReader in(words);
  abi::ChangeMessage message;
  abi::read_change_message(in, message);
  if (!in.is_whole()) {
    return {Code::kRequestInvalid,
            "catalogueApply.messages: expected changes as native/abi describes them, got others"};
  }
  const size_t room = catalogue::kBatchChangesMax - changes.size();
  if (message.changes.size() > std::min<size_t>(catalogue::kChangesMax, room)) {
    return {Code::kCatalogueInvalid,
            "changes: expected at most " + std::to_string(catalogue::kChangesMax) +
                " in a message and " + std::to_string(catalogue::kBatchChangesMax) + " in a batch"};
  }
  for (catalogue::GivenChange& change : message.changes) {
    TESSERA_RETURN_IF_ERROR(catalogue::complete_change(changes.size(), change));
    changes.push_back(std::move(change));
  }
  return Status::ok();
}

/// A task that gives a number.
Napi::Value start_counting(Napi::Env env, LaneKind kind, std::function<Result<uint64_t>()> work) {
  auto result = std::make_shared<uint64_t>(0);
  return run_in_lane(
      env, kind,
      [result, work = std::move(work)]() -> Status {
        Result<uint64_t> done = work();
        if (!done.is_ok()) return done.status();
        *result = done.value();
        return Status::ok();
      },
      [result](Napi::Env settled, const Status&) { return number(settled, *result); });
}

Napi::Value catalogue_keep(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto handle = open_catalogue(info[0]);
  catalogue::LiveOptions options;
  read(env, info[1], "catalogueKeep.options", options);
  if (handle->is_bound || handle->live->view()->sequence() > 0) {
    throw make_error(env, Code::kRequestInvalid,
                     "catalogueKeep: expected a catalogue that is neither bound nor changed");
  }
  auto opened = std::make_shared<std::shared_ptr<catalogue::LiveCatalogue>>();
  return run_in_lane(
      env, LaneKind::kBuild,
      [seed = handle->seed, options, opened]() -> Status {
        auto live = catalogue::LiveCatalogue::open(seed, options);
        if (!live.is_ok()) return live.status();
        *opened = std::move(live).value();
        return Status::ok();
      },
      [handle, opened](Napi::Env settled, const Status& status) -> Napi::Value {
        if (status.is_ok()) handle->live = *opened;
        return settled.Undefined();
      });
}

Napi::Value catalogue_why_not_written(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), open_catalogue(info[0])->live->why_not_written());
}

Napi::Value catalogue_recover(const Napi::CallbackInfo& info) {
  return run_in_lane(
      info.Env(), LaneKind::kBuild,
      [live = open_catalogue(info[0])->live]() -> Status { return live->recover_writing(); },
      [](Napi::Env settled, const Status&) -> Napi::Value { return settled.Undefined(); });
}

Napi::Value catalogue_state(const Napi::CallbackInfo& info) {
  const auto handle = open_catalogue(info[0]);
  const auto view = handle->live->view();
  const catalogue::RecoveryReport& recovery = handle->live->recovery();
  return to_js(info.Env(),
               CatalogueState{view->sequence(), view->mark(), std::string(view->base().digest()),
                              view->live_item_count(), view->item_changes().size(),
                              view->sequence() - view->base_sequence(), view->base().item_count(),
                              recovery.replayed_changes, recovery.cut_bytes});
}

Napi::Value catalogue_apply(const Napi::CallbackInfo& info) {
  const auto handle = open_catalogue(info[0]);
  auto messages = read_messages(info[1], "catalogueApply.messages");
  std::string mark = read_text(info, 2, "catalogueApply.mark");
  auto applied = std::make_shared<catalogue::Applied>();
  return run_in_lane(
      info.Env(), LaneKind::kChange,
      [live = handle->live, messages = std::move(messages), mark = std::move(mark),
       applied]() -> Status {
        std::vector<catalogue::GivenChange> changes;
        for (const std::vector<uint32_t>& message : messages) {
          TESSERA_RETURN_IF_ERROR(read_changes(message, changes));
        }
        Result<catalogue::Applied> done = live->apply(changes, mark);
        if (!done.is_ok()) return done.status();
        *applied = std::move(done).value();
        return Status::ok();
      },
      [applied](Napi::Env env, const Status&) -> Napi::Value { return to_js(env, *applied); });
}

Napi::Value catalogue_digest(const Napi::CallbackInfo& info) {
  const auto handle = open_catalogue(info[0]);
  auto digest = std::make_shared<catalogue::Digest>();
  return run_in_lane(
      info.Env(), LaneKind::kRead,
      [live = handle->live, digest]() -> Status {
        *digest = live->digest();
        return Status::ok();
      },
      [digest](Napi::Env env, const Status&) -> Napi::Value { return to_js(env, *digest); });
}

/// Declarations as native/abi describes them, in one packed record.
Napi::Value catalogue_declare(const Napi::CallbackInfo& info) {
  const auto handle = open_catalogue(info[0]);
  auto messages = read_messages(info[1], "catalogueDeclare.declarations");
  auto findings = std::make_shared<std::vector<std::string>>();
  return run_in_lane(
      info.Env(), LaneKind::kBuild,
      [live = handle->live, messages = std::move(messages), findings]() -> Status {
        abi::PackedReader in(messages.front());
        abi::AttributeDeclarations given;
        abi::read_attribute_declarations(in, given);
        if (!in.is_whole()) {
          return {Code::kRequestInvalid,
                  "catalogueDeclare.declarations: expected what native/abi describes, got others"};
        }
        auto schema = catalogue::AttributeSchema::make(given.attributes);
        if (!schema.is_ok()) return schema.status();
        auto found = live->declare(std::move(schema).value());
        if (!found.is_ok()) return found.status();
        *findings = std::move(found).value();
        return Status::ok();
      },
      [findings](Napi::Env env, const Status&) -> Napi::Value { return to_js(env, *findings); });
}

/// Codebooks as native/abi describes them, in one packed record.
Napi::Value catalogue_quantise_by(const Napi::CallbackInfo& info) {
  const auto handle = open_catalogue(info[0]);
  auto messages = read_messages(info[1], "catalogueQuantiseBy.codebooks");
  return run_in_lane(
      info.Env(), LaneKind::kBuild,
      [live = handle->live, messages = std::move(messages)]() -> Status {
        abi::PackedReader in(messages.front());
        catalogue::GivenCodebooks given;
        abi::read_given_codebooks(in, given);
        if (!in.is_whole()) {
          return {Code::kRequestInvalid,
                  "catalogueQuantiseBy.codebooks: expected what native/abi describes, got others"};
        }
        auto codebooks = catalogue::Codebooks::make(std::move(given));
        return codebooks.is_ok() ? live->quantise_by(std::move(codebooks).value())
                                 : codebooks.status();
      },
      [](Napi::Env env, const Status&) -> Napi::Value { return env.Undefined(); });
}

CatalogueLanding landing_of(const catalogue::Landing& found, const catalogue::View& view) {
  CatalogueLanding landing;
  landing.sequence = view.sequence();
  landing.codes = found.nearest.codes;
  landing.distances.assign(found.nearest.distances.begin(), found.nearest.distances.end());
  landing.sid = found.sid;
  catalogue::SidList sids;
  std::array<uint32_t, catalogue::kMaxDepth> sid;
  for (const catalogue::ItemOrdinal item : found.neighbours) {
    landing.item_ids.emplace_back(view.item_id(item));
    landing.titles.emplace_back(view.title(item));
    sids.add(std::span(sid).first(view.sid(view.node_of(item), sid)));
  }
  landing.sid_offsets = std::move(sids.offsets);
  landing.sid_codes = std::move(sids.codes);
  landing.shared_levels = found.shared_levels;
  return landing;
}

Napi::Value catalogue_landing(const Napi::CallbackInfo& info) {
  const auto handle = open_catalogue(info[0]);
  const std::span<const float> given = read_f32s(info, 1, "catalogueLanding.vector");
  std::vector<float> vector(given.begin(), given.end());
  const uint32_t neighbours =
      read_count(info, 2, "catalogueLanding.neighbours", catalogue::kNeighboursMax);
  auto landing = std::make_shared<CatalogueLanding>();
  return run_in_lane(
      info.Env(), LaneKind::kRead,
      [live = handle->live, vector = std::move(vector), neighbours, landing]() -> Status {
        auto found = live->landing(vector, neighbours);
        if (!found.is_ok()) return found.status();
        *landing = landing_of(found.value().first, *found.value().second);
        return Status::ok();
      },
      [landing](Napi::Env env, const Status&) -> Napi::Value { return to_js(env, *landing); });
}

Napi::Value catalogue_fly(const Napi::CallbackInfo& info) {
  open_catalogue(info[0])->live->fly({read_text(info, 1, "catalogueFly.beginAttribute"),
                                      read_text(info, 2, "catalogueFly.endAttribute")});
  return info.Env().Undefined();
}

Napi::Value catalogue_compact(const Napi::CallbackInfo& info) {
  const auto handle = open_catalogue(info[0]);
  return start_counting(info.Env(), LaneKind::kBuild, [live = handle->live]() -> Result<uint64_t> {
    TESSERA_RETURN_IF_ERROR(live->compact({}));
    return live->view()->sequence();
  });
}

Napi::Value catalogue_roll_back(const Napi::CallbackInfo& info) {
  const auto handle = open_catalogue(info[0]);
  const double sequence = info[1].IsNumber() ? info[1].As<Napi::Number>().DoubleValue() : -1;
  if (!(sequence >= 0 && sequence <= 9007199254740991.0)) {
    throw make_error(info.Env(), Code::kRequestInvalid,
                     "catalogueRollBack.sequence: expected an integer from 0 on, got " +
                         describe_value(info[1]));
  }
  return start_counting(info.Env(), LaneKind::kChange, [live = handle->live, sequence] {
    return live->roll_back(static_cast<uint64_t>(sequence));
  });
}

Napi::Value catalogue_versions(const Napi::CallbackInfo& info) {
  const auto handle = open_catalogue(info[0]);
  auto found = std::make_shared<std::vector<catalogue::Generation>>();
  return run_in_lane(
      info.Env(), LaneKind::kBuild,
      [live = handle->live, found]() -> Status {
        auto generations = live->generations();
        if (!generations.is_ok()) return generations.status();
        *found = std::move(generations).value();
        return Status::ok();
      },
      [found](Napi::Env env, const Status&) -> Napi::Value { return to_js(env, *found); });
}

}  // namespace

void register_live_functions(Napi::Env env, Napi::Object exports) {
  exports["catalogueKeep"] = Napi::Function::New<&catalogue_keep>(env, "catalogueKeep");
  exports["catalogueState"] = Napi::Function::New<&catalogue_state>(env, "catalogueState");
  exports["catalogueWhyNotWritten"] =
      Napi::Function::New<&catalogue_why_not_written>(env, "catalogueWhyNotWritten");
  exports["catalogueRecover"] = Napi::Function::New<&catalogue_recover>(env, "catalogueRecover");
  exports["catalogueApply"] = Napi::Function::New<&catalogue_apply>(env, "catalogueApply");
  exports["catalogueDigest"] = Napi::Function::New<&catalogue_digest>(env, "catalogueDigest");
  exports["catalogueDeclare"] = Napi::Function::New<&catalogue_declare>(env, "catalogueDeclare");
  exports["catalogueQuantiseBy"] =
      Napi::Function::New<&catalogue_quantise_by>(env, "catalogueQuantiseBy");
  exports["catalogueLanding"] = Napi::Function::New<&catalogue_landing>(env, "catalogueLanding");
  exports["catalogueFly"] = Napi::Function::New<&catalogue_fly>(env, "catalogueFly");
  exports["catalogueCompact"] = Napi::Function::New<&catalogue_compact>(env, "catalogueCompact");
  exports["catalogueVersions"] = Napi::Function::New<&catalogue_versions>(env, "catalogueVersions");
  exports["catalogueRollBack"] =
      Napi::Function::New<&catalogue_roll_back>(env, "catalogueRollBack");
}

}  // namespace tessera::bridge
