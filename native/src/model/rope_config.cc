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

constexpr double kYarnBetaFast = 32;  // what transformers takes
constexpr double kYarnBetaSlow = 1;
constexpr double kMinYarnBeta = 1e-6;

double original_positions(ObjectReader& reader, ObjectReader& nested, uint32_t max_positions) {
  const std::string_view field = "original_max_position_embeddings";
  return reader.number(field, 0, kMaxPositions,
                       nested.number(field, 0, kMaxPositions, max_positions));
}

void read_llama3(ObjectReader& reader, ObjectReader& nested, uint32_t max_positions,
                 RopeConfig& rope) {
  rope.factor = nested.number("factor", 0, kMaxRopeFactor);
  rope.low_freq_factor = nested.number("low_freq_factor", 0, kMaxRopeFactor);
  rope.high_freq_factor = nested.number("high_freq_factor", 0, kMaxRopeFactor);
  rope.original_max_positions = original_positions(reader, nested, max_positions);
  if (rope.high_freq_factor <= rope.low_freq_factor) {
    nested.refuse("high_freq_factor", "a number above low_freq_factor");
  }
}

double yarn_magnitude(double factor, double mscale) {
  return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1;
}

void read_yarn(ObjectReader& reader, ObjectReader& nested, uint32_t max_positions,
               RopeConfig& rope) {
  rope.original_max_positions = original_positions(reader, nested, max_positions);
  rope.factor =
      nested.number("factor", 0, kMaxRopeFactor, max_positions / rope.original_max_positions);
  rope.beta_fast = nested.number("beta_fast", kMinYarnBeta, kMaxRopeFactor, kYarnBetaFast);
  rope.beta_slow = nested.number("beta_slow", kMinYarnBeta, kMaxRopeFactor, kYarnBetaSlow);
  rope.truncates = nested.boolean("truncate", true);
  const double above = nested.number("mscale", -kMaxRopeFactor, kMaxRopeFactor, 0);
  const double below = nested.number("mscale_all_dim", -kMaxRopeFactor, kMaxRopeFactor, 0);
  rope.magnitude = above != 0 && below != 0
                       ? yarn_magnitude(rope.factor, above) / yarn_magnitude(rope.factor, below)
                       : yarn_magnitude(rope.factor, 1);
  rope.magnitude = nested.number("attention_factor", 0, kMaxRopeFactor, rope.magnitude);
  if (!(rope.magnitude > 0 && rope.magnitude <= kMaxRopeFactor)) {
    nested.refuse("mscale", "an attention factor above 0");
  }
  if (rope.theta <= 1) nested.refuse("rope_theta", "a number above 1");
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
  } else if (type == "dynamic") {
    rope.type = RopeConfig::Type::kDynamic;
    rope.factor = nested->number("factor", 0, kMaxRopeFactor);
  } else if (type == "yarn") {
    rope.type = RopeConfig::Type::kYarn;
    read_yarn(reader, *nested, max_positions, rope);
  } else if (type != "default") {
    nested->refuse(key, "one of default, linear, dynamic, yarn, llama3");
  }
  reader.adopt(*nested);
}

uint32_t RopeConfig::positions(uint32_t max_positions) const {
  if (type != Type::kYarn) return max_positions;
  const double stretched = std::min<double>(original_max_positions * factor, kMaxPositions);
  return std::max(max_positions, static_cast<uint32_t>(stretched));
}

std::vector<double> RopeConfig::yarn_ramp(uint32_t rotary) const {
  const double dim = rotary;
  const auto pair_of = [&](double rotations) {
    const double wavelengths = original_max_positions / (rotations * 2 * std::numbers::pi);
    return dim * std::log(wavelengths) / (2 * std::log(theta));
  };
  double low = pair_of(beta_fast), high = pair_of(beta_slow);
  if (truncates) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, dim - 1);
  if (low == high) high += 0.001;
  std::vector<double> ramp;
  for (uint32_t pair = 0; 2 * pair < rotary; ++pair) {
    ramp.push_back(std::clamp((pair - low) / (high - low), 0.0, 1.0));
  }
  return ramp;
}

std::vector<float> RopeConfig::frequencies(uint32_t head_dim) const {
  const uint32_t rotary = rotary_dim(head_dim);
  const std::vector<double> yarn = type == Type::kYarn ? yarn_ramp(rotary) : std::vector<double>();
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
    if (!yarn.empty()) {
      frequency = yarn[i / 2] * frequency / factor + (1 - yarn[i / 2]) * frequency;
    }
    result.push_back(static_cast<float>(frequency));
  }
  return result;
}

}  // namespace tessera::model
