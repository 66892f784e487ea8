// Links to stores of keys and values that a thread of JavaScript serves: the engine's calls go out,
// their ends come in. A link is opened on one thread and served on another, so that it is known by
// a number.
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/links.h"
#include "bridge/object_reader.h"

namespace tessera::bridge {
namespace {

using kv::StoreCall;
using kv::StoreCallEnd;
using kv::StoreLink;

struct Links {
  Mutex mutex;
  std::map<uint32_t, std::shared_ptr<StoreLink>> open GUARDED_BY(mutex);
  uint32_t last GUARDED_BY(mutex) = 0;
};

Links& links() {
  static Links all;
  return all;
}

constexpr double kLimitUsMax = 600e6;
constexpr const char* kKinds[] = {"find", "read", "write", "publish", "erase"};
constexpr std::pair<const char*, StoreCallEnd> kEnds[] = {{"ok", StoreCallEnd::kOk},
                                                          {"missing", StoreCallEnd::kMissing},
                                                          {"changed", StoreCallEnd::kChanged},
                                                          {"erased", StoreCallEnd::kErased},
                                                          {"failed", StoreCallEnd::kFailed}};

/// One that is closed has no calls and takes no ends: its owner may close it while another thread
/// serves it.
std::shared_ptr<StoreLink> link_of(const Napi::Value& value, const char* field) {
  const auto number = static_cast<uint32_t>(number_of(value, field, 4294967295.0));
  if (auto link = find_link(number)) return link;
  Links& all = links();
  const MutexLock lock(all.mutex);
  if (number > 0 && number <= all.last) {
    auto closed = std::make_shared<StoreLink>(0);
    closed->close();
    return closed;
  }
  throw make_error(value.Env(), Code::kRequestInvalid,
                   std::string(field) + ": expected an open link, got " + std::to_string(number));
}

Napi::Value store_link_open(const Napi::CallbackInfo& info) {
  const auto limit_us =
      static_cast<uint64_t>(number_of(info[0], "storeLinkOpen.limitUs", kLimitUsMax));
  Links& all = links();
  const MutexLock lock(all.mutex);
  all.open[++all.last] = std::make_shared<StoreLink>(limit_us);
  return Napi::Number::New(info.Env(), all.last);
}

/// The function that rings; it does not keep its thread's event loop alive.
Napi::Value store_link_serve(const Napi::CallbackInfo& info) {
  const auto link = link_of(info[0], "storeLinkServe.link");
  if (!info[1].IsFunction()) {
    throw make_error(info.Env(), Code::kRequestInvalid,
                     "storeLinkServe.ring: expected a function, got " + describe_value(info[1]));
  }
  auto ring = std::make_shared<Napi::ThreadSafeFunction>(Napi::ThreadSafeFunction::New(
      info.Env(), info[1].As<Napi::Function>(), "tessera store calls", 0, 1));
  link->serve([ring] { ring->NonBlockingCall(); });
  info.Env().AddCleanupHook([link, ring] { link->serve(nullptr); });
  return Napi::Function::New(info.Env(), [link, ring](const Napi::CallbackInfo& stop) {
    link->serve(nullptr);
    ring->Release();
    return stop.Env().Undefined();
  });
}

Napi::Object call_object(Napi::Env env, const StoreCall& call) {
  auto object = Napi::Object::New(env);
  const bool has_chain = call.kind != kv::StoreCallKind::kErase;
  const bool has_block =
      call.kind == kv::StoreCallKind::kRead || call.kind == kv::StoreCallKind::kWrite;
  object["id"] = Napi::Number::New(env, static_cast<double>(call.id));
  object["kind"] = Napi::String::New(env, kKinds[static_cast<size_t>(call.kind)]);
  object["owner"] = Napi::String::New(env, kv::to_text(call.chain.owner));
  object["version"] = Napi::String::New(env, has_chain ? kv::to_text(call.chain.version) : "");
  object["block"] = Napi::String::New(env, has_block ? kv::to_text(call.block) : "");
  object["replaces"] = Napi::String::New(env, call.replaces);
  auto gone = Napi::Array::New(env, call.gone.size());
  for (uint32_t i = 0; i < call.gone.size(); ++i) {
    gone[i] = Napi::String::New(env, kv::to_text(call.gone[i]));
  }
  object["gone"] = gone;
  object["at"] = Napi::Number::New(env, static_cast<double>(call.at));
  return object;
}

Napi::Value store_link_take(const Napi::CallbackInfo& info) {
  const auto calls = link_of(info[0], "storeLinkTake.link")->take();
  auto array = Napi::Array::New(info.Env(), calls.size());
  for (uint32_t i = 0; i < calls.size(); ++i) array[i] = call_object(info.Env(), calls[i]);
  return array;
}

uint64_t call_number(const Napi::Value& value, const char* field) {
  return static_cast<uint64_t>(number_of(value, field, 9007199254740991.0));
}

Napi::Value store_link_bytes(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Napi::Value made = env.Undefined();
  const auto copy = [&](std::span<const std::byte> front, std::span<const std::byte> rest) {
    auto buffer = Napi::Buffer<uint8_t>::New(env, front.size() + rest.size());
    uint8_t* to = buffer.Data();
    for (const auto part : {front, rest}) {
      if (!part.empty()) std::memcpy(to, part.data(), part.size());
      to += part.size();
    }
    made = buffer;
  };
  (void)link_of(info[0], "storeLinkBytes.link")
      ->bytes_of(call_number(info[1], "storeLinkBytes.call"), copy);
  return made;
}

/// (link, call, status, bytes | undefined, text | undefined)
Napi::Value store_link_end(const Napi::CallbackInfo& info) {
  const auto link = link_of(info[0], "storeLinkEnd.link");
  const uint64_t call = call_number(info[1], "storeLinkEnd.call");
  const std::string status = info[2].IsString() ? info[2].As<Napi::String>().Utf8Value() : "";
  std::span<const std::byte> bytes;
  if (info[3].IsTypedArray()) {
    const auto array = info[3].As<Napi::Uint8Array>();
    bytes = std::as_bytes(std::span<const uint8_t>(array.Data(), array.ByteLength()));
  }
  std::string text = info[4].IsString() ? info[4].As<Napi::String>().Utf8Value() : "";
  for (const auto& [name, end] : kEnds) {
    if (status != name) continue;
    link->end(call, end, bytes, std::move(text));
    return info.Env().Undefined();
  }
  throw make_error(info.Env(), Code::kRequestInvalid,
                   "storeLinkEnd.status: expected ok, missing, changed, erased or failed, got " +
                       describe_value(info[2]));
}

Napi::Value store_link_set_available(const Napi::CallbackInfo& info) {
  link_of(info[0], "storeLinkSetAvailable.link")->set_available(info[1].ToBoolean().Value());
  return info.Env().Undefined();
}

Napi::Value store_link_close(const Napi::CallbackInfo& info) {
  const auto number =
      static_cast<uint32_t>(number_of(info[0], "storeLinkClose.link", 4294967295.0));
  const auto link = find_link(number);
  if (link != nullptr) link->close();
  Links& all = links();
  const MutexLock lock(all.mutex);
  all.open.erase(number);
  return info.Env().Undefined();
}

}  // namespace

std::shared_ptr<StoreLink> find_link(uint32_t number) {
  Links& all = links();
  const MutexLock lock(all.mutex);
  const auto found = all.open.find(number);
  return found == all.open.end() ? nullptr : found->second;
}

void register_link_functions(Napi::Env env, Napi::Object exports) {
  exports["storeLinkOpen"] = Napi::Function::New<&store_link_open>(env, "storeLinkOpen");
  exports["storeLinkServe"] = Napi::Function::New<&store_link_serve>(env, "storeLinkServe");
  exports["storeLinkTake"] = Napi::Function::New<&store_link_take>(env, "storeLinkTake");
  exports["storeLinkBytes"] = Napi::Function::New<&store_link_bytes>(env, "storeLinkBytes");
  exports["storeLinkEnd"] = Napi::Function::New<&store_link_end>(env, "storeLinkEnd");
  exports["storeLinkSetAvailable"] =
      Napi::Function::New<&store_link_set_available>(env, "storeLinkSetAvailable");
  exports["storeLinkClose"] = Napi::Function::New<&store_link_close>(env, "storeLinkClose");
}

}  // namespace tessera::bridge
