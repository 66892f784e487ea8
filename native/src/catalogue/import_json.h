// What the importers share: loading a JSON document, words for its errors, adding an item to an
// input.
#pragma once

#include <simdjson.h>

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "catalogue/import.h"

namespace tessera::catalogue {

/// Where an importer stands: the file, its domain, the input it fills.
struct ImportContext {
  const std::string& path;
  const std::string& domain;
  const ImportOptions& options;
  const Progress& progress;
  CatalogueInput& input;
};

/// CATALOGUE_INVALID, the message beginning with the path.
Status import_error(const std::string& path, const std::string& message);

/// "expected ..., came ..." with the JSON text that came, cut to a readable length.
std::string expected_but_came(const std::string& expected, std::string_view came);

/// Reads the whole file with the padding that the parser wants.
/// Errors: CATALOGUE_NOT_FOUND, CATALOGUE_INVALID when larger than kMaxJsonBytes, IO_FAILED.
Result<simdjson::padded_string> load_json(const std::string& path);

/// Whether nothing follows the value that has been read through.
bool is_at_end(simdjson::ondemand::document& document);

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
