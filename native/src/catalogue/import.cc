#include "catalogue/import.h"

#include <array>
#include <cstring>

#include "catalogue/import_json.h"
#include "catalogue/snapshot.h"
#include "platform/mapped_file.h"

namespace tessera::catalogue {
namespace {

/// Reads just enough of a file's beginning to tell its format.
class Peek {
 public:
  explicit Peek(std::string_view text) : text_(text) {}

  /// Next character that is not white space, taken; 0 at the end.
  char next() {
    position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size());
    return position_ < text_.size() ? text_[position_++] : '\0';
  }
  /// The rest of a string whose quote has been taken, escapes left as they are.
  std::string_view string() {
    const size_t begin = position_;
    while (position_ < text_.size() && text_[position_] != '"') {
      position_ += text_[position_] == '\\' ? 2 : 1;
    }
    position_ = std::min(position_, text_.size());
    return text_.substr(begin, position_++ - begin);
  }

 private:
  std::string_view text_;
  size_t position_ = 0;
};

bool is_line_field(std::string_view key) {
  return key == "item_id" || key == "sid" || key == "title" || key == "attributes" ||
         key == "priority";
}

Status check_domain(const ImportSource& source) {
  const bool is_text = simdjson::validate_utf8(source.domain.data(), source.domain.size());
  if (is_text && source.domain.size() <= kMaxDomainBytes) return Status::ok();
  return import_error(source.path, "domain: expected at most " + std::to_string(kMaxDomainBytes) +
                                       " bytes of UTF-8");
}

/// Level sizes and patterns belong to all sources: sizes hold when all agree, patterns must agree.
Status join_levels(const ImportSource& source, CatalogueInput& joined, CatalogueInput& added,
                   bool is_first) {
  if (is_first) {
    joined.level_sizes = added.level_sizes;
    joined.level_patterns = added.level_patterns;
    return Status::ok();
  }
  if (joined.level_sizes != added.level_sizes) joined.level_sizes.clear();
  auto& patterns = joined.level_patterns;
  for (size_t level = 0; level < added.level_patterns.size(); ++level) {
    if (level == patterns.size()) patterns.push_back(added.level_patterns[level]);
    if (patterns[level] != added.level_patterns[level]) {
      return import_error(source.path, "level " + std::to_string(level) + ": " +
                                           expected_but_got("tokens like " + patterns[level],
                                                            added.level_patterns[level]));
    }
  }
  return Status::ok();
}

Status read_source(const ImportSource& source, const ImportOptions& options,
                   const Progress& progress, CatalogueInput& input) {
  TESSERA_RETURN_IF_ERROR(check_domain(source));
  const Result<FileFormat> format = detect_format(source.path);
  if (!format.is_ok()) return format.status();
  const ImportContext context{source.path, source.domain, options, progress, input};
  switch (format.value()) {
    case FileFormat::kSnapshot: return import_snapshot(context);
    case FileFormat::kSid2Pid:
      input.level_sizes.assign(3, options.sid2pid_base);
      return import_sid2pid(context);
    case FileFormat::kJsonLines: return import_json_lines(context);
    case FileFormat::kIndexCodes:
    case FileFormat::kIndexTokens: break;
  }
  return import_index(context);
}

}  // namespace

Result<FileFormat> detect_format(const std::string& path) {
  Result<platform::MappedFile> file = platform::MappedFile::open(path, Code::kCatalogueNotFound);
  if (!file.is_ok()) return file.status();
  const std::string_view text = file.value().text();
  if (text.size() >= sizeof(kMagic) && std::memcmp(text.data(), kMagic, sizeof(kMagic)) == 0) {
    return FileFormat::kSnapshot;
  }
  const Status unknown =
      import_error(path,
                   "expected a catalogue snapshot, an index or sid2pid JSON object, or JSON "
                   "lines (docs/start/input-files.md)");
  Peek peek(text);
  if (peek.next() != '{') return unknown;
  const char first = peek.next();
  if (first == '}') return import_error(path, "no items, expected at least one");
  if (first != '"') return unknown;
  const std::string_view key = peek.string();
  if (peek.next() != ':') return unknown;
  const char value = peek.next();
  if (is_line_field(key)) return FileFormat::kJsonLines;
  if (value != '[') {
    return import_error(path, "key " + quote(key) +
                                  ": expected a list of codes, tokens or items; or one object with "
                                  "item_id and sid per line");
  }
  const char element = peek.next();
  if (element == '"') return FileFormat::kIndexTokens;
  return element == '{' ? FileFormat::kSid2Pid : FileFormat::kIndexCodes;
}

Status import_snapshot(const ImportContext& context) {
  const Result<std::shared_ptr<const Snapshot>> opened = Snapshot::open(context.path);
  if (!opened.is_ok()) return opened.status();
  const Snapshot& snapshot = *opened.value();
  CatalogueInput& input = context.input;
  for (uint32_t level = 0; level < snapshot.depth(); ++level) {
    input.level_sizes.push_back(snapshot.level_size(level));
    const std::string_view pattern = snapshot.level_pattern(level);
    if (!pattern.empty() && input.level_patterns.size() == level) {
      input.level_patterns.emplace_back(pattern);
    }
  }
  simdjson::dom::parser parser;
  std::array<uint32_t, kMaxDepth> sid;
  std::string attributes;
  for (ItemOrdinal item = 0; item < snapshot.item_count(); ++item) {
    const uint32_t depth = snapshot.sid(snapshot.node_of(item), sid);
    simdjson::dom::element element;
    const std::string_view text = snapshot.attributes(item);
    Status status;
    if (parser.parse(text.data(), text.size()).get(element) != simdjson::SUCCESS) {
      status = {Code::kCatalogueInvalid, "not valid JSON"};
    } else {
      status = normalise_attributes(element, context.domain, attributes);
    }
    if (!status.is_ok()) {
      return import_error(context.path, "item " + quote(snapshot.item_id(item)) +
                                            ": attributes: " + status.message());
    }
    add_item({snapshot.item_id(item), std::span(sid).first(depth), snapshot.title(item), attributes,
              snapshot.priority(item), 0},
             input);
  }
  return Status::ok();
}

Result<CatalogueInput> import_files(std::span<const ImportSource> sources,
                                    const ImportOptions& options, const Progress& progress) {
  CatalogueInput joined;
  for (size_t s = 0; s < sources.size(); ++s) {
    // The columns are appended in place; only what belongs to levels is joined.
    CatalogueInput levels;
    std::swap(levels.level_sizes, joined.level_sizes);
    std::swap(levels.level_patterns, joined.level_patterns);
    joined.sources.push_back({sources[s].path, joined.item_count()});
    TESSERA_RETURN_IF_ERROR(read_source(sources[s], options, progress, joined));
    TESSERA_RETURN_IF_ERROR(join_levels(sources[s], levels, joined, s == 0));
    std::swap(levels.level_sizes, joined.level_sizes);
    std::swap(levels.level_patterns, joined.level_patterns);
  }
  if (!options.level_sizes.empty()) joined.level_sizes = options.level_sizes;
  if (!options.titles_path.empty()) {
    TESSERA_RETURN_IF_ERROR(apply_titles(options.titles_path, joined));
  }
  return joined;
}

Result<CatalogueInput> import_file(const ImportSource& source, const ImportOptions& options,
                                   const Progress& progress) {
  return import_files(std::span(&source, 1), options, progress);
}

}  // namespace tessera::catalogue
