#include "bridge/errors.h"

namespace tessera::bridge {

Napi::Error make_error(Napi::Env env, Code code, const std::string& message) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Value().Set("code", Napi::String::New(env, code_name(code)));
  return error;
}

}  // namespace tessera::bridge
