#include <string>

#include "bridge/bindings.h"
#include "bridge/errors.h"
#include "bridge/handles.h"
#include "bridge/object_reader.h"

namespace tessera::bridge {
namespace {

Napi::Value folder_lock(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsString()) {
    throw make_error(env, Code::kRequestInvalid,
                     "folderLock.path: expected a string, got " + describe_value(info[0]));
  }
  auto lock =
      platform::FolderLock::take(info[0].As<Napi::String>().Utf8Value(), Code::kStoreInvalid);
  if (!lock.is_ok()) throw make_error(env, lock.status());
  auto handle = std::make_shared<FolderLockHandle>();
  handle->lock = std::move(lock).value();
  return wrap_folder_lock(env, std::move(handle));
}

Napi::Value folder_unlock(const Napi::CallbackInfo& info) {
  any_folder_lock(info[0])->lock.reset();
  return info.Env().Undefined();
}

}  // namespace

void register_folder_functions(Napi::Env env, Napi::Object exports) {
  exports["folderLock"] = Napi::Function::New<&folder_lock>(env, "folderLock");
  exports["folderUnlock"] = Napi::Function::New<&folder_unlock>(env, "folderUnlock");
}

}  // namespace tessera::bridge
