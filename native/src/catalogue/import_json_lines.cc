// JSON lines: one object per item; the file is mapped and read line by line.
#include <algorithm>
#include <cstring>

#include "catalogue/format.h"
#include "catalogue/import_json.h"
#include "platform/mapped_file.h"

namespace tessera::catalogue {
namespace {

namespace dom = simdjson::dom;

constexpr uint32_t kProgressLines = 1u << 16;

class JsonLinesReader {
 public:
  explicit JsonLinesReader(const ImportContext& context)
      : context_(context), domain_attributes_(domain_attributes(context.domain)) {}

  Status read() {
    Result<platform::MappedFile> file =
        platform::MappedFile::open(context_.path, Code::kCatalogueNotFound);
    if (!file.is_ok()) return file.status();
    const std::string_view text = file.value().text();
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      ++line_;
      if (end - begin > kMaxLineBytes) {
        return bad_line("longer than " + std::to_string(kMaxLineBytes) + " bytes");
      }
      const std::string_view line = text.substr(begin, end - begin);
      const bool is_padded = text.size() - end >= simdjson::SIMDJSON_PADDING;
      if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
        TESSERA_RETURN_IF_ERROR(read_line(line, is_padded));
      }
      begin = end + 1;
      if (line_ % kProgressLines == 0 && context_.progress) {
        context_.progress("import", std::min(begin, text.size()), text.size());
      }
    }
    return Status::ok();
  }

 private:
  Status bad_line(const std::string& message) const {
    return import_error(context_.path, "line " + std::to_string(line_) + ": " + message);
  }

  static std::string minified(dom::element value) { return simdjson::minify(value); }

  Status read_line(std::string_view line, bool is_padded) {
    dom::element root;
    const simdjson::error_code error =
        parser_.parse(line.data(), line.size(), !is_padded).get(root);
    if (error != simdjson::SUCCESS) {
      return bad_line(std::string("not valid JSON: ") + simdjson::error_message(error));
    }
    dom::object object;
    if (root.get(object) != simdjson::SUCCESS) {
      return bad_line(expected_but_got("an object", minified(root)));
    }
    return read_object(object);
  }

  Status read_object(const dom::object& object) {
    enum Field : uint32_t { kItemId = 1, kSid = 2, kTitle = 4, kAttributes = 8, kPriority = 16 };
    uint32_t seen = 0;
    ImportItem item;
    item.line = line_;
    item_id_.clear();
    sid_.clear();
    attributes_ = domain_attributes_;
    for (const auto [key, value] : object) {
      const uint32_t field = key == "item_id"      ? kItemId
                             : key == "sid"        ? kSid
                             : key == "title"      ? kTitle
                             : key == "attributes" ? kAttributes
                             : key == "priority"   ? kPriority
                                                   : 0u;
      if (field == 0) {
        return bad_line("unknown field " + quote(key) +
                        ", expected item_id, sid, title, attributes or priority");
      }
      if ((seen & field) != 0) return bad_line("field " + quote(key) + " given twice");
      seen |= field;
      if (value.is_null() && field >= kTitle) continue;
      switch (field) {
        case kItemId: TESSERA_RETURN_IF_ERROR(read_item_id(value)); break;
        case kSid: TESSERA_RETURN_IF_ERROR(read_sid(value)); break;
        case kAttributes: TESSERA_RETURN_IF_ERROR(read_attributes(value)); break;
        case kTitle:
          if (value.get(item.title) != simdjson::SUCCESS) {
            return bad_line("title: " + expected_but_got("a string", minified(value)));
          }
          break;
        default:
          if (value.get(item.priority) != simdjson::SUCCESS) {
            return bad_line("priority: " + expected_but_got("a number", minified(value)));
          }
      }
    }
    if ((seen & kItemId) == 0) return bad_line("field item_id is missing");
    if ((seen & kSid) == 0) return bad_line("field sid is missing");
    item.item_id = item_id_;
    item.sid = sid_;
    item.attributes = attributes_;
    add_item(item, context_.input);
    return Status::ok();
  }

  Status read_item_id(dom::element value) {
    std::string_view text;
    int64_t signed_id = 0;
    uint64_t unsigned_id = 0;
    if (value.get(text) == simdjson::SUCCESS) {
      item_id_ = text;
    } else if (value.get(signed_id) == simdjson::SUCCESS) {
      item_id_ = std::to_string(signed_id);
    } else if (value.get(unsigned_id) == simdjson::SUCCESS) {
      item_id_ = std::to_string(unsigned_id);
    } else {
      return bad_line("item_id: " + expected_but_got("a string or an integer", minified(value)));
    }
    return Status::ok();
  }

  Status read_sid(dom::element value) {
    dom::array codes;
    if (value.get(codes) != simdjson::SUCCESS) {
      return bad_line("sid: " + expected_but_got("a list of codes", minified(value)));
    }
    for (const dom::element code_value : codes) {
      uint64_t code = 0;
      if (code_value.get(code) != simdjson::SUCCESS || code >= kMaxLevelSize) {
        return bad_line(
            "sid[" + std::to_string(sid_.size()) + "]: " +
            expected_but_got("an integer code in [0, " + std::to_string(kMaxLevelSize) + ")",
                             minified(code_value)));
      }
      if (sid_.size() == kMaxDepth) {
        return bad_line("sid: expected at most " + std::to_string(kMaxDepth) + " codes");
      }
      sid_.push_back(static_cast<uint32_t>(code));
    }
    return Status::ok();
  }

  Status read_attributes(dom::element value) {
    const Status status = normalise_attributes(value, context_.domain, attributes_);
    return status.is_ok() ? status : bad_line("attributes: " + status.message());
  }

  const ImportContext& context_;
  const std::string domain_attributes_;
  dom::parser parser_{kMaxLineBytes};
  uint32_t line_ = 0;
  std::string item_id_;
  std::string attributes_;
  std::vector<uint32_t> sid_;
};

}  // namespace

Status import_json_lines(const ImportContext& context) { return JsonLinesReader(context).read(); }

}  // namespace tessera::catalogue
