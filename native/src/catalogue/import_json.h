// Functions of all importers: loading a JSON document, words for its errors, adding an item to an
// input.
#pragma once

#include <simdjson.h>

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "catalogue/import.h"

namespace tessera::catalogue {

/// State of an importer: the file, its domain, the input it fills.
struct ImportContext {
  const std::string& path;
  const std::string& domain;
  const ImportOptions& options;
  const Progress& progress;
  CatalogueInput& input;
};

/// CATALOGUE_INVALID, the message beginning with the path.
Status import_error(const std::string& path, const std::string& message);

/// "expected ..., got ..." with the JSON text found, cut to a readable length.
std::string expected_but_got(const std::string& expected, std::string_view got);

/// Reads the whole file with the padding that the parser wants.
/// Errors: CATALOGUE_NOT_FOUND, CATALOGUE_INVALID when larger than kMaxJsonBytes, IO_FAILED.
Result<simdjson::padded_string> load_json(const std::string& path);

/// True if the document ends after the value that was read.
bool is_at_end(simdjson::ondemand::document& document);

/// A file that is one JSON object, read field by field; its errors name the key they stand at.
class ObjectFile {
 public:
  /// `fields` says in messages what the object holds, e.g. "items".
  ObjectFile(const ImportContext& context, std::string fields)
      : context_(context), fields_(std::move(fields)) {}

  /// Calls visit(value) -> Status for each field, in order; key() is the field's. Stops at the
  /// first Status that is not ok. Reports progress in bytes.
  template <typename Visit>
  Status read(const Visit& visit);
  const std::string& key() const { return key_; }
  /// The JSON itself is at fault.
  Status broken(simdjson::error_code error) const;
  /// An error that names the value under key().
  Status bad_field(const std::string& message) const;

 private:
  static constexpr uint64_t kProgressFields = 1u << 16;

  const ImportContext& context_;
  const std::string fields_;
  std::string key_;
};

template <typename Visit>
Status ObjectFile::read(const Visit& visit) {
  Result<simdjson::padded_string> text = load_json(context_.path);
  if (!text.is_ok()) return text.status();
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  simdjson::error_code error = parser.iterate(text.value()).get(document);
  simdjson::ondemand::object object;
  if (error == simdjson::SUCCESS) error = document.get_object().get(object);
  if (error != simdjson::SUCCESS) return broken(error);
  const char* begin = text.value().data();
  uint64_t count = 0;
  for (auto entry : object) {
    simdjson::ondemand::field field;
    if ((error = std::move(entry).get(field)) != simdjson::SUCCESS) return broken(error);
    std::string_view key;
    if ((error = field.unescaped_key(false).get(key)) != simdjson::SUCCESS) return broken(error);
    key_ = key;
    TESSERA_RETURN_IF_ERROR(visit(field.value()));
    const char* position = nullptr;
    if (context_.progress && ++count % kProgressFields == 0 &&
        document.current_location().get(position) == simdjson::SUCCESS) {
      context_.progress("import", static_cast<uint64_t>(position - begin), text.value().size());
    }
  }
  if (is_at_end(document)) return Status::ok();
  return import_error(context_.path, "expected nothing after the object");
}

/// {"domain": ...} as JSON text; empty for an empty domain.
std::string domain_attributes(const std::string& domain);

/// Attributes of one item as minified JSON object text with the domain in it; empty when there is
/// nothing to say. Errors: message (no path) when `attributes` is no object or already has another
/// domain.
Status normalise_attributes(simdjson::dom::element attributes, const std::string& domain,
                            std::string& text);

/// Appends an item; titles, attributes and priorities are filled up for the items before it when
/// first used.
struct ImportItem {
  std::string_view item_id;
  std::span<const uint32_t> sid;
  std::string_view title;
  std::string_view attributes;
  double priority = 0;
  uint32_t line = 0;
};
void add_item(const ImportItem& item, CatalogueInput& input);

// One importer per format; each appends to context.input. Errors: CATALOGUE_INVALID, IO_FAILED.
Status import_index(const ImportContext& context);  // integer codes and token strings
Status import_sid2pid(const ImportContext& context);
Status import_json_lines(const ImportContext& context);
Status import_snapshot(const ImportContext& context);

/// Sets titles of the items named in the file; titles of unknown items are left out.
Status apply_titles(const std::string& path, CatalogueInput& input);

}  // namespace tessera::catalogue
