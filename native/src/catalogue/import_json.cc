#include "catalogue/import_json.h"

#include <cstring>

#include "platform/mapped_file.h"

namespace tessera::catalogue {
namespace {

constexpr size_t kShownBytes = 80;

}  // namespace

Status import_error(const std::string& path, const std::string& message) {
  return {Code::kCatalogueInvalid, path + ": " + message};
}

std::string expected_but_got(const std::string& expected, std::string_view got) {
  while (!got.empty() && std::strchr(" \t\r\n", got.back()) != nullptr) got.remove_suffix(1);
  size_t shown = std::min(got.size(), kShownBytes);
  const bool is_cut = shown < got.size();
  while (is_cut && shown > 0 && (static_cast<uint8_t>(got[shown]) & 0xC0) == 0x80) --shown;
  return "expected " + expected + ", got " + std::string(got.substr(0, shown)) +
         (is_cut ? "..." : "");
}

Result<simdjson::padded_string> load_json(const std::string& path) {
  Result<platform::MappedFile> file = platform::MappedFile::open(path, Code::kCatalogueNotFound);
  if (!file.is_ok()) return file.status();
  const std::string_view text = file.value().text();
  if (text.size() > kMaxJsonBytes) {
    return import_error(path, std::to_string(text.size()) + " bytes, expected at most " +
                                  std::to_string(kMaxJsonBytes));
  }
  return simdjson::padded_string(text);
}

bool is_at_end(simdjson::ondemand::document& document) {
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

Status ObjectFile::broken(simdjson::error_code error) const {
  const std::string where = key_.empty() ? "" : "after key " + quote(key_) + ": ";
  return import_error(context_.path, where + "expected one JSON object of " + fields_ +
                                         ", got: " + simdjson::error_message(error));
}

Status ObjectFile::bad_field(const std::string& message) const {
  return import_error(context_.path, "key " + quote(key_) + ": " + message);
}

std::string domain_attributes(const std::string& domain) {
  return domain.empty() ? std::string() : "{\"domain\":" + json_text(domain) + "}";
}

Status normalise_attributes(simdjson::dom::element attributes, const std::string& domain,
                            std::string& text) {
  simdjson::dom::object object;
  if (attributes.get(object) != simdjson::SUCCESS) {
    return {Code::kCatalogueInvalid,
            expected_but_got("an object", std::string(simdjson::minify(attributes)))};
  }
  text = simdjson::minify(object);
  if (domain.empty()) {
    if (text == "{}") text.clear();
    return Status::ok();
  }
  simdjson::dom::element given;
  if (object.at_key("domain").get(given) == simdjson::SUCCESS) {
    std::string_view given_domain;
    if (given.get(given_domain) == simdjson::SUCCESS && given_domain == domain) return Status::ok();
    return {Code::kCatalogueInvalid,
            "domain: " + expected_but_got(json_text(domain), simdjson::minify(given))};
  }
  const std::string own = domain_attributes(domain);
  text = text == "{}" ? own : own.substr(0, own.size() - 1) + "," + text.substr(1);
  return Status::ok();
}

void add_item(const ImportItem& item, CatalogueInput& input) {
  const size_t before = input.item_count();
  input.codes.insert(input.codes.end(), item.sid.begin(), item.sid.end());
  input.sid_ends.push_back(input.codes.size());
  input.item_ids.add(item.item_id);
  const auto add_text = [before](TextColumn& column, std::string_view text) {
    if (column.empty() && text.empty()) return;
    column.ends.resize(before, 0);
    column.add(text);
  };
  add_text(input.titles, item.title);
  add_text(input.attributes, item.attributes);
  if (!input.priorities.empty() || item.priority != 0) {
    input.priorities.resize(before, 0);
    input.priorities.push_back(item.priority);
  }
  if (!input.lines.empty() || item.line != 0) {
    input.lines.resize(before, 0);
    input.lines.push_back(item.line);
  }
}

}  // namespace tessera::catalogue
