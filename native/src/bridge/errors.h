// How failures leave the addon: a JavaScript Error whose `code` is the Status code's name
// (docs/operate/errors.md).
#pragma once

#include <napi.h>

#include <string>

#include "base/status.h"

namespace tessera::bridge {

/// An Error object carrying `code`.
Napi::Error make_error(Napi::Env env, Code code, const std::string& message);
inline Napi::Error make_error(Napi::Env env, const Status& status) {
  return make_error(env, status.code(), status.message());
}

}  // namespace tessera::bridge
