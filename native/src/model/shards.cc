#include "model/shards.h"

#include <map>
#include <utility>

#include "base/check.h"
#include "model/json.h"
#include "model/layer_block.h"
#include "platform/file.h"

namespace tessera::model {
namespace {

/// A file's name within the folder: nothing that leads elsewhere.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

/// Errors: a folder with pickled weights alone, which are a program.
Status refuse_pickle(const std::string& folder) {
  for (const std::string_view name : {"pytorch_model.bin", "pytorch_model.bin.index.json"}) {
    const std::string path = folder + "/" + std::string(name);
    if (platform::exists(path)) {
      return {Code::kModelNotFound,
              path +
                  ": expected model.safetensors, got pickled weights, which are not read "
                  "(load the model in Python and save_pretrained it)"};
    }
  }
  return Status::ok();
}

}  // namespace

const TensorEntry* Shards::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

void Shards::release(const TensorEntry& entry) const {
  for (const platform::MappedFile& file : files_) {
    const std::span<const std::byte> bytes = file.bytes();
    const std::byte* data = entry.bytes.data();
    if (data >= bytes.data() && data < bytes.data() + bytes.size()) file.release(entry.bytes);
  }
}

Status Shards::add(const std::string& file) {
  const std::string path = folder_ + "/" + file;
  Result<platform::MappedFile> mapped = platform::MappedFile::open(path, Code::kModelNotFound);
  if (!mapped.is_ok()) return mapped.status();
  Result<std::vector<TensorEntry>> entries = read_safetensors(mapped.value().bytes(), path);
  if (!entries.is_ok()) return entries.status();
  for (TensorEntry& entry : entries.value()) {
    const std::string name = entry.name;
    if (!tensors_.emplace(name, std::move(entry)).second) {
      return {Code::kModelCorrupt, path + ": " + name + ": expected in one file, got in two"};
    }
  }
  files_.push_back(std::move(mapped).value());
  return Status::ok();
}

Status Shards::open_index(const platform::MappedFile& index, const std::string& path) {
  const auto corrupt = [&](const std::string& text) {
    return Status(Code::kModelCorrupt, path + ": " + text);
  };
  const std::string_view text = index.text();
  if (text.size() > kMaxIndexBytes) {
    return corrupt("expected at most " + std::to_string(kMaxIndexBytes) + " bytes, got " +
                   std::to_string(text.size()));
  }
  simdjson::dom::parser parser;
  Result<simdjson::dom::element> root = parse_json(parser, text, path, Code::kModelCorrupt);
  if (!root.is_ok()) return root.status();
  simdjson::dom::object weight_map;
  if (root.value().at_key("weight_map").get_object().get(weight_map) != simdjson::SUCCESS) {
    return corrupt("weight_map: expected an object, got " + describe(root.value()));
  }
  std::map<std::string, std::vector<std::string>> files;
  for (const simdjson::dom::key_value_pair field : weight_map) {
    std::string_view file;
    if (field.value.get_string().get(file) != simdjson::SUCCESS || !is_plain_name(file)) {
      return corrupt("weight_map." + std::string(field.key) +
                     ": expected the name of a file, got " + describe(field.value));
    }
    files[std::string(file)].emplace_back(field.key);
  }
  if (files.empty() || files.size() > kMaxShards) {
    return corrupt("weight_map: expected 1.." + std::to_string(kMaxShards) + " files, got " +
                   std::to_string(files.size()));
  }
  for (const auto& [file, names] : files) {
    TESSERA_RETURN_IF_ERROR(add(file));
    for (const std::string& name : names) {
      if (find(name) == nullptr) {
        return corrupt("weight_map." + name + ": expected in " + file + ", got nothing there");
      }
    }
  }
  return Status::ok();
}

Result<Shards> Shards::open(const std::string& folder) {
  Shards shards;
  shards.folder_ = folder;
  const std::string index_path = folder + "/model.safetensors.index.json";
  const bool is_one = platform::exists(folder + "/model.safetensors");
  if (is_one || !platform::exists(index_path)) {
    if (!is_one) TESSERA_RETURN_IF_ERROR(refuse_pickle(folder));
    TESSERA_RETURN_IF_ERROR(shards.add("model.safetensors"));
    return shards;
  }
  Result<platform::MappedFile> index = platform::MappedFile::open(index_path, Code::kModelNotFound);
  if (!index.is_ok()) return index.status();
  TESSERA_RETURN_IF_ERROR(shards.open_index(index.value(), index_path));
  return shards;
}

void visit_in_file(const Shards& shards, const std::string& prefix, const WeightSlot& slot,
                   const std::function<void(const tensor::TensorView&)>& use) {
  const TensorEntry* own = shards.find(prefix + slot.name);
  const TensorEntry* entry = own == nullptr ? shards.find(prefix + slot.part.name) : own;
  TESSERA_CHECK(entry != nullptr);
  const uint64_t first = own == nullptr ? slot.part.first_row * slot.inputs : 0;
  use({entry->bytes.data() + first * tensor::dtype_size(*entry->type),
       *entry->type,
       2,
       {slot.outputs, slot.inputs}});
  shards.release(*entry);
}

}  // namespace tessera::model
