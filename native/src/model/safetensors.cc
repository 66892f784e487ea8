#include "model/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_set>

#include "model/json.h"

namespace tessera::model {
namespace {

constexpr uint64_t kLengthBytes = 8;

struct TypeRow {
  std::string_view name;
  uint64_t size;  // bytes per element
};
constexpr std::array<TypeRow, 15> kTypes = {{{"F32", 4},
                                             {"BF16", 2},
                                             {"F16", 2},
                                             {"F64", 8},
                                             {"I64", 8},
                                             {"U64", 8},
                                             {"I32", 4},
                                             {"U32", 4},
                                             {"I16", 2},
                                             {"U16", 2},
                                             {"I8", 1},
                                             {"U8", 1},
                                             {"BOOL", 1},
                                             {"F8_E4M3", 1},
                                             {"F8_E5M2", 1}}};

std::optional<tensor::DType> computed_type(std::string_view name) {
  for (const tensor::DType type :
       {tensor::DType::kF32, tensor::DType::kBf16, tensor::DType::kF16}) {
    if (tensor::dtype_name(type) == name) return type;
  }
  return {};
}

std::string shape_text(simdjson::dom::array shape) {
  std::string text = "[";
  for (const simdjson::dom::element size : shape) {
    if (text.size() > 1) text += ",";
    text += describe(size);
    if (text.size() > 100) return text + "...";
  }
  return text + "]";
}

/// The first bytes as text, in which other contents may be known.
std::string begin_of(std::span<const std::byte> file) {
  constexpr size_t kShownBytes = 16;
  std::string text;
  for (const std::byte byte : file.first(std::min(file.size(), kShownBytes))) {
    const auto character = static_cast<char>(byte);
    text += character >= ' ' && character <= '~' ? character : '.';
  }
  return (text.starts_with('{') ? "JSON, '" : "'") + text + "'";
}

/// Reads the header of one file; `data` is what follows the header.
class HeaderReader {
 public:
  HeaderReader(std::string file, std::span<const std::byte> data)
      : file_(std::move(file)), data_(data) {}

  Status read(simdjson::dom::object header) {
    std::unordered_set<std::string_view> names;
    for (const simdjson::dom::key_value_pair field : header) {
      if (!names.insert(field.key).second) return corrupt(field.key, "one entry", "two");
      if (field.key == "__metadata__") continue;
      if (entries_.size() == kMaxTensors) {
        return corrupt("header", "at most " + std::to_string(kMaxTensors) + " tensors", "more");
      }
      TESSERA_RETURN_IF_ERROR(read_entry(field.key, field.value));
    }
    return check_layout();
  }

  std::vector<TensorEntry> take() { return std::move(entries_); }

 private:
  Status corrupt(std::string_view where, const std::string& expected,
                 const std::string& got) const {
    return {Code::kModelCorrupt,
            file_ + ": " + std::string(where) + ": expected " + expected + ", got " + got};
  }

  Status read_entry(std::string_view name, simdjson::dom::element value) {
    simdjson::dom::object object;
    std::string_view dtype;
    simdjson::dom::array shape, offsets;
    simdjson::dom::element raw_offsets;
    if (value.get_object().get(object) != simdjson::SUCCESS) {
      return corrupt(name, "an object", describe(value));
    }
    if (object.at_key("dtype").get_string().get(dtype) != simdjson::SUCCESS ||
        object.at_key("shape").get_array().get(shape) != simdjson::SUCCESS ||
        object.at_key("data_offsets").get(raw_offsets) != simdjson::SUCCESS ||
        raw_offsets.get_array().get(offsets) != simdjson::SUCCESS) {
      return corrupt(name, "{dtype, shape, data_offsets}", describe(value));
    }
    TensorEntry entry;
    entry.name = name;
    entry.dtype = dtype;
    entry.type = computed_type(dtype);
    uint64_t bytes = 0, begin = 0, end = 0;
    TESSERA_RETURN_IF_ERROR(read_shape(entry, shape, bytes));
    if (offsets.size() != 2 || offsets.at(0).get_uint64().get(begin) != simdjson::SUCCESS ||
        offsets.at(1).get_uint64().get(end) != simdjson::SUCCESS || begin > end ||
        end > data_.size()) {
      return corrupt(std::string(name) + ".data_offsets",
                     "[begin, end] in 0.." + std::to_string(data_.size()), describe(raw_offsets));
    }
    if (end - begin != bytes) {
      return corrupt(std::string(name) + ".data_offsets",
                     std::to_string(bytes) + " bytes for its shape and dtype",
                     std::to_string(end - begin));
    }
    entry.bytes = data_.subspan(begin, bytes);
    entries_.push_back(std::move(entry));
    return Status::ok();
  }

  /// Fills entry.shape and the size in bytes that shape and dtype ask for.
  Status read_shape(TensorEntry& entry, simdjson::dom::array shape, uint64_t& bytes) const {
    const auto row = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const TypeRow& known) { return known.name == entry.dtype; });
    if (row == kTypes.end()) {
      return corrupt(entry.name + ".dtype", "a safetensors type", "\"" + entry.dtype + "\"");
    }
    const std::string got = shape_text(shape);
    if (shape.size() > kMaxTensorRank) {
      return corrupt(entry.name + ".shape", "at most " + std::to_string(kMaxTensorRank) + " sizes",
                     got);
    }
    bytes = row->size;
    for (const simdjson::dom::element size : shape) {
      uint64_t value = 0;
      if (size.get_uint64().get(value) != simdjson::SUCCESS) {
        return corrupt(entry.name + ".shape", "whole numbers", got);
      }
      if (__builtin_mul_overflow(bytes, value, &bytes)) {
        return corrupt(entry.name + ".shape", "a size below 2^64 bytes", got);
      }
      entry.shape.push_back(value);
    }
    return Status::ok();
  }

  /// Tensors must follow one another from the first byte to the last.
  Status check_layout() const {
    std::vector<const TensorEntry*> order;
    for (const TensorEntry& entry : entries_) order.push_back(&entry);
    std::sort(order.begin(), order.end(), [](const TensorEntry* a, const TensorEntry* b) {
      return a->bytes.data() != b->bytes.data() ? a->bytes.data() < b->bytes.data()
                                                : a->bytes.size() < b->bytes.size();
    });
    const std::byte* next = data_.data();
    for (const TensorEntry* entry : order) {
      if (entry->bytes.data() != next) {
        return corrupt(
            entry->name + ".data_offsets",
            "to begin at " + std::to_string(next - data_.data()) + " (no overlap, no hole)",
            std::to_string(entry->bytes.data() - data_.data()));
      }
      next += entry->bytes.size();
    }
    const uint64_t used = static_cast<uint64_t>(next - data_.data());
    if (used == data_.size()) return Status::ok();
    return corrupt("data", std::to_string(used) + " bytes", std::to_string(data_.size()));
  }

  std::string file_;
  std::span<const std::byte> data_;
  std::vector<TensorEntry> entries_;
};

}  // namespace

Result<std::vector<TensorEntry>> read_safetensors(std::span<const std::byte> file,
                                                  const std::string& name) {
  const auto corrupt = [&](const std::string& text) {
    return Status(Code::kModelCorrupt, name + ": " + text);
  };
  if (file.size() < kLengthBytes) {
    return corrupt("expected 8 bytes of header length, got " + std::to_string(file.size()));
  }
  uint64_t length = 0;
  for (uint64_t i = kLengthBytes; i-- > 0;) length = length << 8 | static_cast<uint64_t>(file[i]);
  const uint64_t rest = file.size() - kLengthBytes;
  if (length > rest || length > kMaxHeaderBytes) {
    return corrupt("header length: expected at most " +
                   std::to_string(std::min(rest, kMaxHeaderBytes)) + ", got " +
                   std::to_string(length) + ": the file begins with " + begin_of(file));
  }
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes, length);
  simdjson::dom::parser parser;
  Result<simdjson::dom::element> root =
      parse_json(parser, text, name + ": header", Code::kModelCorrupt);
  if (!root.is_ok()) return root.status();
  simdjson::dom::object header;
  if (root.value().get_object().get(header) != simdjson::SUCCESS) {
    return corrupt("header: expected an object, got " + describe(root.value()));
  }
  HeaderReader reader(name, file.subspan(kLengthBytes + length));
  TESSERA_RETURN_IF_ERROR(reader.read(header));
  return reader.take();
}

}  // namespace tessera::model
