// sid2pid.json: one object, SID key to the items that share the SID.
#include <charconv>
#include <cmath>

#include "catalogue/format.h"
#include "catalogue/import_json.h"

namespace tessera::catalogue {
namespace {

namespace json = simdjson::ondemand;

constexpr uint32_t kLevels = 3;
constexpr uint64_t kProgressItems = 1u << 16;

class Sid2PidReader {
 public:
  explicit Sid2PidReader(const ImportContext& context)
      : context_(context), attributes_(domain_attributes(context.domain)) {}

  Status read() {
    const uint32_t base = context_.options.sid2pid_base;
    if (base < 2 || base > kMaxLevelSize) {
      return import_error(context_.path, "sid2pid base: expected 2 to " +
                                             std::to_string(kMaxLevelSize) + ", came " +
                                             std::to_string(base));
    }
    Result<simdjson::padded_string> text = load_json(context_.path);
    if (!text.is_ok()) return text.status();
    json::parser parser;
    json::document document;
    simdjson::error_code error = parser.iterate(text.value()).get(document);
    json::object sids;
    if (error == simdjson::SUCCESS) error = document.get_object().get(sids);
    if (error != simdjson::SUCCESS) return broken(error);
    const char* begin = text.value().data();
    for (auto entry : sids) {
      json::field field;
      if ((error = std::move(entry).get(field)) != simdjson::SUCCESS) return broken(error);
      TESSERA_RETURN_IF_ERROR(read_sid(field));
      const char* position = nullptr;
      if (context_.progress && ++keys_ % kProgressItems == 0 &&
          document.current_location().get(position) == simdjson::SUCCESS) {
        context_.progress("import", static_cast<uint64_t>(position - begin), text.value().size());
      }
    }
    if (is_at_end(document)) return Status::ok();
    return import_error(context_.path, "expected nothing after the object");
  }

 private:
  Status broken(simdjson::error_code error) const {
    const std::string where = key_.empty() ? "" : "after key " + quote(key_) + ": ";
    return import_error(context_.path, where + "expected one JSON object of SIDs, came: " +
                                           simdjson::error_message(error));
  }

  Status bad_entry(const std::string& message) const {
    return import_error(context_.path, "key " + quote(key_) + ": " + message);
  }

  Status read_key() {
    const uint64_t base = context_.options.sid2pid_base;
    uint64_t key = 0;
    const char* end = key_.data() + key_.size();
    const auto parsed = std::from_chars(key_.data(), end, key);
    if (parsed.ec != std::errc() || parsed.ptr != end || key >= base * base * base) {
      return bad_entry("expected an integer below " + std::to_string(base) + " cubed");
    }
    sid_[2] = static_cast<uint32_t>(key % base);
    sid_[1] = static_cast<uint32_t>(key / base % base);
    sid_[0] = static_cast<uint32_t>(key / (base * base));
    return Status::ok();
  }

  Status read_sid(json::field& field) {
    std::string_view key;
    simdjson::error_code error = field.unescaped_key().get(key);
    if (error != simdjson::SUCCESS) return broken(error);
    key_ = key;
    TESSERA_RETURN_IF_ERROR(read_key());
    json::array items;
    if (field.value().get_array().get(items) != simdjson::SUCCESS) {
      return bad_entry("expected a list of items");
    }
    uint32_t count = 0;
    for (auto entry : items) {
      json::object item;
      error = entry.get_object().get(item);
      if (error == simdjson::INCORRECT_TYPE) {
        return bad_entry("items[" + std::to_string(count) + "]: expected an object");
      }
      if (error != simdjson::SUCCESS) return broken(error);
      TESSERA_RETURN_IF_ERROR(read_item(item, "items[" + std::to_string(count) + "]"));
      ++count;
    }
    return count > 0 ? Status::ok() : bad_entry("expected at least one item, came an empty list");
  }

  Status read_item(json::object& item, const std::string& place) {
    std::string item_id;
    double priority = 0;
    for (auto entry : item) {
      json::field field;
      const simdjson::error_code error = std::move(entry).get(field);
      if (error != simdjson::SUCCESS) return broken(error);
      std::string_view name;
      if (field.unescaped_key().get(name) != simdjson::SUCCESS)
        return broken(simdjson::STRING_ERROR);
      if (name == "pid" || name == "iid") {
        if (!item_id.empty()) return bad_entry(place + ": expected one pid or iid, came two");
        TESSERA_RETURN_IF_ERROR(read_id(field.value(), place + "." + std::string(name), item_id));
      } else if (name == "count") {
        if (field.value().get_double().get(priority) != simdjson::SUCCESS || priority < 0) {
          return bad_entry(place + ".count: expected a number of at least 0");
        }
      }
    }
    if (item_id.empty()) return bad_entry(place + ": expected a pid or an iid");
    add_item({item_id, sid_, {}, attributes_, priority, 0}, context_.input);
    return Status::ok();
  }

  Status read_id(json::value value, const std::string& place, std::string& item_id) const {
    std::string_view text;
    int64_t signed_id = 0;
    uint64_t unsigned_id = 0;
    if (value.get_int64().get(signed_id) == simdjson::SUCCESS) {
      item_id = std::to_string(signed_id);
    } else if (value.get_uint64().get(unsigned_id) == simdjson::SUCCESS) {
      item_id = std::to_string(unsigned_id);
    } else if (value.get_string().get(text) == simdjson::SUCCESS && !text.empty()) {
      item_id = text;
    } else {
      return bad_entry(place + ": expected an integer or a string");
    }
    return Status::ok();
  }

  const ImportContext& context_;
  const std::string attributes_;
  std::string key_;
  uint32_t sid_[kLevels] = {};
  uint64_t keys_ = 0;
};

}  // namespace

Status import_sid2pid(const ImportContext& context) { return Sid2PidReader(context).read(); }

}  // namespace tessera::catalogue
