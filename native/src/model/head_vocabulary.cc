#include "model/head_vocabulary.h"

#include <string>

namespace tessera::model {

using device::kPanelColumns;

Result<HeadVocabulary> HeadVocabulary::of(std::span<const int32_t> tokens, uint32_t vocab_size) {
  HeadVocabulary kept;
  if (tokens.empty()) return kept;
  kept.places_.assign(device::panel_count(vocab_size), ops::PackedMatrix::kNoPlace);
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || static_cast<uint32_t>(tokens[i]) >= vocab_size) {
      return Status(Code::kRequestInvalid,
                    "headTokens[" + std::to_string(i) + "]: expected a token in 0.." +
                        std::to_string(vocab_size - 1) + ", got " + std::to_string(tokens[i]));
    }
    kept.places_[static_cast<uint32_t>(tokens[i]) / kPanelColumns] = 0;
  }
  for (uint32_t panel = 0; panel < kept.places_.size(); ++panel) {
    if (kept.places_[panel] == ops::PackedMatrix::kNoPlace) continue;
    kept.places_[panel] = static_cast<uint32_t>(kept.panels_.size());
    kept.panels_.push_back(panel);
  }
  return kept;
}

uint32_t HeadVocabulary::size(uint32_t vocab_size) const {
  if (is_whole()) return vocab_size;
  const auto columns = static_cast<uint32_t>(panels_.size() * kPanelColumns);
  // The last panel of the vocabulary may have columns that are no tokens.
  const bool has_last = panels_.back() + 1 == places_.size();
  const auto padding = static_cast<uint32_t>(places_.size() * kPanelColumns - vocab_size);
  return has_last ? columns - padding : columns;
}

}  // namespace tessera::model
