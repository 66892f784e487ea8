#include "model/stacks.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace tessera::model {

void StackRows::clear() {
  tokens_.clear();
  groups_.clear();
  places_.clear();
  adapters_.clear();
}

void StackRows::add(const ForwardBatch& pass, const attention::RowGroup& group, uint32_t first,
                    uint32_t count) {
  if (count == 0) return;
  const uint32_t place = group.first_row + first;
  const auto own = static_cast<uint32_t>(tokens_.size());
  attention::RowGroup& added = groups_.emplace_back(group);
  added.first_row = own;
  added.row_count = count;
  if (group.beam == nullptr) added.first_position += first;
  places_.push_back(place);
  const auto tokens = pass.tokens.subspan(place, count);
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  const auto rows = std::find_if(
      pass.adapters.begin(), pass.adapters.end(), [&](const AdapterRows& adapted) {
        return adapted.first <= place && place < adapted.first + adapted.count;
      });
  if (rows == pass.adapters.end()) return;
  const bool goes_on = !adapters_.empty() && adapters_.back().adapter == rows->adapter &&
                       adapters_.back().first + adapters_.back().count == own;
  if (goes_on) {
    adapters_.back().count += count;
  } else {
    adapters_.push_back({rows->adapter, own, count});
  }
}

void StackRows::settle(const float* from, uint64_t n, float* to) const {
  for (size_t i = 0; i < groups_.size(); ++i) {
    std::memcpy(to + places_[i] * n, from + groups_[i].first_row * n,
                groups_[i].row_count * n * sizeof(float));
  }
}

void Stacks::divide(const ForwardBatch& pass) {
  encoder.clear();
  decoder.clear();
  for (const attention::RowGroup& group : pass.groups) {
    uint32_t encoded = 0;
    if (group.beam == nullptr && group.first_position < group.prompt->encoded) {
      encoded = group.prompt->encoded - group.first_position;
      TESSERA_CHECK(group.first_position == 0 && encoded <= group.row_count);
    }
    TESSERA_CHECK(group.mirrors.empty());
    encoder.add(pass, group, 0, encoded);
    decoder.add(pass, group, encoded, group.row_count - encoded);
  }
}

}  // namespace tessera::model
