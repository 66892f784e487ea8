// Tokens that a head computes logits of: the whole vocabulary, or those of the panels that were
// kept at load (ADR 0126). A panel is kept whole, so neighbours of a kept token are there as well.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "ops/packed_matrix.h"

namespace tessera::model {

/// Immutable; a value.
class HeadVocabulary {
 public:
  /// The whole vocabulary.
  HeadVocabulary() = default;
  /// The panels of these tokens; the whole vocabulary where there are none. Errors:
  /// REQUEST_INVALID for a token that is not in [0, vocab_size).
  static Result<HeadVocabulary> of(std::span<const int32_t> tokens, uint32_t vocab_size);

  bool is_whole() const { return panels_.empty(); }
  /// REQUIRES: token is in the vocabulary.
  bool has(uint32_t token) const {
    return is_whole() || places_[token / device::kPanelColumns] != ops::PackedMatrix::kNoPlace;
  }
  /// Any one of its tokens.
  int32_t any() const {
    return is_whole() ? 0 : static_cast<int32_t>(panels_[0] * device::kPanelColumns);
  }
  /// Tokens with logits, in a vocabulary of `vocab_size`.
  uint32_t size(uint32_t vocab_size) const;
  /// Numbers of the panels that are kept, ascending; none where it is whole.
  std::span<const uint32_t> panels() const { return panels_; }
  /// Places as PackedMatrix::places; null if the vocabulary is whole.
  const uint32_t* places() const { return is_whole() ? nullptr : places_.data(); }

 private:
  std::vector<uint32_t> panels_;
  std::vector<uint32_t> places_;
};

}  // namespace tessera::model
