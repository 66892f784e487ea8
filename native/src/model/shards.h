// The safetensors files of one model folder, mapped: model.safetensors, or the files that
// model.safetensors.index.json names. Immutable after open.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "model/safetensors.h"
#include "platform/mapped_file.h"
#include "tensor/tensor_view.h"

namespace tessera::model {

inline constexpr uint64_t kMaxIndexBytes = 64u << 20;
inline constexpr uint64_t kMaxShards = 4096;

struct WeightSlot;

class Shards {
 public:
  /// Errors: MODEL_NOT_FOUND when neither file exists or a shard is missing; MODEL_CORRUPT for
  /// broken files, for a tensor that two shards hold, or that the index names and its shard lacks.
  static Result<Shards> open(const std::string& folder);

  /// Null when no shard has it.
  const TensorEntry* find(const std::string& name) const;
  const std::unordered_map<std::string, TensorEntry>& tensors() const { return tensors_; }
  /// Gives the memory of a tensor's pages back; its bytes stay readable.
  void release(const TensorEntry& entry) const;
  const std::string& folder() const { return folder_; }

 private:
  Status add(const std::string& file);
  Status open_index(const platform::MappedFile& index, const std::string& path);

  std::string folder_;
  std::vector<platform::MappedFile> files_;
  std::unordered_map<std::string, TensorEntry> tensors_;
};

/// Calls use() with the matrix of a slot of the layer whose tensors' names begin with `prefix`, as
/// its file has it, in the file's type. REQUIRES: the files have been checked.
void visit_in_file(const Shards& shards, const std::string& prefix, const WeightSlot& slot,
                   const std::function<void(const tensor::TensorView&)>& use);

}  // namespace tessera::model
