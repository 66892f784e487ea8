// Titles of items from a file beside the catalogue: JSON {"item": {"title": ...}} or TSV with a
// header.
#include <algorithm>
#include <unordered_map>

#include "catalogue/import_json.h"
#include "platform/mapped_file.h"

namespace tessera::catalogue {
namespace {

namespace json = simdjson::ondemand;

using TitleMap = std::unordered_map<std::string, std::string>;

Status add_title(const std::string& path, std::string_view id, std::string_view title,
                 TitleMap& titles) {
  if (titles.emplace(id, title).second) return Status::ok();
  return import_error(path, "item " + quote(id) + " given twice, expected each once");
}

Status read_json_titles(const std::string& path, TitleMap& titles) {
  Result<simdjson::padded_string> text = load_json(path);
  if (!text.is_ok()) return text.status();
  const auto broken = [&](simdjson::error_code error) {
    return import_error(path, std::string("expected one JSON object of items, got: ") +
                                  simdjson::error_message(error));
  };
  json::parser parser;
  json::document document;
  simdjson::error_code error = parser.iterate(text.value()).get(document);
  json::object items;
  if (error == simdjson::SUCCESS) error = document.get_object().get(items);
  if (error != simdjson::SUCCESS) return broken(error);
  for (auto entry : items) {
    json::field field;
    std::string_view key;
    json::object item;
    if ((error = std::move(entry).get(field)) != simdjson::SUCCESS) return broken(error);
    if ((error = field.unescaped_key(false).get(key)) != simdjson::SUCCESS) return broken(error);
    const std::string id(key);
    if (field.value().get_object().get(item) != simdjson::SUCCESS) {
      return import_error(path, "key " + quote(id) + ": expected an object with a title");
    }
    json::value title_value;
    error = item.find_field_unordered("title").get(title_value);
    if (error == simdjson::NO_SUCH_FIELD) continue;
    if (error != simdjson::SUCCESS) return broken(error);
    std::string_view title;
    bool is_null = false;
    if ((error = title_value.is_null().get(is_null)) != simdjson::SUCCESS) return broken(error);
    if (!is_null && title_value.get_string().get(title) != simdjson::SUCCESS) {
      return import_error(path, "key " + quote(id) + ": title: expected a string");
    }
    TESSERA_RETURN_IF_ERROR(add_title(path, id, title, titles));
  }
  if (is_at_end(document)) return Status::ok();
  return import_error(path, "expected nothing after the object");
}

std::vector<std::string_view> columns_of(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  std::vector<std::string_view> columns;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find('\t', begin), line.size());
    columns.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return columns;
}

Status read_tsv_titles(const std::string& path, std::string_view text, TitleMap& titles) {
  size_t id_column = 0;
  size_t title_column = 0;
  size_t column_count = 0;
  uint64_t line_number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::vector<std::string_view> columns = columns_of(text.substr(begin, end - begin));
    begin = end + 1;
    if (++line_number == 1) {
      const auto find = [&](std::string_view name) {
        return static_cast<size_t>(std::find(columns.begin(), columns.end(), name) -
                                   columns.begin());
      };
      id_column = std::min(find("item"), find("item_id"));
      title_column = find("title");
      column_count = columns.size();
      if (id_column < column_count && title_column < column_count) continue;
      return import_error(path,
                          "line 1: expected a JSON object, or a header with the columns "
                          "item (or item_id) and title");
    }
    if (columns.size() == 1 && columns[0].empty()) continue;
    if (columns.size() != column_count) {
      return import_error(path, "line " + std::to_string(line_number) + ": expected " +
                                    std::to_string(column_count) + " columns, got " +
                                    std::to_string(columns.size()));
    }
    TESSERA_RETURN_IF_ERROR(add_title(path, columns[id_column], columns[title_column], titles));
  }
  return Status::ok();
}

}  // namespace

Status apply_titles(const std::string& path, CatalogueInput& input) {
  TitleMap titles;
  {
    Result<platform::MappedFile> file = platform::MappedFile::open(path, Code::kCatalogueNotFound);
    if (!file.is_ok()) return file.status();
    const std::string_view text = file.value().text();
    const size_t first = text.find_first_not_of(" \t\r\n");
    const bool is_json = first != std::string_view::npos && text[first] == '{';
    if (!is_json && !simdjson::validate_utf8(text.data(), text.size())) {
      return import_error(path, "is not valid UTF-8");
    }
    TESSERA_RETURN_IF_ERROR(is_json ? read_json_titles(path, titles)
                                    : read_tsv_titles(path, text, titles));
  }
  TextColumn merged;
  for (size_t item = 0; item < input.item_count(); ++item) {
    const auto found = titles.find(std::string(input.item_ids[item]));
    const std::string_view own = input.titles.empty() ? std::string_view() : input.titles[item];
    merged.add(found == titles.end() ? own : std::string_view(found->second));
  }
  input.titles = std::move(merged);
  return Status::ok();
}

}  // namespace tessera::catalogue
