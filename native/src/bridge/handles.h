// The native sides of the opaque handles of abi.ts. A handle owns native state; close is explicit
// and idempotent, the finaliser is a safety net. Type tags keep a catalogue from being taken for an
// engine.
#pragma once

#include <napi.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bridge/completion_channel.h"
#include "catalogue/appraiser.h"
#include "catalogue/item_policy.h"
#include "catalogue/live_catalogue.h"
#include "catalogue/reach.h"
#include "engine/embedder.h"
#include "engine/engine.h"
#include "lora/adapter.h"
#include "platform/folder_lock.h"
#include "store/ordered_store.h"

namespace tessera::bridge {

struct BoundCatalogue {
  std::shared_ptr<const engine::Binding> binding;  // null after unbind
  kv::Version version = 0;                         // of the prompts that go with it
  std::string template_digest, codebook_digest;    // that the version is of
};

/// An adapter that requests may name. The slot is free when `loads` is 0.
struct LoadedAdapter {
  /// Prompts that it reads, as the pool numbers them: made when the first of a binding comes.
  struct Prompts {
    std::string template_digest, codebook_digest;
    kv::Version version = 0;
  };
  std::shared_ptr<const lora::Adapter> adapter;
  uint32_t loads = 0;  // less releases
  std::vector<Prompts> prompts;
};

inline constexpr uint32_t kNoAdapter = 0xFFFFFFFF;
inline constexpr uint32_t kNoBinding = 0xFFFFFFFF;

/// JavaScript thread only, except `engine`'s own thread-safe methods.
struct EngineHandle {
  std::shared_ptr<CompletionChannel> channel;
  std::unique_ptr<engine::Engine> engine;              // destroyed before the channel
  std::vector<BoundCatalogue> bindings;                // by slot
  std::optional<BoundCatalogue> unbound;               // prompts of requests without a binding
  std::vector<LoadedAdapter> adapters;                 // by slot
  std::shared_ptr<std::atomic<bool>> check_cancelled;  // of the newest integrity check
  bool closed = false;

  /// Joins the engine's thread: blocks for at most one forward pass. Idempotent.
  void close();
};

/// JavaScript thread only, except `live`'s own thread-safe methods.
struct CatalogueHandle {
  std::shared_ptr<const catalogue::Snapshot> seed;  // what was opened
  std::shared_ptr<catalogue::LiveCatalogue> live;   // null after close
  bool is_bound = false;
};

/// Version of a catalogue, to which the ordinals that cross with it belong.
struct ViewHandle {
  std::shared_ptr<const catalogue::View> view;
};

/// The items that a request may find: of one version of one catalogue.
struct ReachHandle {
  std::shared_ptr<catalogue::LiveCatalogue> live;
  catalogue::Reach reach;
  catalogue::Reach drawn;  // of drawn places, where it is another
  uint32_t drawn_items = 0;
  std::shared_ptr<const catalogue::ItemPolicy> item_policy;  // may be null
  std::shared_ptr<const catalogue::Appraiser> appraiser;     // the same
};

struct StoreHandle {
  std::shared_ptr<store::OrderedStore> store;  // null after close
};

struct EmbedderHandle {
  std::shared_ptr<engine::Embedder> embedder;  // null after close
};

/// A folder that this process alone uses.
struct FolderLockHandle {
  std::unique_ptr<platform::FolderLock> lock;  // null once it was given back
};

Napi::Value wrap_engine(Napi::Env env, std::shared_ptr<EngineHandle> handle);
Napi::Value wrap_catalogue(Napi::Env env, std::shared_ptr<CatalogueHandle> handle);
Napi::Value wrap_view(Napi::Env env, std::shared_ptr<ViewHandle> handle);
Napi::Value wrap_reach(Napi::Env env, std::shared_ptr<ReachHandle> handle);
Napi::Value wrap_store(Napi::Env env, std::shared_ptr<StoreHandle> handle);
Napi::Value wrap_embedder(Napi::Env env, std::shared_ptr<EmbedderHandle> handle);
Napi::Value wrap_folder_lock(Napi::Env env, std::shared_ptr<FolderLockHandle> handle);
/// Throw REQUEST_INVALID for a value that is no such handle, ENGINE_CLOSED for one that was closed.
std::shared_ptr<EngineHandle> open_engine(const Napi::Value& value);
std::shared_ptr<EngineHandle> any_engine(const Napi::Value& value);  // closed or not
/// Throws REQUEST_INVALID naming `field` for a value that is no binding's slot.
BoundCatalogue* bound_slot(EngineHandle& handle, const Napi::Value& value, const char* field);
/// Slot of a loaded adapter, or kNoAdapter.
uint32_t adapter_slot(const EngineHandle& handle, const Napi::Value& value, const char* field);
/// Slot `slot` holds an adapter that requests may name, or is kNoAdapter.
bool is_adapter_slot(const EngineHandle& handle, uint32_t slot);
/// The slot of requests without a binding: the pool knows their prompts by the tokens alone.
Result<const BoundCatalogue*> unbound_of(EngineHandle& handle);
/// The pool's number of a binding's prompts as an adapter, or the base model, reads them.
Result<kv::Version> version_of(EngineHandle& handle, const BoundCatalogue& bound, uint32_t slot);
std::shared_ptr<CatalogueHandle> open_catalogue(const Napi::Value& value);
std::shared_ptr<CatalogueHandle> any_catalogue(const Napi::Value& value);
std::shared_ptr<ViewHandle> any_view(const Napi::Value& value);
std::shared_ptr<ReachHandle> any_reach(const Napi::Value& value);
std::shared_ptr<StoreHandle> open_store(const Napi::Value& value);
std::shared_ptr<StoreHandle> any_store(const Napi::Value& value);
std::shared_ptr<EmbedderHandle> open_embedder(const Napi::Value& value);
std::shared_ptr<EmbedderHandle> any_embedder(const Napi::Value& value);
std::shared_ptr<FolderLockHandle> any_folder_lock(const Napi::Value& value);

}  // namespace tessera::bridge
