#include "model/family.h"

#include "model/attention_block.h"
#include "model/gated_block.h"
#include "model/model_config.h"

namespace tessera::model {
namespace {

template <typename Block>
std::unique_ptr<const LayerBlock> make(const ModelConfig& config, uint32_t /*layer*/) {
  return std::make_unique<const Block>(config);
}

constexpr uint32_t kQwen3HeadDim = 128;  // what transformers takes where config.json is silent

constexpr Family kFamilies[] = {
    {.model_type = "qwen3",
     .architecture = "Qwen3ForCausalLM",
     .head_dim = kQwen3HeadDim,
     .has_qk_norm = true,
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
};

}  // namespace

std::span<const Family> families() { return kFamilies; }

}  // namespace tessera::model
