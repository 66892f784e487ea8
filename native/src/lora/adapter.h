// An adapter in memory: what the forward pass reads of it, and what is known of it. Immutable;
// shared by the requests that run with it. Its memory goes back to the arena with the last of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "lora/heads.h"
#include "model/adapter.h"
#include "model/decoder.h"

namespace tessera::lora {

/// Limits of an adapter.
struct Limits {
  uint32_t rank_max = 0;
  double norm_max = 0;  // of any target: Frobenius norm of scale * B * A
};

struct Summary {
  /// XXH3-128 of what the configuration makes of the tensors and of their bytes, as 32 hex digits:
  /// not of file names, of times, or of fields that change nothing.
  std::string digest;
  uint64_t bytes = 0;  // of the arena
  uint32_t rank_max = 0;
  uint32_t target_count = 0;   // matrices with factors
  uint32_t replaced_rows = 0;  // of the embedding and of the head; those of both count once
  double largest_norm = 0;
  std::vector<std::string> heads;  // names, in the order of answers
  bool is_activated = false;       // it changes the rows of ranked items alone
};

class Adapter {
 public:
  const Summary& summary() const { return summary_; }
  const model::Adapter& numbers() const { return numbers_; }
  /// Null: it has none.
  const Heads* heads() const { return heads_.get(); }
  /// True if rows that run with it have other numbers than the model's.
  bool changes_rows() const { return summary_.target_count > 0 || summary_.replaced_rows > 0; }

 private:
  friend class Arena;
  friend class Packing;
  Summary summary_;
  model::Adapter numbers_;
  std::shared_ptr<const Heads> heads_;
  std::shared_ptr<device::Device> device_;  // outlives the memory
  device::Buffer memory_;
  std::vector<int32_t> embedding_ids_;
  std::vector<uint32_t> head_panels_;
  std::unique_ptr<model::HeldAdapter> held_;  // null: passes read the memory above
};

}  // namespace tessera::lora
