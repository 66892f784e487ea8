#include "model/rope_config.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "model/family.h"
#include "model/json.h"
#include "model/model_config.h"

namespace tessera::model {
namespace {

constexpr double kMaxRopeFactor = 1e6;
constexpr double kMaxRopeTheta = 1e15;

void read_llama3(ObjectReader& reader, ObjectReader& nested, uint32_t max_positions,
                 RopeConfig& rope) {
  rope.factor = nested.number("factor", 0, kMaxRopeFactor);
  rope.low_freq_factor = nested.number("low_freq_factor", 0, kMaxRopeFactor);
  rope.high_freq_factor = nested.number("high_freq_factor", 0, kMaxRopeFactor);
  const std::string_view field = "original_max_position_embeddings";
  rope.original_max_positions =
      reader.number(field, 0, kMaxPositions, nested.number(field, 0, kMaxPositions, max_positions));
  if (rope.high_freq_factor <= rope.low_freq_factor) {
    nested.refuse("high_freq_factor", "a number above low_freq_factor");
  }
}

/// The share of `otherwise` where the object is silent. transformers reads it for some families
/// alone: of the others, a part of a head would be rotated by half of their angles.
double read_share(ObjectReader& reader, const Family& family, uint32_t head_dim, double otherwise) {
  const std::string_view field = "partial_rotary_factor";
  const double share = reader.number(field, 0, 1, otherwise);
  if (family.rotary_share == 0 && share != 1) reader.refuse(field, "1");
  if (static_cast<uint32_t>(head_dim * share) == 0) {
    reader.refuse(field, "a share that leaves a number of " + std::to_string(head_dim));
  }
  return share;
}

}  // namespace

void read_rope(ObjectReader& reader, const Family& family, uint32_t head_dim,
               uint32_t max_positions, RopeConfig& rope) {
  std::optional<ObjectReader> nested = reader.object("rope_scaling");
  if (!nested || nested->is_empty()) nested = reader.object("rope_parameters");
  rope.theta = reader.number("rope_theta", 0, kMaxRopeTheta, rope.theta);
  rope.share =
      read_share(reader, family, head_dim, family.rotary_share == 0 ? 1 : family.rotary_share);
  if (!nested) return;
  nested->refuse_objects("numbers of one rotary embedding for all layers");
  rope.theta = nested->number("rope_theta", 0, kMaxRopeTheta, rope.theta);
  rope.share = read_share(*nested, family, head_dim, rope.share);
  const std::string_view key = nested->find("rope_type") ? "rope_type" : "type";
  const std::string type = nested->text(key, "default");
  if (type == "linear") {
    rope.type = RopeConfig::Type::kLinear;
    rope.factor = nested->number("factor", 0, kMaxRopeFactor);
  } else if (type == "llama3") {
    rope.type = RopeConfig::Type::kLlama3;
    read_llama3(reader, *nested, max_positions, rope);
  } else if (type != "default") {
    nested->refuse(key, "one of default, linear, llama3");
  }
  reader.adopt(*nested);
}

std::vector<float> RopeConfig::frequencies(uint32_t head_dim) const {
  const uint32_t rotary = rotary_dim(head_dim);
  std::vector<float> result;
  for (uint32_t i = 0; i < rotary; i += 2) {
    double frequency = 1.0 / std::pow(theta, static_cast<double>(i) / rotary);
    if (type == Type::kLinear) frequency /= factor;
    if (type == Type::kLlama3) {
      const double rotations = original_max_positions * frequency / (2 * std::numbers::pi);
      const double ramp = std::clamp(
          (rotations - low_freq_factor) / (high_freq_factor - low_freq_factor), 0.0, 1.0);
      frequency = (1 - ramp) * frequency / factor + ramp * frequency;
    }
    result.push_back(static_cast<float>(frequency));
  }
  return result;
}

}  // namespace tessera::model
