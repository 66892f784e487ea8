// Checked reading of flat objects from JavaScript: every field of the table must be there, none
// other may be, and each has the one type that is asked for. A violation throws a TypeError-like
// Error with code REQUEST_INVALID and the field's path.
#pragma once

#include <napi.h>

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera::bridge {

class ObjectReader {
 public:
  /// `path` names the object in messages, e.g. "engineOpen.options".
  ObjectReader(Napi::Env env, Napi::Value value, std::string path,
               std::span<const std::string_view> fields);

  std::string string(std::string_view field) const;
  /// One of `choices`; returns its index.
  uint32_t choice(std::string_view field, std::span<const std::string_view> choices) const;
  /// An integer in 0..2^32-1.
  uint32_t u32(std::string_view field) const;
  /// An integer in 0..2^53-1.
  uint64_t u53(std::string_view field) const;
  /// Any finite number.
  double f64(std::string_view field) const;
  std::vector<std::string> strings(std::string_view field) const;

  std::span<const uint32_t> u32_array(std::string_view field) const;
  std::span<const int32_t> i32_array(std::string_view field) const;

  [[noreturn]] void fail(std::string_view field, const std::string& expected) const;

 private:
  Napi::Value get(std::string_view field) const;
  uint64_t integer(std::string_view field, uint64_t max) const;
  template <typename T>
  std::span<const T> typed_array(std::string_view field, napi_typedarray_type type,
                                 const char* name) const;

  Napi::Env env_;
  Napi::Object object_;
  std::string path_;
};

/// Puts a value that was read into a member, which may be an enumeration or own what is read.
template <typename Member, typename Value>
void assign(Member& to, Value&& value) {
  if constexpr (std::is_constructible_v<Member, Value> || std::is_enum_v<Member>) {
    to = static_cast<Member>(std::forward<Value>(value));
  } else {
    to.assign(value.begin(), value.end());
  }
}

/// Argument `index`, a string. Throws REQUEST_INVALID naming `path` for another value.
std::string read_text(const Napi::CallbackInfo& info, size_t index, const char* path);
/// Argument `index`, an array of strings. Throws REQUEST_INVALID naming `path` for another value.
std::vector<std::string> read_texts(const Napi::CallbackInfo& info, size_t index, const char* path);
/// Argument `index`, an integer in 0..max. Throws REQUEST_INVALID naming `path` for another value.
uint32_t read_count(const Napi::CallbackInfo& info, size_t index, const char* path,
                    uint32_t max = UINT32_MAX);
/// Argument `index`, an array of that type, good until the call returns. Throws REQUEST_INVALID
/// naming `path` for another value.
std::span<const uint32_t> read_u32s(const Napi::CallbackInfo& info, size_t index, const char* path);
std::span<const float> read_f32s(const Napi::CallbackInfo& info, size_t index, const char* path);
/// The first `count` words of a Uint32Array, good until the call returns. Throws REQUEST_INVALID
/// naming `field` for another value, or more words than it has.
std::span<const uint32_t> packed_words(const Napi::Value& value, const Napi::Value& count,
                                       const char* field);

/// A number in 0..max, whole or not. Throws REQUEST_INVALID naming `field` for another value.
double number_of(const Napi::Value& value, const char* field, double max);

/// "a string", "an Int32Array", ... for messages about what was found.
std::string describe_value(const Napi::Value& value);

}  // namespace tessera::bridge
