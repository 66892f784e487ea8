// Rotary positions of config.json: which numbers of a head are rotated, and how fast. Values only.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::model {

class ObjectReader;
struct Family;

/// Rotary embedding: `default`; `linear` (positions divided by factor); `llama3` (Llama 3.1: low
/// frequencies divided by factor, high ones kept, a ramp between); `yarn` (Peng et al. 2023,
/// arXiv:2309.00071: a ramp over the pairs, and cosines and sines times a magnitude); `dynamic`,
/// which is `default` up to the positions of config.json. Beyond them it has other angles for each
/// length of a text, so that no kept key would hold: these positions are not served.
struct RopeConfig {
  enum class Type : uint8_t { kDefault, kLinear, kLlama3, kDynamic, kYarn };
  Type type = Type::kDefault;
  double theta = 10000;
  double share = 1;  // of a head's numbers, the first ones: those behind them are not rotated
  double factor = 1;
  double low_freq_factor = 1;
  double high_freq_factor = 4;
  double original_max_positions = 8192;
  double beta_fast = 32;  // rotations within the original positions from which a pair is kept
  double beta_slow = 1;   // and below which it is divided by factor
  bool truncates = true;  // the ramp begins and ends at whole pairs
  double magnitude = 1;   // of cosines and sines

  /// Positions that the embedding is made for, where config.json has `max_positions`.
  uint32_t positions(uint32_t max_positions) const;
  /// Numbers of a head that are rotated; an odd one takes another as its pair, as in transformers.
  uint32_t rotary_dim(uint32_t head_dim) const { return static_cast<uint32_t>(head_dim * share); }
  /// Angle per position of each pair, as trainers compute them in F32.
  std::vector<float> frequencies(uint32_t head_dim) const;

 private:
  /// The share of `frequency / factor` in that of each pair under yarn.
  std::vector<double> yarn_ramp(uint32_t rotary) const;
};

/// As transformers 5 does: rope_scaling replaces rope_parameters whole, and what neither has is
/// looked for beside them. `max_positions` are those of config.json. Errors are the reader's.
void read_rope(ObjectReader& reader, const Family& family, uint32_t head_dim,
               uint32_t max_positions, RopeConfig& rope);

}  // namespace tessera::model
