#include <array>
#include <chrono>

#include "bridge/bindings.h"
#include "bridge/catalogue_build.h"
#include "bridge/errors.h"
#include "bridge/generated/objects.h"
#include "bridge/handles.h"
#include "bridge/lane.h"
#include "bridge/object_reader.h"
#include "bridge/object_writer.h"

namespace tessera::bridge {
namespace {

Napi::Value catalogue_open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsString()) {
    throw make_error(env, Code::kRequestInvalid,
                     "catalogueOpen.path: expected a string, got " + describe_value(info[0]));
  }
  const std::string path = info[0].As<Napi::String>().Utf8Value();
  auto handle = std::make_shared<CatalogueHandle>();
  return run_in_lane(
      env, LaneKind::kBuild,
      [handle, path]() -> Status {
        auto snapshot = catalogue::Snapshot::open(path);
        if (!snapshot.is_ok()) return snapshot.status();
        handle->seed = std::move(snapshot).value();
        auto live = catalogue::LiveCatalogue::open(handle->seed, {});
        if (!live.is_ok()) return live.status();
        handle->live = std::move(live).value();
        return Status::ok();
      },
      [handle](Napi::Env settled, const Status& status) -> Napi::Value {
        return status.is_ok() ? wrap_catalogue(settled, handle) : settled.Undefined();
      });
}

Napi::Value catalogue_info(const Napi::CallbackInfo& info) {
  const auto handle = open_catalogue(info[0]);
  const catalogue::Snapshot& snapshot = *handle->seed;
  const auto newest = handle->live->view();
  const catalogue::View& view = *newest;
  CatalogueInfo facts;
  facts.digest = snapshot.digest();
  facts.depth = view.depth();
  for (uint32_t level = 0; level < view.depth(); ++level) {
    facts.level_sizes.push_back(view.level_size(level));
    const bool has_pattern = level < snapshot.depth();
    facts.level_patterns.emplace_back(has_pattern ? snapshot.level_pattern(level) : "");
  }
  facts.node_count = snapshot.node_count();
  facts.path_count = snapshot.path_count();
  facts.item_count = snapshot.item_count();
  facts.file_bytes = snapshot.file_bytes();
  return to_js(info.Env(), facts);
}

/// The newest version.
Napi::Value catalogue_view(const Napi::CallbackInfo& info) {
  const ViewHandle newest{open_catalogue(info[0])->live->view()};
  return wrap_view(info.Env(), std::make_shared<ViewHandle>(newest));
}

/// Errors: REQUEST_INVALID where the second argument is no array of strings.
template <typename Of>
Napi::Value for_each_text(const Napi::CallbackInfo& info, const char* name, const Of& of) {
  const std::vector<std::string> texts = read_texts(info, 1, name);
  auto found = Napi::Uint32Array::New(info.Env(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) found[i] = of(texts[i]);
  return found;
}

Napi::Value catalogue_find(const Napi::CallbackInfo& info) {
  const auto handle = any_view(info[0]);
  const catalogue::View& view = *handle->view;
  return for_each_text(info, "catalogueFind.itemIds", [&view](const std::string& id) {
    const auto item = view.find_item(id);
    const bool is_known =
        item != catalogue::kNoItem && view.state(item) != catalogue::ItemState::kRemoved;
    return is_known ? item : catalogue::kNoItem;
  });
}

Napi::Value catalogue_knows(const Napi::CallbackInfo& info) {
  const auto handle = any_view(info[0]);
  const catalogue::View& view = *handle->view;
  return for_each_text(info, "catalogueKnows.attributes", [&view](const std::string& name) {
    return view.attribute_type(name) ? 1u : 0u;
  });
}

/// Texts of an attribute that no item has, and of numbers, all count as known.
Napi::Value catalogue_knows_texts(const Napi::CallbackInfo& info) {
  const auto handle = any_view(info[0]);
  const catalogue::View& view = *handle->view;
  const std::string attribute = read_text(info, 2, "catalogueKnowsTexts.attribute");
  const auto type = view.attribute_type(attribute);
  const bool has_texts = type && *type != catalogue::AttributeType::kNumber;
  return for_each_text(info, "catalogueKnowsTexts.texts", [&](const std::string& text) {
    return !has_texts || view.eligibility_index().knows_text(view, attribute, text) ? 1u : 0u;
  });
}

std::span<const uint32_t> read_ordinals(const Napi::CallbackInfo& info, const char* name,
                                        const catalogue::View& view) {
  const std::string path = std::string(name) + ".ordinals";
  const std::span<const uint32_t> array = read_u32s(info, 1, path.c_str());
  for (size_t i = 0; i < array.size(); ++i) {
    if (array[i] < view.item_count()) continue;
    throw make_error(info.Env(), Code::kRequestInvalid,
                     path + "[" + std::to_string(i) + "]: expected an ordinal in 0.." +
                         std::to_string(view.item_count() - 1) + ", got " +
                         std::to_string(array[i]));
  }
  return array;
}

Napi::Value catalogue_sids(const Napi::CallbackInfo& info) {
  const auto handle = any_view(info[0]);
  const catalogue::View& view = *handle->view;
  catalogue::SidList sids;
  std::array<uint32_t, catalogue::kMaxDepth> sid;
  for (const uint32_t item : read_ordinals(info, "catalogueSids", view)) {
    const uint32_t depth = view.sid(view.node_of(item), sid);
    sids.add(std::span(sid).first(depth));
  }
  return to_js(info.Env(), sids);
}

Napi::Value catalogue_items(const Napi::CallbackInfo& info) {
  const auto handle = any_view(info[0]);
  const catalogue::View& view = *handle->view;
  ItemTexts texts;
  texts.sequence = view.sequence();
  for (const uint32_t item : read_ordinals(info, "catalogueItems", view)) {
    texts.item_ids.emplace_back(view.item_id(item));
    texts.titles.emplace_back(view.title(item));
    texts.attributes.emplace_back(view.attributes(item));
    texts.paused.push_back(view.state(item) == catalogue::ItemState::kPaused ? 1 : 0);
  }
  return to_js(info.Env(), texts);
}

Napi::Value catalogue_close(const Napi::CallbackInfo& info) {
  const auto handle = any_catalogue(info[0]);
  handle->live.reset();
  handle->seed.reset();
  return info.Env().Undefined();
}

Napi::Value catalogue_build(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  BuildRequest request;
  read(env, info[0], "catalogueBuild.options", request);
  if (request.sources.empty()) {
    throw make_error(env, Code::kRequestInvalid,
                     "catalogueBuild.options.sources: expected at least one path, got none");
  }
  if (request.domains.size() != request.sources.size()) {
    throw make_error(env, Code::kRequestInvalid,
                     "catalogueBuild.options.domains: expected one domain per source, got " +
                         std::to_string(request.domains.size()));
  }
  if (!info[1].IsFunction()) {
    throw make_error(
        env, Code::kRequestInvalid,
        "catalogueBuild.onProgress: expected a function, got " + describe_value(info[1]));
  }
  return start_build(env, std::move(request), info[1].As<Napi::Function>());
}

}  // namespace

void register_catalogue_functions(Napi::Env env, Napi::Object exports) {
  exports["catalogueBuild"] = Napi::Function::New<&catalogue_build>(env, "catalogueBuild");
  exports["catalogueOpen"] = Napi::Function::New<&catalogue_open>(env, "catalogueOpen");
  exports["catalogueInfo"] = Napi::Function::New<&catalogue_info>(env, "catalogueInfo");
  exports["catalogueView"] = Napi::Function::New<&catalogue_view>(env, "catalogueView");
  exports["catalogueFind"] = Napi::Function::New<&catalogue_find>(env, "catalogueFind");
  exports["catalogueKnows"] = Napi::Function::New<&catalogue_knows>(env, "catalogueKnows");
  exports["catalogueKnowsTexts"] =
      Napi::Function::New<&catalogue_knows_texts>(env, "catalogueKnowsTexts");
  exports["catalogueSids"] = Napi::Function::New<&catalogue_sids>(env, "catalogueSids");
  exports["catalogueItems"] = Napi::Function::New<&catalogue_items>(env, "catalogueItems");
  exports["catalogueClose"] = Napi::Function::New<&catalogue_close>(env, "catalogueClose");
}

}  // namespace tessera::bridge
