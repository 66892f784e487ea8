#include "model/encoder_blocks.h"
#include "model/model_config.h"

namespace tessera::model {
namespace {

template <typename Block>
std::unique_ptr<const LayerBlock> make_encoder(const ModelConfig& config, uint32_t /*layer*/) {
  return std::make_unique<const Block>(config);
}

template <typename Block>
std::unique_ptr<const LayerBlock> make_numbered(const ModelConfig& config, uint32_t layer) {
  return std::make_unique<const Block>(config, layer);
}

constexpr EncoderFields kBert = {};
constexpr EncoderFields kRoberta = {.begins_behind_padding = true, .padding = 1};
constexpr EncoderFields kModernBert = {.epsilon_field = "norm_eps",
                                       .epsilon = 1e-5,
                                       .activation_field = "hidden_activation",
                                       .is_rotary = true,
                                       .padding = 50283};

constexpr TensorNames kBertNames = {.prefixes = {"bert.", ""},
                                    .embedding = "embeddings.word_embeddings.weight",
                                    .layers = "encoder.layer.",
                                    .final_norm = ""};
constexpr TensorNames kRobertaNames = {.prefixes = {"roberta.", ""},
                                       .embedding = kBertNames.embedding,
                                       .layers = kBertNames.layers,
                                       .final_norm = ""};
constexpr TensorNames kModernBertNames = {.prefixes = {"model.", ""},
                                          .embedding = "embeddings.tok_embeddings.weight",
                                          .layers = "layers.",
                                          .final_norm = "final_norm.weight"};

constexpr Family kEncoders[] = {
    {.model_type = "bert",
     .architecture = "BertModel",
     .activation = "gelu",
     .attention = make_encoder<EncoderAttentionBlock>,
     .feed_forward = make_encoder<EncoderFeedForwardBlock>,
     .encoder = &kBert,
     .names = kBertNames,
     .entry = make_encoder<EncoderEntryBlock>},
    {.model_type = "roberta",
     .architecture = "RobertaModel",
     .activation = "gelu",
     .attention = make_encoder<EncoderAttentionBlock>,
     .feed_forward = make_encoder<EncoderFeedForwardBlock>,
     .encoder = &kRoberta,
     .names = kRobertaNames,
     .entry = make_encoder<EncoderEntryBlock>},
    {.model_type = "xlm-roberta",
     .architecture = "XLMRobertaModel",
     .activation = "gelu",
     .attention = make_encoder<EncoderAttentionBlock>,
     .feed_forward = make_encoder<EncoderFeedForwardBlock>,
     .encoder = &kRoberta,
     .names = kRobertaNames,
     .entry = make_encoder<EncoderEntryBlock>},
    {.model_type = "modernbert",
     .architecture = "ModernBertModel",
     .activation = "gelu",
     .attention = make_numbered<ModernAttentionBlock>,
     .feed_forward = make_encoder<ModernFeedForwardBlock>,
     .encoder = &kModernBert,
     .names = kModernBertNames,
     .entry = make_encoder<ModernEntryBlock>},
};

}  // namespace

std::span<const Family> encoder_families() { return kEncoders; }

}  // namespace tessera::model
