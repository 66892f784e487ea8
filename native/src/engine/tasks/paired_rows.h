// Two searches of one request in the same passes: their rows are put together step by step, and
// their logits taken apart. Thread-safety: the engine's thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "beam/lazy_search.h"

namespace tessera::engine {

class PairedRows {
 public:
  /// Puts the rows of both behind each other, those of a step together; empties neither.
  void merge(const std::array<beam::Rows, 2>& of, beam::Rows& rows);
  /// Gives each its own: its number, its first slot, its beams and logits.
  template <typename Take>
  void split(uint32_t first_slot, const beam::Beams& beams, const beam::StepLogits& logits,
             const Take& take) {
    const size_t count = beams.nodes.size();
    for (size_t row = 0; row < count;) {
      const Owner owner = owners_[first_slot + row];
      size_t end = row + 1;
      while (end < count && owners_[first_slot + end].search == owner.search) ++end;
      beams_.assign(beams, row, end);
      take(owner.search, owner.slot, beams_, logits.rows(row, end));
      row = end;
    }
  }

 private:
  struct Owner {
    uint32_t search = 0;
    uint32_t slot = 0;  // of that search
  };
  void push(const beam::Rows& from, uint32_t search, size_t row, beam::Rows& rows);

  std::vector<Owner> owners_;                   // by slot of the request
  std::array<std::vector<uint32_t>, 2> slots_;  // of the request, by slot of a search
  beam::Beams beams_;
};

}  // namespace tessera::engine
