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

/// Families that differ from BERT in names and positions alone.
constexpr Family like_bert(std::string_view model_type, std::string_view architecture,
                           const EncoderFields& fields, const TensorNames& names) {
  return {.model_type = model_type,
          .architecture = architecture,
          .activation = "gelu",
          .attention = make_encoder<EncoderAttentionBlock>,
          .feed_forward = make_encoder<EncoderFeedForwardBlock>,
          .encoder = &fields,
          .names = names,
          .entry = make_encoder<EncoderEntryBlock>};
}

constexpr Family kEncoders[] = {
    like_bert("bert", "BertModel", kBert, kBertNames),
    like_bert("roberta", "RobertaModel", kRoberta, kRobertaNames),
    like_bert("xlm-roberta", "XLMRobertaModel", kRoberta, kRobertaNames),
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
