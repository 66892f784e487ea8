#include "bridge/object_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bridge/errors.h"

namespace tessera::bridge {
namespace {

constexpr const char* kTypedArrayNames[] = {"Int8Array",     "Uint8Array",    "Uint8ClampedArray",
                                            "Int16Array",    "Uint16Array",   "Int32Array",
                                            "Uint32Array",   "Float32Array",  "Float64Array",
                                            "BigInt64Array", "BigUint64Array"};

}  // namespace

std::string describe_value(const Napi::Value& value) {
  switch (value.Type()) {
    case napi_undefined: return "undefined";
    case napi_null: return "null";
    case napi_boolean: return "a boolean";
    case napi_number: return value.ToString().Utf8Value();
    case napi_string: return "a string";
    case napi_function: return "a function";
    default: break;
  }
  if (value.IsTypedArray()) {
    const auto type = static_cast<size_t>(value.As<Napi::TypedArray>().TypedArrayType());
    return type < std::size(kTypedArrayNames) ? kTypedArrayNames[type] : "a typed array";
  }
  if (value.IsArray()) return "an array";
  return "an object";
}

double number_of(const Napi::Value& value, const char* field, double max) {
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1;
  if (number >= 0 && number <= max) return number;
  throw make_error(value.Env(), Code::kRequestInvalid,
                   std::string(field) + ": expected 0.." + std::to_string(max) + ", got " +
                       describe_value(value));
}

std::string read_text(const Napi::CallbackInfo& info, size_t index, const char* path) {
  if (!info[index].IsString()) {
    throw make_error(info.Env(), Code::kRequestInvalid,
                     std::string(path) + ": expected a string, got " + describe_value(info[index]));
  }
  return info[index].As<Napi::String>().Utf8Value();
}

std::vector<std::string> read_texts(const Napi::CallbackInfo& info, size_t index,
                                    const char* path) {
  const auto refuse = [&](const std::string& field, const char* expected, const Napi::Value& got) {
    return make_error(info.Env(), Code::kRequestInvalid,
                      field + ": expected " + expected + ", got " + describe_value(got));
  };
  if (!info[index].IsArray()) throw refuse(path, "an array of strings", info[index]);
  const auto array = info[index].As<Napi::Array>();
  std::vector<std::string> texts;
  texts.reserve(array.Length());
  for (uint32_t i = 0; i < array.Length(); ++i) {
    const Napi::Value text = array.Get(i);
    if (!text.IsString()) {
      throw refuse(std::string(path) + "[" + std::to_string(i) + "]", "a string", text);
    }
    texts.push_back(text.As<Napi::String>().Utf8Value());
  }
  return texts;
}

uint32_t read_count(const Napi::CallbackInfo& info, size_t index, const char* path, uint32_t max) {
  const double value = info[index].IsNumber() ? info[index].As<Napi::Number>().DoubleValue() : -1;
  if (value >= 0 && value <= max && value == static_cast<uint32_t>(value)) {
    return static_cast<uint32_t>(value);
  }
  throw make_error(info.Env(), Code::kRequestInvalid,
                   std::string(path) + ": expected an integer in 0.." + std::to_string(max) +
                       ", got " + describe_value(info[index]));
}

namespace {

template <typename T>
std::span<const T> read_array(const Napi::CallbackInfo& info, size_t index, const char* path,
                              napi_typedarray_type type, const char* name) {
  const Napi::Value value = info[index];
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) {
    throw make_error(info.Env(), Code::kRequestInvalid,
                     std::string(path) + ": expected " + name + ", got " + describe_value(value));
  }
  const auto array = value.As<Napi::TypedArrayOf<T>>();
  return {array.Data(), array.ElementLength()};
}

}  // namespace

std::span<const uint32_t> read_u32s(const Napi::CallbackInfo& info, size_t index,
                                    const char* path) {
  return read_array<uint32_t>(info, index, path, napi_uint32_array, "a Uint32Array");
}

std::span<const float> read_f32s(const Napi::CallbackInfo& info, size_t index, const char* path) {
  return read_array<float>(info, index, path, napi_float32_array, "a Float32Array");
}

std::span<const uint32_t> packed_words(const Napi::Value& value, const Napi::Value& count,
                                       const char* field) {
  const bool is_array =
      value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == napi_uint32_array;
  const double words = is_array && count.IsNumber() ? count.As<Napi::Number>().DoubleValue() : -1;
  const auto array = is_array ? value.As<Napi::Uint32Array>() : Napi::Uint32Array();
  if (!(words >= 0 && words <= static_cast<double>(is_array ? array.ElementLength() : 0))) {
    throw make_error(value.Env(), Code::kRequestInvalid,
                     std::string(field) +
                         ": expected a Uint32Array and how many of its words to read, got " +
                         describe_value(value) + " and " + describe_value(count));
  }
  return {array.Data(), static_cast<size_t>(words)};
}

ObjectReader::ObjectReader(Napi::Env env, Napi::Value value, std::string path,
                           std::span<const std::string_view> fields)
    : env_(env), path_(std::move(path)) {
  if (!value.IsObject() || value.IsArray() || value.IsFunction()) {
    throw make_error(env, Code::kRequestInvalid,
                     path_ + ": expected an object, got " + describe_value(value));
  }
  object_ = value.As<Napi::Object>();
  for (const std::string_view field : fields) {
    if (!object_.Has(std::string(field))) fail(field, "a value, and it is missing");
  }
  const Napi::Array names = object_.GetPropertyNames();
  for (uint32_t i = 0; i < names.Length(); ++i) {
    const std::string name = names.Get(i).ToString().Utf8Value();
    if (std::find(fields.begin(), fields.end(), name) == fields.end()) {
      throw make_error(env, Code::kRequestInvalid, path_ + "." + name + ": unknown field");
    }
  }
}

void ObjectReader::fail(std::string_view field, const std::string& expected) const {
  throw make_error(env_, Code::kRequestInvalid,
                   path_ + "." + std::string(field) + ": expected " + expected + ", got " +
                       describe_value(get(field)));
}

Napi::Value ObjectReader::get(std::string_view field) const {
  return object_.Get(std::string(field));
}

std::string ObjectReader::string(std::string_view field) const {
  const Napi::Value value = get(field);
  if (!value.IsString()) fail(field, "a string");
  return value.As<Napi::String>().Utf8Value();
}

uint32_t ObjectReader::choice(std::string_view field,
                              std::span<const std::string_view> choices) const {
  const std::string got = string(field);
  const auto found = std::find(choices.begin(), choices.end(), got);
  if (found == choices.end()) {
    std::string expected = "one of";
    for (const std::string_view candidate : choices)
      expected += " '" + std::string(candidate) + "'";
    throw make_error(
        env_, Code::kRequestInvalid,
        path_ + "." + std::string(field) + ": expected " + expected + ", got '" + got + "'");
  }
  return static_cast<uint32_t>(found - choices.begin());
}

uint64_t ObjectReader::integer(std::string_view field, uint64_t max) const {
  const std::string expected = "an integer in 0.." + std::to_string(max);
  const Napi::Value value = get(field);
  if (!value.IsNumber()) fail(field, expected);
  const double number = value.As<Napi::Number>().DoubleValue();
  if (!(number >= 0 && number <= static_cast<double>(max)) || number != std::floor(number)) {
    fail(field, expected);
  }
  return static_cast<uint64_t>(number);
}

uint32_t ObjectReader::u32(std::string_view field) const {
  return static_cast<uint32_t>(integer(field, std::numeric_limits<uint32_t>::max()));
}

uint64_t ObjectReader::u53(std::string_view field) const {
  return integer(field, (uint64_t{1} << 53) - 1);
}

double ObjectReader::f64(std::string_view field) const {
  const Napi::Value value = get(field);
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue()
                                         : std::numeric_limits<double>::quiet_NaN();
  if (!std::isfinite(number)) fail(field, "a finite number");
  return number;
}

std::vector<std::string> ObjectReader::strings(std::string_view field) const {
  const Napi::Value value = get(field);
  if (!value.IsArray()) fail(field, "an array of strings");
  const auto array = value.As<Napi::Array>();
  std::vector<std::string> result;
  for (uint32_t i = 0; i < array.Length(); ++i) {
    const Napi::Value element = array.Get(i);
    if (!element.IsString()) fail(field, "an array of strings");
    result.push_back(element.As<Napi::String>().Utf8Value());
  }
  return result;
}

template <typename T>
std::span<const T> ObjectReader::typed_array(std::string_view field, napi_typedarray_type type,
                                             const char* name) const {
  const Napi::Value value = get(field);
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type)
    fail(field, name);
  const auto array = value.As<Napi::TypedArrayOf<T>>();
  return {array.Data(), array.ElementLength()};
}

std::span<const uint32_t> ObjectReader::u32_array(std::string_view field) const {
  return typed_array<uint32_t>(field, napi_uint32_array, "a Uint32Array");
}
std::span<const int32_t> ObjectReader::i32_array(std::string_view field) const {
  return typed_array<int32_t>(field, napi_int32_array, "an Int32Array");
}
}  // namespace tessera::bridge
