#include "model/family.h"

#include <iterator>
#include <vector>

#include "model/attention_block.h"
#include "model/encoder_blocks.h"
#include "model/experts_block.h"
#include "model/gated_block.h"
#include "model/model_config.h"

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
};

}  // namespace

std::span<const Family> families() { return kFamilies; }

std::span<const Family> text_families() {
  static const std::vector<Family> all = [] {
    std::vector<Family> made(std::begin(kFamilies), std::end(kFamilies));
    const std::span<const Family> encoders = encoder_families();
    made.insert(made.end(), encoders.begin(), encoders.end());
    for (Family& family : made) family.reads_texts = true;
    return made;
  }();
  return all;
}

}  // namespace tessera::model
