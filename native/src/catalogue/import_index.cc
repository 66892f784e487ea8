// index.json: one object, item ID to SID, as integer codes or as token strings.
#include <algorithm>
#include <charconv>

#include "catalogue/format.h"
#include "catalogue/import_json.h"

namespace tessera::catalogue {
namespace {

namespace json = simdjson::ondemand;

/// A token such as "<a_236>" split at its last run of digits.
struct Token {
  std::string_view before;
  std::string_view after;
  uint32_t code = 0;
};

/// False when the token has no code: no digits, a leading zero, or more than a code may be.
bool split_token(std::string_view text, Token& token) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t end = text.size();
  while (end > 0 && !is_digit(text[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  const std::string_view digits = text.substr(begin, end - begin);
  if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) return false;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), token.code);
  token.before = text.substr(0, begin);
  token.after = text.substr(end);
  return parsed.ec == std::errc() && token.code < kMaxLevelSize;
}

class IndexReader {
 public:
  explicit IndexReader(const ImportContext& context)
      : context_(context),
        file_(context, "items"),
        attributes_(domain_attributes(context.domain)) {}

  Status read() {
    return file_.read([this](json::value value) { return read_item(value); });
  }

 private:
  Status read_item(json::value item) {
    json::array codes;
    if (item.get_array().get(codes) != simdjson::SUCCESS) {
      return file_.bad_field(expected_but_got("a list of codes", item.raw_json_token()));
    }
    sid_.clear();
    for (auto entry : codes) {
      json::value value;
      const simdjson::error_code error = std::move(entry).get(value);
      if (error != simdjson::SUCCESS) return file_.broken(error);
      if (sid_.size() == kMaxDepth) {
        return file_.bad_field("expected at most " + std::to_string(kMaxDepth) + " codes");
      }
      TESSERA_RETURN_IF_ERROR(read_code(value));
    }
    add_item({file_.key(), sid_, {}, attributes_, 0, 0}, context_.input);
    return Status::ok();
  }

  Status read_code(json::value& value) {
    const std::string place = "sid[" + std::to_string(sid_.size()) + "]: ";
    json::json_type type;
    const simdjson::error_code error = value.type().get(type);
    if (error != simdjson::SUCCESS) return file_.broken(error);
    const bool is_token = type == json::json_type::string;
    if (has_kind_ && is_token != has_tokens_) {
      return file_.bad_field(place + "expected codes or tokens throughout the file, got both");
    }
    has_kind_ = true;
    has_tokens_ = is_token;
    std::string_view text;
    if (is_token && value.get_string().get(text) == simdjson::SUCCESS) {
      return read_token(text, place);
    }
    uint64_t code = 0;
    const bool is_code = type == json::json_type::number &&
                         value.get_uint64().get(code) == simdjson::SUCCESS && code < kMaxLevelSize;
    if (!is_code)
      return file_.bad_field(place + expected_but_got(kCodeRange, value.raw_json_token()));
    sid_.push_back(static_cast<uint32_t>(code));
    return Status::ok();
  }

  Status read_token(std::string_view text, const std::string& place) {
    Token token;
    if (!split_token(text, token)) {
      return file_.bad_field(place +
                             expected_but_got("a token with a code, such as <a_236>", quote(text)));
    }
    auto& patterns = context_.input.level_patterns;
    const size_t level = sid_.size();
    std::string pattern;
    pattern.append(token.before).append("{code}").append(token.after);
    if (patterns.size() == level) patterns.push_back(pattern);
    if (patterns[level] != pattern) {
      return file_.bad_field("level " + std::to_string(level) + ": " +
                             expected_but_got("tokens like " + patterns[level], quote(text)));
    }
    sid_.push_back(token.code);
    return Status::ok();
  }

  static constexpr const char* kCodeRange = "an integer code in [0, 1048576)";
  static_assert(kMaxLevelSize == 1048576);

  const ImportContext& context_;
  ObjectFile file_;
  const std::string attributes_;
  std::vector<uint32_t> sid_;
  bool has_kind_ = false;
  bool has_tokens_ = false;
};

}  // namespace

Status import_index(const ImportContext& context) { return IndexReader(context).read(); }

}  // namespace tessera::catalogue
