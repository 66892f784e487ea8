// Codebooks of semantic IDs, and the one rule by which a vector gets its codes. The trainer has the
// same rule (trainer/semantic_ids/codebooks.py), bit for bit: float32, every operation rounded by
// itself, sums over dimensions in 16 lanes (dimension d in lane d mod 16, the lowest d first) that
// are then added in halves. A vector passes the layers of an encoder, where there are any; then,
// level by level, it gets the code at the smallest squared distance, the lower code of equals, and
// the difference goes on to the next level. docs/concepts/semantic-ids.md.
//
// Thread-safety: immutable once made.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace tessera::catalogue {

/// Semantic IDs that are tried for one vector; the trainer tries as many.
inline constexpr uint32_t kPlacementTriesMax = 65536;
/// Largest member of a vector, and of an encoder's output for it: sums of squares stay finite.
inline constexpr float kVectorMemberMax = 1e15F;
inline constexpr uint32_t kVectorDimensionsMax = 16384;
inline constexpr uint32_t kEncoderLayersMax = 8;

/// `weights` are (outputs, inputs) end to end, `bias` has a number per output.
struct GivenLayer {
  std::vector<float> weights;
  std::vector<float> bias;
};

/// A level's codes end to end.
struct GivenLevel {
  std::vector<float> values;
};

/// Codebooks as a caller has read them.
struct GivenCodebooks {
  uint32_t dimension = 0;  // of vectors
  uint32_t capacity = 0;   // items that a semantic ID takes
  std::vector<GivenLayer> encoder;
  std::vector<GivenLevel> levels;
};

/// Per level: the code, and the squared distance to it.
struct NearestCodes {
  std::vector<uint32_t> codes;
  std::vector<float> distances;
};

class Codebooks {
 public:
  using Sid = std::span<const uint32_t>;

  /// Errors: CATALOGUE_INVALID, the message beginning with `codebooks.member`: sizes that do not
  /// fit each other, numbers that are not finite, limits.
  static Result<std::shared_ptr<const Codebooks>> make(GivenCodebooks given);

  uint32_t dimension() const { return dimension_; }
  uint32_t capacity() const { return capacity_; }
  uint32_t depth() const { return static_cast<uint32_t>(levels_.size()); }
  uint32_t level_size(uint32_t level) const { return levels_[level].codes; }

  /// Errors: CATALOGUE_INVALID, the message beginning with `vector`: another dimension, a number
  /// that is not finite or beyond kVectorMemberMax.
  Result<NearestCodes> nearest(std::span<const float> vector) const;
  /// The first semantic ID that `has_room` says yes to: nearest code first at each level, and the
  /// last level changes first. Errors: as nearest(), and CATALOGUE_INVALID where none of
  /// kPlacementTriesMax has room.
  Result<std::vector<uint32_t>> first_with_room(std::span<const float> vector,
                                                const std::function<bool(Sid)>& has_room) const;

 private:
  /// Rows of numbers, each filled up with zeros to whole lanes.
  struct Rows {
    uint32_t codes = 0;
    std::vector<float> values;
    std::vector<float> bias;  // of a layer
  };
  struct Search;

  Codebooks() = default;
  Result<std::vector<float>> encoded(std::span<const float> vector) const;
  std::vector<float> distances(uint32_t level, std::span<const float> residual) const;
  std::span<const float> row(const Rows& rows, uint32_t index, size_t width) const {
    return std::span(rows.values).subspan(index * width, width);
  }
  bool search(Search& search, uint32_t level, std::span<const float> residual) const;

  uint32_t dimension_ = 0;
  uint32_t capacity_ = 0;
  std::vector<Rows> encoder_;
  std::vector<Rows> levels_;
  size_t width_ = 0;  // of what is quantised, in whole lanes
};

}  // namespace tessera::catalogue
