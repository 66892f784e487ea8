// A pass of a model with an encoder and a decoder: its rows, divided into those of each. Prompts
// begin with positions that the encoder reads (PromptKv::encoded); their other rows and those of
// beams are the decoder's.
#pragma once

#include <cstdint>
#include <vector>

#include "model/forward_batch.h"

namespace tessera::model {

/// Rows of one of the two, one behind the other. Memory is kept from pass to pass.
class StackRows {
 public:
  void clear();
  /// Adds rows [first, first + count) of a group of the pass.
  void add(const ForwardBatch& pass, const attention::RowGroup& group, uint32_t first,
           uint32_t count);
  ForwardBatch batch() const { return {tokens_, groups_, adapters_}; }
  uint64_t rows() const { return tokens_.size(); }
  /// Copies rows of n floats to their places among the rows of the pass.
  void settle(const float* from, uint64_t n, float* to) const;

 private:
  std::vector<int32_t> tokens_;
  std::vector<attention::RowGroup> groups_;
  std::vector<uint32_t> places_;  // of each group: of its first row among those of the pass
  std::vector<AdapterRows> adapters_;
};

struct Stacks {
  StackRows encoder, decoder;

  /// REQUIRES: no slice of a prompt that the encoder reads is cut; no mirrors.
  void divide(const ForwardBatch& pass);
};

}  // namespace tessera::model
