#include "model/t5_config.h"

#include <algorithm>
#include <cmath>

#include "model/json.h"
#include "model/model_config.h"

namespace tessera::model {
namespace {

constexpr uint32_t kMaxBuckets = 1024;
constexpr uint32_t kMaxInnerLayers = 8;

// The defaults of transformers for fields that config.json leaves out.
constexpr uint32_t kBuckets = 32;
constexpr uint32_t kMaxDistance = 128;
constexpr uint32_t kPositions = 512;

struct Named {
  std::string_view name;
  T5Config::Activation activation;
  bool is_gated;
};

/// Values of feed_forward_proj. transformers takes gelu for its approximation by tanh where it is
/// gated, since the first checkpoints said so.
constexpr Named kFeedForwards[] = {
    {"relu", T5Config::Activation::kRelu, false},
    {"gelu", T5Config::Activation::kGelu, false},
    {"gelu_new", T5Config::Activation::kGeluTanh, false},
    {"gated-relu", T5Config::Activation::kRelu, true},
    {"gated-gelu", T5Config::Activation::kGeluTanh, true},
    {"gated-gelu_new", T5Config::Activation::kGeluTanh, true},
    {"gated-silu", T5Config::Activation::kSilu, true},
};

/// transformers computes what the two copies say that it writes beside feed_forward_proj.
void check_copies(ObjectReader& reader, const Named& known) {
  const std::string name(known.name == "gated-gelu"
                             ? "gelu_new"
                             : known.name.substr(known.name.find('-') + 1));
  const char* const kWhy = ", as feed_forward_proj says";
  if (reader.is_null("dense_act_fn") || reader.text("dense_act_fn", name) != name) {
    reader.refuse("dense_act_fn", name + kWhy);
  }
  if ((reader.is_null("is_gated_act") && known.is_gated) ||
      reader.boolean("is_gated_act", known.is_gated) != known.is_gated) {
    reader.refuse("is_gated_act", std::string(known.is_gated ? "true" : "false") + kWhy);
  }
}

void read_feed_forward(ObjectReader& reader, T5Config& t5) {
  const std::string asked = reader.text("feed_forward_proj", "relu");
  std::string names;
  for (const Named& known : kFeedForwards) {
    names += (names.empty() ? "" : ", ") + std::string(known.name);
    if (known.name != asked) continue;
    t5.activation = known.activation;
    t5.is_gated = known.is_gated;
    return check_copies(reader, known);
  }
  reader.refuse("feed_forward_proj", "one of " + names);
}

/// Deeper networks (SemanticIDEncoderDecoder of GRID, mlp_layers); transformers has no such fields.
void read_depth(ObjectReader& reader, T5Config& t5) {
  t5.inner_layers = reader.whole("feed_forward_layers", 1, kMaxInnerLayers, 1);
  t5.has_bias = reader.boolean("feed_forward_bias", false);
  if (t5.is_gated && (t5.inner_layers > 1 || t5.has_bias)) {
    reader.refuse("feed_forward_proj", "a network without a gate beside feed_forward_layers");
  }
}

}  // namespace

uint32_t T5Config::bucket(int64_t distance, bool sees_all) const {
  const uint32_t count = sees_all ? buckets / 2 : buckets;
  const uint32_t first = sees_all && distance > 0 ? count : 0;
  const int64_t before = std::max<int64_t>(0, -distance);
  const auto n = static_cast<uint32_t>(sees_all ? std::abs(distance) : before);
  const uint32_t exact = count / 2;
  if (n < exact) return first + n;
  // Single precision, as the models were trained: a boundary may be on either side.
  const float octaves = std::log(static_cast<float>(n) / static_cast<float>(exact)) /
                        static_cast<float>(std::log(static_cast<double>(max_distance) / exact));
  const auto more = static_cast<uint32_t>(octaves * static_cast<float>(count - exact));
  return first + std::min(exact + more, count - 1);
}

std::string T5Config::canonical_text() const {
  if (encoder_layers == 0) return "";
  std::string text = " t5";
  for (const uint64_t value :
       {uint64_t{encoder_layers}, uint64_t{buckets}, uint64_t{max_distance},
        static_cast<uint64_t>(activation), uint64_t{is_gated}, uint64_t{scales_output},
        uint64_t{start_token}}) {
    text += " " + std::to_string(value);
  }
  if (inner_layers > 1 || has_bias) {
    text += " inner " + std::to_string(inner_layers) + (has_bias ? " with biases" : "");
  }
  return text;
}

void read_t5(ObjectReader& reader, ModelConfig& config) {
  T5Config& t5 = config.t5;
  config.vocab_size = reader.whole("vocab_size", 1, kMaxVocabSize);
  config.hidden_size = reader.whole("d_model", 1, kMaxHiddenSize);
  config.head_dim = reader.whole("d_kv", 1, kMaxHeadDim);
  config.head_count = config.kv_head_count = reader.whole("num_heads", 1, kMaxHeads);
  config.intermediate_size = reader.whole("d_ff", 1, kMaxIntermediateSize);
  t5.encoder_layers = reader.whole("num_layers", 1, kMaxLayers / 2);
  config.layer_count =
      t5.encoder_layers + reader.whole("num_decoder_layers", 1, kMaxLayers / 2, t5.encoder_layers);
  config.max_positions = reader.whole("n_positions", 1, kMaxPositions, kPositions);
  config.rms_norm_eps = static_cast<float>(reader.number("layer_norm_epsilon", 0, 1, 1e-6));
  t5.buckets = reader.whole("relative_attention_num_buckets", 4, kMaxBuckets, kBuckets);
  if (t5.buckets % 2 != 0) {
    reader.refuse("relative_attention_num_buckets", "an even number (half of it for each side)");
  }
  t5.max_distance = reader.whole("relative_attention_max_distance", 1, kMaxPositions, kMaxDistance);
  if (t5.max_distance <= t5.buckets / 2) {
    reader.refuse("relative_attention_max_distance",
                  "more than half of relative_attention_num_buckets (" +
                      std::to_string(t5.buckets) + ")");
  }
  read_feed_forward(reader, t5);
  read_depth(reader, t5);
  if (!reader.boolean("is_encoder_decoder", true)) {
    reader.refuse("is_encoder_decoder", "true (an encoder alone writes no semantic IDs)");
  }
  t5.start_token = reader.whole("decoder_start_token_id", 0, config.vocab_size - 1, 0);
}

}  // namespace tessera::model
