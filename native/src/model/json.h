// A JSON object read field by field, where the first bad field is remembered with the file, the
// path, what was expected and what it got. Private to model and lora.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tessera::model {

/// At most `limit` characters of a value as JSON text, for messages.
std::string describe(simdjson::dom::element value);

/// Parses a whole document. Errors: `code` with the file's name.
Result<simdjson::dom::element> parse_json(simdjson::dom::parser& parser, std::string_view text,
                                          const std::string& file, Code code);

class ObjectReader {
 public:
  /// `path` is the prefix of field names in messages, empty at the top. The parser owns the
  /// object's memory.
  ObjectReader(simdjson::dom::object object, std::string file, std::string path,
               Code code = Code::kModelInvalid)
      : object_(object), file_(std::move(file)), path_(std::move(path)), code_(code) {
    refuse_twins();
  }

  /// The value, or nothing when it is absent or null.
  std::optional<simdjson::dom::element> find(std::string_view field) const;

  bool is_null(std::string_view field) const;
  bool is_empty() const { return object_.size() == 0; }

  /// Readers of required fields; a default makes a field optional. After an error they return the
  /// lowest legal value and status() tells the first error.
  uint32_t whole(std::string_view field, uint32_t lowest, uint32_t highest,
                 std::optional<uint32_t> otherwise = {});
  double number(std::string_view field, double above, double highest,
                std::optional<double> otherwise = {});
  bool boolean(std::string_view field, bool otherwise);
  std::string text(std::string_view field, std::optional<std::string> otherwise = {});
  std::optional<ObjectReader> object(std::string_view field);

  /// Records an error unless there is one.
  void refuse(std::string_view field, const std::string& expected);
  /// Refuses the first member that is none of these.
  void refuse_others(std::initializer_list<std::string_view> known);
  /// Refuses the first member that is an object.
  void refuse_objects(const std::string& expected);
  const Status& status() const { return status_; }
  /// Takes over an error of a nested reader.
  void adopt(const ObjectReader& nested);

 private:
  /// Refuses a field that stands twice: Python takes the last value, this library the first.
  void refuse_twins();

  simdjson::dom::object object_;
  std::string file_;
  std::string path_;
  Code code_;  // of errors
  Status status_;
};

}  // namespace tessera::model
