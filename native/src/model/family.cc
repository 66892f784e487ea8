#include "model/family.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "model/attention_block.h"
#include "model/delta_block.h"
#include "model/encoder_blocks.h"
#include "model/experts_block.h"
#include "model/gated_block.h"
#include "model/model_config.h"
#include "model/t5_blocks.h"

namespace tessera::model {
namespace {

template <typename Block>
std::unique_ptr<const LayerBlock> make(const ModelConfig& config, uint32_t /*layer*/) {
  return std::make_unique<const Block>(config);
}

std::unique_ptr<const LayerBlock> make_mixture(const ModelConfig& config, uint32_t layer) {
  if (config.mixture.chooses(layer)) return std::make_unique<const ExpertsBlock>(config);
  return std::make_unique<const GatedBlock>(config);
}

template <bool kIsTogether>
std::unique_ptr<const LayerBlock> make_delta(const ModelConfig& config, uint32_t /*layer*/) {
  return std::make_unique<const DeltaBlock>(config, kIsTogether);
}

constexpr MixtureFields kQwen3Mixture = {.expert_size = "moe_intermediate_size",
                                         .experts = 128,
                                         .chosen = 8,
                                         .size = 768,
                                         .has_dense_layers = true};
constexpr MixtureFields kQwen2Mixture = {.expert_size = "moe_intermediate_size",
                                         .experts = 60,
                                         .chosen = 4,
                                         .size = 1408,
                                         .shared_size = 5632,
                                         .has_dense_layers = true};
constexpr MixtureFields kOlmoeMixture = {
    .expert_size = "intermediate_size", .experts = 64, .chosen = 8, .size = 2048};

constexpr MixtureFields kQwen3NextMixture = {.expert_size = "moe_intermediate_size",
                                             .experts = 512,
                                             .chosen = 10,
                                             .size = 512,
                                             .shared_size = 512,
                                             .has_dense_layers = true,
                                             .normalises = true};

/// Of the decoder's tensors in a folder of several models. transformers saves the decoder of such a
/// folder under these names too, whose configuration is that of a decoder.
constexpr std::string_view kTextPart = "model.language_model.";

/// Layers of gated delta nets with one of attention now and then; heads of drafts are not served.
constexpr Family kHybrid = {
    .model_type = {},
    .architecture = {},
    .head_dim = 256,
    .qk_norm = QkNorm::kHeads,
    .rotary_share = 0.25,
    .qkv_bias = Bias::kAsked,
    .output_bias = Bias::kAsked,
    .norm_adds_one = true,
    .is_hybrid = true,
    .attention = make<AttentionBlock>,
    .delta = make_delta<false>,
    .feed_forward = make<GatedBlock>,
    .names = {.prefixes = {"model.", kTextPart}, .others = {"mtp.", "model.visual."}}};

constexpr Family hybrid(std::string_view model_type, std::string_view architecture) {
  Family family = kHybrid;
  family.model_type = model_type;
  family.architecture = architecture;
  return family;
}

/// The text part of a folder that has a vision tower as well.
constexpr Family qwen3_5_of_vision() {
  Family family = hybrid("qwen3_5", "Qwen3_5ForConditionalGeneration");
  family.part = "text_config";
  family.part_type = "qwen3_5_text";
  family.names.prefixes = {kTextPart, "model."};
  return family;
}

constexpr Family qwen3_next() {
  Family family = hybrid("qwen3_next", "Qwen3NextForCausalLM");
  family.mixture = &kQwen3NextMixture;
  family.delta = make_delta<true>;
  family.feed_forward = make_mixture;
  return family;
}

template <typename Block>
std::unique_ptr<const LayerBlock> make_by_layer(const ModelConfig& config, uint32_t layer) {
  return std::make_unique<const Block>(config, layer);
}

/// transformers saves the one table under the names of both stacks too.
constexpr Family kT5 = {
    .model_type = "t5",
    .architecture = "T5ForConditionalGeneration",
    .is_t5 = true,
    .attention = make_by_layer<T5SelfBlock>,
    .feed_forward = make_by_layer<T5FeedForwardBlock>,
    .cross = make<T5CrossBlock>,
    .names = {.prefixes = {"", ""},
              .embedding = "shared.weight",
              .final_norm = "decoder.final_layer_norm.weight",
              .encoder_norm = "encoder.final_layer_norm.weight",
              .copies = {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}}};

constexpr uint32_t kQwen3HeadDim = 128;  // what transformers takes where config.json is silent

constexpr Family kFamilies[] = {
    {.model_type = "qwen3",
     .architecture = "Qwen3ForCausalLM",
     .head_dim = kQwen3HeadDim,
     .qk_norm = QkNorm::kHeads,
     .qkv_bias = Bias::kAsked,
     .output_bias = Bias::kAsked,
     .window = Window::kAsked,
     .attention = make<AttentionBlock>,
     .feed_forward = make<GatedBlock>},
    {.model_type = "qwen2",
     .architecture = "Qwen2ForCausalLM",
     .qkv_bias = Bias::kAlways,
     .output_bias = Bias::kNever,
     .window = Window::kAsked,
     .attention = make<AttentionBlock>,
     .feed_forward = make<GatedBlock>},
    {.model_type = "llama",
     .architecture = "LlamaForCausalLM",
     .qkv_bias = Bias::kAsked,
     .output_bias = Bias::kAsked,
     .attention = make<AttentionBlock>,
     .feed_forward = make<GatedBlock>},
    {.model_type = "mistral",
     .architecture = "MistralForCausalLM",
     .qkv_bias = Bias::kRefused,
     .output_bias = Bias::kRefused,
     .window = Window::kAlways,
     .attention = make<AttentionBlock>,
     .feed_forward = make<GatedBlock>},
    {.model_type = "qwen3_moe",
     .architecture = "Qwen3MoeForCausalLM",
     .qk_norm = QkNorm::kHeads,
     .qkv_bias = Bias::kAsked,
     .output_bias = Bias::kAsked,
     .window = Window::kAskedOfAll,
     .mixture = &kQwen3Mixture,
     .attention = make<AttentionBlock>,
     .feed_forward = make_mixture},
    {.model_type = "qwen2_moe",
     .architecture = "Qwen2MoeForCausalLM",
     .qkv_bias = Bias::kUnlessDenied,
     .output_bias = Bias::kNever,
     .window = Window::kAsked,
     .mixture = &kQwen2Mixture,
     .attention = make<AttentionBlock>,
     .feed_forward = make_mixture},
    {.model_type = "olmoe",
     .architecture = "OlmoeForCausalLM",
     .qk_norm = QkNorm::kRows,
     .rms_norm_eps = 1e-5,
     .qkv_bias = Bias::kAsked,
     .output_bias = Bias::kAsked,
     .mixture = &kOlmoeMixture,
     .attention = make<AttentionBlock>,
     .feed_forward = make_mixture},
    hybrid("qwen3_5_text", "Qwen3_5ForCausalLM"),
    qwen3_5_of_vision(),
    qwen3_next(),
    kT5,
};

}  // namespace

std::span<const Family> families() { return kFamilies; }

std::span<const Family> text_families() {
  static const std::vector<Family> all = [] {
    std::vector<Family> made;
    std::copy_if(std::begin(kFamilies), std::end(kFamilies), std::back_inserter(made),
                 [](const Family& family) { return !family.is_hybrid && !family.is_t5; });
    const std::span<const Family> encoders = encoder_families();
    made.insert(made.end(), encoders.begin(), encoders.end());
    for (Family& family : made) family.reads_texts = true;
    return made;
  }();
  return all;
}

}  // namespace tessera::model
