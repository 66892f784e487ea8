// The bytes that a pass copies to the card, and their layout. Private to the decoder.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "cuda/kernels/row_kernels.h"
#include "cuda/model/card_decoder.h"

namespace tessera::model::cuda {

/// Writes arrays one behind the other into the host's copy of a plan; the same places on the card.
class CardDecoder::Staging {
 public:
  Staging(std::vector<char>& staged, char* card) : staged_(staged), card_(card) {}
  template <typename T>
  T* add(std::span<const T> values) {
    const uint64_t at = (used_ + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) *
                        alignof(std::max_align_t);
    TESSERA_CHECK(at + values.size_bytes() <= staged_.size());
    std::memcpy(staged_.data() + at, values.data(), values.size_bytes());
    used_ = at + values.size_bytes();
    return reinterpret_cast<T*>(card_ + at);
  }
  /// Room for an array of `count`, zero until put() fills its beginning.
  template <typename T>
  T* reserve(uint64_t count) {
    const std::vector<T> none(count);
    return add<T>(none);
  }
  template <typename T>
  void put(const T* at, std::span<const T> values) {
    std::memcpy(staged_.data() + (reinterpret_cast<const char*>(at) - card_), values.data(),
                values.size_bytes());
  }
  uint64_t used() const { return used_; }

 private:
  std::vector<char>& staged_;
  char* card_;
  uint64_t used_ = 0;
};

struct CardDecoder::Plan {
  const int32_t* tokens = nullptr;
  const uint32_t* positions = nullptr;
  const ops::cuda::Place* places = nullptr;
  const attention::cuda::Rows* groups = nullptr;
  uint32_t rows = 0;  // as all sizes: rounded up, so that few shapes are met
  uint32_t groups_max = 0;
  uint32_t splits = 0;
  uint32_t group_rows_max = 0;
  uint64_t bytes = 0;
};

}  // namespace tessera::model::cuda
