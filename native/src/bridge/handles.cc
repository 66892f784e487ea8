#include "bridge/handles.h"

#include <cmath>

#include "bridge/errors.h"
#include "bridge/object_reader.h"

namespace tessera::bridge {
namespace {

constexpr napi_type_tag kEngineTag = {0x7e55e7a0e4617e01, 0x9d1f3c5b7a8e2460};
constexpr napi_type_tag kCatalogueTag = {0x7e55e7a0ca7a1062, 0x35b8d0f6124c9e7a};
constexpr napi_type_tag kStoreTag = {0x7e55e7a05702e000, 0x61d2c9b47f3a08e5};

constexpr napi_type_tag kViewTag = {0x7e55e7a0b1e30005, 0x2c7d90e41fa86b35};
constexpr napi_type_tag kFolderLockTag = {0x7e55e7a0f01de406, 0x83c61ea94d2b70f5};
constexpr napi_type_tag kEmbedderTag = {0x7e55e7a0e3bedd07, 0x1f94c27ad05b8e63};
constexpr napi_type_tag kReachTag = {0x7e55e7a04eac4003, 0x5fd2a9c8137b6e04};

template <typename Handle>
Napi::Value wrap(Napi::Env env, std::shared_ptr<Handle> handle, const napi_type_tag& tag) {
  auto external = Napi::External<std::shared_ptr<Handle>>::New(
      env, new std::shared_ptr<Handle>(std::move(handle)),
      [](Napi::BasicEnv, std::shared_ptr<Handle>* owned) { delete owned; });
  external.TypeTag(&tag);
  return external;
}

template <typename Handle>
std::shared_ptr<Handle> unwrap(const Napi::Value& value, const napi_type_tag& tag,
                               const char* name) {
  if (!value.IsExternal() ||
      !value.As<Napi::External<std::shared_ptr<Handle>>>().CheckTypeTag(&tag)) {
    throw make_error(value.Env(), Code::kRequestInvalid,
                     std::string(name) + ": expected the handle of an open " + name + ", got " +
                         (value.IsExternal() ? "another handle" : describe_value(value)));
  }
  return *value.As<Napi::External<std::shared_ptr<Handle>>>().Data();
}

}  // namespace

void EngineHandle::close() {
  if (engine) engine->close();
  if (channel) channel->release();
  closed = true;
}

Napi::Value wrap_engine(Napi::Env env, std::shared_ptr<EngineHandle> handle) {
  return wrap(env, std::move(handle), kEngineTag);
}
Napi::Value wrap_catalogue(Napi::Env env, std::shared_ptr<CatalogueHandle> handle) {
  return wrap(env, std::move(handle), kCatalogueTag);
}
Napi::Value wrap_view(Napi::Env env, std::shared_ptr<ViewHandle> handle) {
  return wrap(env, std::move(handle), kViewTag);
}
Napi::Value wrap_reach(Napi::Env env, std::shared_ptr<ReachHandle> handle) {
  return wrap(env, std::move(handle), kReachTag);
}
Napi::Value wrap_folder_lock(Napi::Env env, std::shared_ptr<FolderLockHandle> handle) {
  return wrap(env, std::move(handle), kFolderLockTag);
}
Napi::Value wrap_embedder(Napi::Env env, std::shared_ptr<EmbedderHandle> handle) {
  return wrap(env, std::move(handle), kEmbedderTag);
}
Napi::Value wrap_store(Napi::Env env, std::shared_ptr<StoreHandle> handle) {
  return wrap(env, std::move(handle), kStoreTag);
}

std::shared_ptr<EngineHandle> any_engine(const Napi::Value& value) {
  return unwrap<EngineHandle>(value, kEngineTag, "engine");
}
std::shared_ptr<EngineHandle> open_engine(const Napi::Value& value) {
  auto handle = any_engine(value);
  if (handle->closed)
    throw make_error(value.Env(), Code::kEngineClosed, "engine: the handle was closed");
  return handle;
}

std::shared_ptr<ViewHandle> any_view(const Napi::Value& value) {
  return unwrap<ViewHandle>(value, kViewTag, "view");
}

std::shared_ptr<ReachHandle> any_reach(const Napi::Value& value) {
  return unwrap<ReachHandle>(value, kReachTag, "reach");
}

BoundCatalogue* bound_slot(EngineHandle& handle, const Napi::Value& value, const char* field) {
  const double slot = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1;
  if (!(slot >= 0 && slot < static_cast<double>(handle.bindings.size())) ||
      slot != static_cast<uint32_t>(slot) ||
      handle.bindings[static_cast<size_t>(slot)].binding == nullptr) {
    throw make_error(
        value.Env(), Code::kRequestInvalid,
        std::string(field) + ": expected the slot of a binding, got " + describe_value(value));
  }
  return &handle.bindings[static_cast<size_t>(slot)];
}

bool is_adapter_slot(const EngineHandle& handle, uint32_t slot) {
  return slot == kNoAdapter || (slot < handle.adapters.size() && handle.adapters[slot].loads > 0);
}

uint32_t adapter_slot(const EngineHandle& handle, const Napi::Value& value, const char* field) {
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1;
  const bool is_whole = number >= 0 && number <= kNoAdapter && number == std::floor(number);
  if (is_whole && is_adapter_slot(handle, static_cast<uint32_t>(number)))
    return static_cast<uint32_t>(number);
  throw make_error(
      value.Env(), Code::kRequestInvalid,
      std::string(field) + ": expected the slot of a loaded adapter, got " + describe_value(value));
}

Result<const BoundCatalogue*> unbound_of(EngineHandle& handle) {
  if (!handle.unbound) {
    BoundCatalogue bound{.binding = nullptr, .template_digest = "none", .codebook_digest = "none"};
    const auto version = handle.engine->add_version(bound.template_digest, bound.codebook_digest);
    if (!version.is_ok()) return version.status();
    bound.version = version.value();
    handle.unbound = std::move(bound);
  }
  return &*handle.unbound;
}

Result<kv::Version> version_of(EngineHandle& handle, const BoundCatalogue& bound, uint32_t slot) {
  if (slot == kNoAdapter) return bound.version;
  LoadedAdapter& loaded = handle.adapters[slot];
  for (const LoadedAdapter::Prompts& prompts : loaded.prompts) {
    if (prompts.template_digest == bound.template_digest &&
        prompts.codebook_digest == bound.codebook_digest) {
      return prompts.version;
    }
  }
  auto version = handle.engine->add_version(bound.template_digest, bound.codebook_digest,
                                            loaded.adapter->summary().digest);
  if (!version.is_ok()) return version.status();
  loaded.prompts.push_back({bound.template_digest, bound.codebook_digest, version.value()});
  return version;
}

std::shared_ptr<CatalogueHandle> any_catalogue(const Napi::Value& value) {
  return unwrap<CatalogueHandle>(value, kCatalogueTag, "catalogue");
}
std::shared_ptr<CatalogueHandle> open_catalogue(const Napi::Value& value) {
  auto handle = any_catalogue(value);
  if (!handle->live)
    throw make_error(value.Env(), Code::kEngineClosed, "catalogue: the handle was closed");
  return handle;
}

std::shared_ptr<FolderLockHandle> any_folder_lock(const Napi::Value& value) {
  return unwrap<FolderLockHandle>(value, kFolderLockTag, "folder lock");
}

std::shared_ptr<EmbedderHandle> any_embedder(const Napi::Value& value) {
  return unwrap<EmbedderHandle>(value, kEmbedderTag, "embedder");
}
std::shared_ptr<EmbedderHandle> open_embedder(const Napi::Value& value) {
  auto handle = any_embedder(value);
  if (!handle->embedder)
    throw make_error(value.Env(), Code::kEngineClosed, "embedder: the handle was closed");
  return handle;
}

std::shared_ptr<StoreHandle> any_store(const Napi::Value& value) {
  return unwrap<StoreHandle>(value, kStoreTag, "store");
}
std::shared_ptr<StoreHandle> open_store(const Napi::Value& value) {
  auto handle = any_store(value);
  if (!handle->store)
    throw make_error(value.Env(), Code::kEngineClosed, "store: the handle was closed");
  return handle;
}

}  // namespace tessera::bridge
