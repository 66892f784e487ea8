// C++ values as JavaScript ones; the records are generated (generated/objects.h).
#pragma once

#include <napi.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bridge/generated/objects.h"
#include "bridge/handles.h"

namespace tessera::bridge {

template <typename Scalar>
requires std::is_arithmetic_v<Scalar> Napi::Value to_js(Napi::Env env, Scalar value) {
  if constexpr (std::is_same_v<Scalar, bool>) {
    return Napi::Boolean::New(env, value);
  } else {
    return Napi::Number::New(env, static_cast<double>(value));
  }
}

inline Napi::Value to_js(Napi::Env env, std::string_view text) {
  return Napi::String::New(env, text.data(), text.size());
}

inline Napi::Value to_js(Napi::Env env, const std::shared_ptr<ReachHandle>& reach) {
  return wrap_reach(env, reach);
}

template <typename Words>
Napi::Value to_js(Napi::Env env, std::string_view word, const Words&) {
  return to_js(env, word);
}

/// The word of an enumeration's value.
template <typename Enumeration, size_t kCount>
requires std::is_enum_v<Enumeration> Napi::Value to_js(
    Napi::Env env, Enumeration value, const std::array<std::string_view, kCount>& words) {
  return to_js(env, words[static_cast<size_t>(value)]);
}

/// An ordinary array of what to_js() makes of each.
template <typename Values>
Napi::Value list_to_js(Napi::Env env, const Values& values) {
  auto array = Napi::Array::New(env, values.size());
  for (uint32_t i = 0; i < values.size(); ++i) array.Set(i, to_js(env, values[i]));
  return array;
}

inline Napi::Value to_js(Napi::Env env, std::span<const std::string_view> texts) {
  return list_to_js(env, texts);
}

/// Integers and floating-point numbers: a typed array; anything else: an ordinary one.
template <typename Value>
Napi::Value to_js(Napi::Env env, const std::vector<Value>& values) {
  if constexpr (std::is_arithmetic_v<Value>) {
    auto array = Napi::TypedArrayOf<Value>::New(env, values.size());
    std::copy(values.begin(), values.end(), array.Data());
    return array;
  } else {
    return list_to_js(env, values);
  }
}

template <typename Value, size_t kCount>
Napi::Value to_js(Napi::Env env, const std::array<Value, kCount>& values) {
  return list_to_js(env, values);
}

}  // namespace tessera::bridge
