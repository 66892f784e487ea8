// sid2pid.json: one object, SID key to the items that share the SID.
#include <charconv>
#include <cmath>

#include "catalogue/format.h"
#include "catalogue/import_json.h"

namespace tessera::catalogue {
namespace {

namespace json = simdjson::ondemand;

constexpr uint32_t kLevels = 3;

class Sid2PidReader {
 public:
  explicit Sid2PidReader(const ImportContext& context)
      : context_(context), file_(context, "SIDs"), attributes_(domain_attributes(context.domain)) {}

  Status read() {
    const uint32_t base = context_.options.sid2pid_base;
    if (base < 2 || base > kMaxLevelSize) {
      return import_error(context_.path, "sid2pid base: expected 2 to " +
                                             std::to_string(kMaxLevelSize) + ", got " +
                                             std::to_string(base));
    }
    return file_.read([this](json::value value) { return read_sid(value); });
  }

 private:
  Status read_key() {
    const uint64_t base = context_.options.sid2pid_base;
    uint64_t key = 0;
    const std::string& text = file_.key();
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, key);
    if (parsed.ec != std::errc() || parsed.ptr != end || key >= base * base * base) {
      return file_.bad_field("expected an integer below " + std::to_string(base) + " cubed");
    }
    sid_[2] = static_cast<uint32_t>(key % base);
    sid_[1] = static_cast<uint32_t>(key / base % base);
    sid_[0] = static_cast<uint32_t>(key / (base * base));
    return Status::ok();
  }

  Status read_sid(json::value sid) {
    TESSERA_RETURN_IF_ERROR(read_key());
    json::array items;
    if (sid.get_array().get(items) != simdjson::SUCCESS) {
      return file_.bad_field("expected a list of items");
    }
    uint32_t count = 0;
    for (auto entry : items) {
      json::object item;
      const simdjson::error_code error = entry.get_object().get(item);
      if (error == simdjson::INCORRECT_TYPE) {
        return file_.bad_field("items[" + std::to_string(count) + "]: expected an object");
      }
      if (error != simdjson::SUCCESS) return file_.broken(error);
      TESSERA_RETURN_IF_ERROR(read_item(item, "items[" + std::to_string(count) + "]"));
      ++count;
    }
    return count > 0 ? Status::ok()
                     : file_.bad_field("expected at least one item, got an empty list");
  }

  Status read_item(json::object& item, const std::string& place) {
    std::string item_id;
    double priority = 0;
    for (auto entry : item) {
      json::field field;
      const simdjson::error_code error = std::move(entry).get(field);
      if (error != simdjson::SUCCESS) return file_.broken(error);
      std::string_view name;
      if (field.unescaped_key(false).get(name) != simdjson::SUCCESS)
        return file_.broken(simdjson::STRING_ERROR);
      if (name == "pid" || name == "iid") {
        if (!item_id.empty()) return file_.bad_field(place + ": expected one pid or iid, got two");
        TESSERA_RETURN_IF_ERROR(read_id(field.value(), place + "." + std::string(name), item_id));
      } else if (name == "count") {
        if (field.value().get_double().get(priority) != simdjson::SUCCESS || priority < 0) {
          return file_.bad_field(place + ".count: expected a number of at least 0");
        }
      }
    }
    if (item_id.empty()) return file_.bad_field(place + ": expected a pid or an iid");
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
      return file_.bad_field(place + ": expected an integer or a string");
    }
    return Status::ok();
  }

  const ImportContext& context_;
  ObjectFile file_;
  const std::string attributes_;
  uint32_t sid_[kLevels] = {};
};

}  // namespace

Status import_sid2pid(const ImportContext& context) { return Sid2PidReader(context).read(); }

}  // namespace tessera::catalogue
