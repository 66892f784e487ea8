#include "catalogue/codebooks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "catalogue/format.h"

namespace tessera::catalogue {
namespace {

constexpr size_t kLanes = 16;

Status invalid(const std::string& field, const std::string& expected, const std::string& got) {
  return {Code::kCatalogueInvalid, field + ": expected " + expected + ", got " + got};
}

size_t whole_lanes(size_t dimensions) { return (dimensions + kLanes - 1) / kLanes * kLanes; }

float sum_of(std::array<float, kLanes>& lanes) {
  for (size_t half = kLanes / 2; half > 0; half /= 2) {
    for (size_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
  }
  return lanes[0];
}

float squared_distance(std::span<const float> a, std::span<const float> b) {
  std::array<float, kLanes> lanes{};
  for (size_t block = 0; block < a.size(); block += kLanes) {
    for (size_t j = 0; j < kLanes; ++j) {
      const float apart = a[block + j] - b[block + j];
      lanes[j] += apart * apart;
    }
  }
  return sum_of(lanes);
}

float product(std::span<const float> a, std::span<const float> b) {
  std::array<float, kLanes> lanes{};
  for (size_t block = 0; block < a.size(); block += kLanes) {
    for (size_t j = 0; j < kLanes; ++j) lanes[j] += a[block + j] * b[block + j];
  }
  return sum_of(lanes);
}

/// Rows of `dimension` numbers end to end, each filled up to whole lanes.
std::vector<float> filled_up(std::span<const float> values, size_t dimension) {
  const size_t width = whole_lanes(dimension);
  const size_t rows = values.size() / dimension;
  std::vector<float> filled(rows * width);
  for (size_t i = 0; i < rows; ++i) {
    std::copy_n(values.data() + i * dimension, dimension, filled.data() + i * width);
  }
  return filled;
}

Status check_numbers(const std::string& field, std::span<const float> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::abs(values[i]) <= kVectorMemberMax) continue;
    return invalid(field + "[" + std::to_string(i) + "]", "a number of at most 1e15",
                   std::isnan(values[i]) ? "nan" : std::to_string(values[i]));
  }
  return Status::ok();
}

/// Rows of `dimension` numbers each.
Status check_rows(const std::string& field, std::span<const float> values, size_t dimension) {
  if (values.empty() || values.size() % dimension != 0) {
    return invalid(field, "rows of " + std::to_string(dimension) + " numbers",
                   std::to_string(values.size()) + " numbers");
  }
  return check_numbers(field, values);
}

}  // namespace

Result<std::shared_ptr<const Codebooks>> Codebooks::make(GivenCodebooks given) {
  const std::shared_ptr<Codebooks> made(new Codebooks());
  if (given.dimension == 0 || given.dimension > kVectorDimensionsMax) {
    return invalid("codebooks.dimension", "1.." + std::to_string(kVectorDimensionsMax),
                   std::to_string(given.dimension));
  }
  if (given.capacity == 0) return invalid("codebooks.capacity", "1 or more", "0");
  if (given.levels.empty() || given.levels.size() > kMaxDepth) {
    return invalid("codebooks.levels", "1.." + std::to_string(kMaxDepth),
                   std::to_string(given.levels.size()));
  }
  if (given.encoder.size() > kEncoderLayersMax) {
    return invalid("codebooks.encoder", "at most " + std::to_string(kEncoderLayersMax) + " layers",
                   std::to_string(given.encoder.size()));
  }
  size_t dimension = given.dimension;
  for (size_t i = 0; i < given.encoder.size(); ++i) {
    const std::string field = "codebooks.encoder[" + std::to_string(i) + "]";
    const GivenLayer& layer = given.encoder[i];
    TESSERA_RETURN_IF_ERROR(check_rows(field + ".weights", layer.weights, dimension));
    TESSERA_RETURN_IF_ERROR(check_numbers(field + ".bias", layer.bias));
    const size_t outputs = layer.weights.size() / dimension;
    if (layer.bias.size() != outputs || outputs > kVectorDimensionsMax) {
      return invalid(field + ".bias",
                     "a number per row of weights, at most " + std::to_string(kVectorDimensionsMax),
                     std::to_string(layer.bias.size()) + " for " + std::to_string(outputs));
    }
    made->encoder_.push_back(
        {static_cast<uint32_t>(outputs), filled_up(layer.weights, dimension), layer.bias});
    dimension = outputs;
  }
  for (size_t i = 0; i < given.levels.size(); ++i) {
    const std::string field = "codebooks.levels[" + std::to_string(i) + "]";
    const std::vector<float>& values = given.levels[i].values;
    TESSERA_RETURN_IF_ERROR(check_rows(field, values, dimension));
    const size_t codes = values.size() / dimension;
    if (codes > kMaxLevelSize) {
      return invalid(field, "at most " + std::to_string(kMaxLevelSize) + " codes",
                     std::to_string(codes));
    }
    made->levels_.push_back({static_cast<uint32_t>(codes), filled_up(values, dimension), {}});
  }
  made->dimension_ = given.dimension;
  made->capacity_ = given.capacity;
  made->width_ = whole_lanes(dimension);
  return std::shared_ptr<const Codebooks>(made);
}

/// The vector to quantise, padded with zeros to whole lanes.
Result<std::vector<float>> Codebooks::encoded(std::span<const float> vector) const {
  if (vector.size() != dimension_) {
    return invalid("vector", std::to_string(dimension_) + " numbers, as the codebooks have",
                   std::to_string(vector.size()));
  }
  TESSERA_RETURN_IF_ERROR(check_numbers("vector", vector));
  std::vector<float> values = filled_up(vector, vector.size());
  for (size_t i = 0; i < encoder_.size(); ++i) {
    const Rows& layer = encoder_[i];
    std::vector<float> next(whole_lanes(layer.codes));
    for (uint32_t out = 0; out < layer.codes; ++out) {
      const float sum = product(row(layer, out, values.size()), values) + layer.bias[out];
      next[out] = i + 1 < encoder_.size() ? std::max(sum, 0.0F) : sum;
    }
    values = std::move(next);
  }
  if (!encoder_.empty() && !check_numbers("vector", values).is_ok()) {
    return invalid("vector", "one of which the encoder makes numbers of at most 1e15", "others");
  }
  return values;
}

std::vector<float> Codebooks::distances(uint32_t level, std::span<const float> residual) const {
  const Rows& rows = levels_[level];
  std::vector<float> found(rows.codes);
  for (uint32_t code = 0; code < rows.codes; ++code) {
    found[code] = squared_distance(residual, row(rows, code, width_));
  }
  return found;
}

Result<NearestCodes> Codebooks::nearest(std::span<const float> vector) const {
  Result<std::vector<float>> rest = encoded(vector);
  if (!rest.is_ok()) return rest.status();
  std::vector<float>& residual = rest.value();
  NearestCodes result;
  for (uint32_t level = 0; level < depth(); ++level) {
    const std::vector<float> apart = distances(level, residual);
    const auto least = std::min_element(apart.begin(), apart.end());
    const auto code = static_cast<uint32_t>(least - apart.begin());
    result.codes.push_back(code);
    result.distances.push_back(*least);
    const std::span<const float> centre = row(levels_[level], code, width_);
    for (size_t i = 0; i < width_; ++i) residual[i] -= centre[i];
  }
  return result;
}

struct Codebooks::Search {
  const std::function<bool(Sid)>& has_room;
  std::vector<uint32_t> sid;
  uint32_t tries = 0;
};

/// Looks for a semantic ID with room that begins with the codes of `search.sid` before `level`;
/// leaves it in `search.sid` and returns true. Gives up after kPlacementTriesMax of them.
bool Codebooks::search(Search& search, uint32_t level, std::span<const float> residual) const {
  const std::vector<float> apart = distances(level, residual);
  std::vector<uint32_t> order(apart.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&apart](uint32_t a, uint32_t b) { return apart[a] < apart[b]; });
  for (const uint32_t code : order) {
    if (search.tries == kPlacementTriesMax) return false;
    search.sid[level] = code;
    if (level + 1 == depth()) {
      ++search.tries;
      if (search.has_room(search.sid)) return true;
      continue;
    }
    const std::span<const float> centre = row(levels_[level], code, width_);
    std::vector<float> rest(width_);
    for (size_t i = 0; i < width_; ++i) rest[i] = residual[i] - centre[i];
    if (this->search(search, level + 1, rest)) return true;
  }
  return false;
}

Result<std::vector<uint32_t>> Codebooks::first_with_room(
    std::span<const float> vector, const std::function<bool(Sid)>& has_room) const {
  Result<std::vector<float>> residual = encoded(vector);
  if (!residual.is_ok()) return residual.status();
  Search found{has_room, std::vector<uint32_t>(depth()), 0};
  if (search(found, 0, residual.value())) return std::move(found.sid);
  return invalid("vector",
                 "room among the " + std::to_string(kPlacementTriesMax) +
                     " nearest semantic IDs of " + std::to_string(capacity_) + " items each",
                 "none");
}

}  // namespace tessera::catalogue
