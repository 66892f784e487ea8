#include "model/model_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "model/test_model.h"

namespace tessera::model {
namespace model_config_test {

const std::string kValid = test_config({});

/// A valid text of simple fields with others in their place, or beside them.
std::string with(const std::string& fields, const std::string& valid = kValid) {
  std::string text = "{" + fields;
  const std::string inside = valid.substr(1, valid.size() - 2);
  for (size_t begin = 0; begin < inside.size();) {
    const size_t end = std::min(inside.find(", ", begin), inside.size());
    const std::string field = inside.substr(begin, end - begin);
    if (fields.find(field.substr(0, field.find(' '))) == std::string::npos) {
      text += (text.size() > 1 ? ", " : "") + field;
    }
    begin = end + 2;
  }
  return text + "}";
}

ModelConfig parsed(const std::string& text) {
  Result<ModelConfig> config = ModelConfig::parse(text, "config.json");
  if (!config.is_ok()) {
    ADD_FAILURE() << config.status().message();
    return {};
  }
  return config.value();
}

void expect_refused(const std::string& text, const std::string& field) {
  Result<ModelConfig> config = ModelConfig::parse(text, "config.json");
  ASSERT_FALSE(config.is_ok()) << text;
  EXPECT_EQ(config.status().code(), Code::kModelInvalid);
  const std::string& message = config.status().message();
  EXPECT_NE(message.find("config.json: " + field), std::string::npos) << message;
  EXPECT_NE(message.find("expected"), std::string::npos) << message;
  EXPECT_NE(message.find("got"), std::string::npos) << message;
}

TEST(ModelConfigTest, TheFieldsOfAValidFileAreRead) {
  const ModelConfig config = parsed(kValid);
  EXPECT_EQ(config.family->model_type, "qwen3");
  EXPECT_EQ(config.vocab_size, 70u);
  EXPECT_EQ(config.hidden_size, 24u);
  EXPECT_EQ(config.head_dim, 10u);
  EXPECT_EQ(config.max_positions, 200u);
  EXPECT_EQ(config.family->qk_norm, QkNorm::kHeads);
  EXPECT_FALSE(config.qkv_bias);
}

TEST(ModelConfigTest, BothSpellingsOfTheRotaryBaseMeanTheSame) {
  const auto frequency = [](const std::string& field) {
    return parsed(with(field)).rope_frequencies()[1];
  };
  EXPECT_EQ(frequency("\"rope_theta\": 500.0"),
            frequency("\"rope_parameters\": {\"rope_theta\": 500, \"rope_type\": \"default\"}"));
  EXPECT_NE(frequency("\"rope_theta\": 500.0"), frequency("\"rope_theta\": 600.0"));
  EXPECT_FLOAT_EQ(frequency("\"rope_theta\": 500.0"), static_cast<float>(std::pow(500.0, -0.2)));
}

TEST(ModelConfigTest, BothSpellingsOfTheTypeAreTakenAndOthersRefused) {
  EXPECT_EQ(parsed(with("\"dtype\": \"bfloat16\"")).vocab_size, 70u);
  EXPECT_EQ(parsed(with("\"torch_dtype\": \"float16\"")).vocab_size, 70u);
  expect_refused(with("\"dtype\": \"float8_e4m3fn\""), "dtype");
  expect_refused(with("\"torch_dtype\": 7"), "torch_dtype");
}

/// A configuration of a mixture with another field in front.
std::string mixture_with(const std::string& field, const std::string& type = "qwen3_moe") {
  TestShape shape;
  shape.model_type = type;
  shape.layers = 6;
  return with(field, test_config(shape));
}

TEST(ModelConfigTest, MixturesHaveTheFieldsOfTheirFamily) {
  const ModelConfig config = parsed(mixture_with(""));
  EXPECT_EQ(config.mixture.experts, 5u);
  EXPECT_EQ(config.mixture.chosen, 2u);
  EXPECT_EQ(config.mixture.size, 37u);
  EXPECT_EQ(config.mixture.shared_size, 0u);
  EXPECT_FALSE(config.mixture.normalises);
  EXPECT_EQ(parsed(mixture_with("", "qwen2_moe")).mixture.shared_size, 29u);
  EXPECT_EQ(parsed(mixture_with("", "olmoe")).mixture.size, 37u);
  EXPECT_TRUE(parsed(mixture_with("\"norm_topk_prob\": true")).mixture.normalises);
  EXPECT_EQ(parsed(mixture_with("\"num_local_experts\": 5")).mixture.experts, 5u);
  EXPECT_FALSE(parsed(mixture_with("\"qkv_bias\": false", "qwen2_moe")).qkv_bias);
  EXPECT_TRUE(parsed(mixture_with("", "qwen2_moe")).qkv_bias);
  EXPECT_EQ(
      parsed(mixture_with("\"use_sliding_window\": true, \"sliding_window\": 64")).max_positions,
      64u);
}

TEST(ModelConfigTest, LayersChooseExpertsByTheirStepAndUnlessTheyAreNamed) {
  const auto layers = [](const std::string& field) {
    return parsed(mixture_with(field)).mixture.layers;
  };
  EXPECT_EQ(layers(""), std::vector<bool>(6, true));
  EXPECT_EQ(layers("\"decoder_sparse_step\": 2"),
            (std::vector<bool>{false, true, false, true, false, true}));
  EXPECT_EQ(layers("\"decoder_sparse_step\": 3, \"mlp_only_layers\": [5, 90]"),
            (std::vector<bool>{false, false, true, false, false, false}));
}

TEST(ModelConfigTest, MixturesThatAreNoneAreRefusedByField) {
  expect_refused(mixture_with("\"num_experts_per_tok\": 6"), "num_experts_per_tok");
  for (const char* type : {"qwen3_moe", "olmoe"}) {
    expect_refused(mixture_with("\"num_experts_per_tok\": null", type), "num_experts_per_tok");
  }
  expect_refused(mixture_with("\"num_experts\": 0"), "num_experts");
  expect_refused(mixture_with("\"num_local_experts\": 6"), "num_experts");
  expect_refused(mixture_with("\"decoder_sparse_step\": 0"), "decoder_sparse_step");
  for (const char* layers : {"[-1]", "[\"0\"]", "[1, null]", "\"0\"", "0", "{}", "true"}) {
    expect_refused(mixture_with(std::string("\"mlp_only_layers\": ") + layers), "mlp_only_layers");
  }
  expect_refused(mixture_with("\"clip_qkv\": 8.0", "olmoe"), "clip_qkv");
  EXPECT_NE(parsed(mixture_with("")).canonical_text(),
            parsed(mixture_with("\"norm_topk_prob\": true")).canonical_text());
}

/// A configuration of a hybrid with other fields in front; "" for a list of four layers.
std::string hybrid_with(const std::string& field, const std::string& type = "qwen3_5_text") {
  TestShape shape;
  shape.model_type = type;
  shape.layers = 4;
  shape.interval = 4;
  return with(field, test_config(shape));
}

std::string layers_of(const std::string& types) {
  std::string text = "\"layer_types\": [";
  for (const char type : types) {
    text += text.back() == '[' ? "" : ",";
    text += type == 'd' ? "\"linear_attention\"" : "\"full_attention\"";
  }
  return text + "]";
}

TEST(ModelConfigTest, HybridsHaveLayersOfTwoKinds) {
  const ModelConfig config = parsed(hybrid_with(""));
  EXPECT_EQ(config.delta_layers, (std::vector<uint8_t>{1, 1, 1, 0}));
  EXPECT_TRUE(config.is_delta(0) && !config.is_delta(3));
  EXPECT_EQ(config.attention_layers(), 1u);
  EXPECT_TRUE(config.output_gate);
  EXPECT_EQ(config.delta.keys(), 12u);
  EXPECT_EQ(config.delta.values(), 20u);
  EXPECT_EQ(config.delta.channels(), 44u);
  EXPECT_EQ(config.delta.taps, 4u);
  EXPECT_EQ(parsed(hybrid_with(layers_of("ffdd"))).delta_layers,
            (std::vector<uint8_t>{0, 0, 1, 1}));
  EXPECT_EQ(parsed(hybrid_with(layers_of("ffff"))).attention_layers(), 4u);
  EXPECT_EQ(parsed(hybrid_with("\"layer_types\": null, \"full_attention_interval\": 2"))
                .attention_layers(),
            2u);
  EXPECT_EQ(parsed(kValid).attention_layers(), 2u);
  EXPECT_FALSE(parsed(kValid).is_delta(0) || parsed(kValid).output_gate);
}

TEST(ModelConfigTest, HybridsDefaultAsTransformersDoes) {
  std::string text = hybrid_with("");
  for (const char* field : {"linear_", "head_dim", "full_attention_interval"}) {
    for (size_t at = 0; (at = text.find("\"" + std::string(field))) != std::string::npos;) {
      text.erase(at, text.find(", ", at) + 2 - at);
    }
  }
  const ModelConfig config = parsed(text);
  EXPECT_EQ(config.head_dim, 256u);
  EXPECT_EQ(config.delta.key_heads, 16u);
  EXPECT_EQ(config.delta.value_heads, 32u);
  EXPECT_EQ(config.delta.key_dim, 128u);
  EXPECT_EQ(config.delta.value_dim, 128u);
  EXPECT_EQ(config.delta.taps, 4u);
  EXPECT_EQ(config.delta_layers, (std::vector<uint8_t>{1, 1, 1, 0}));
  const ModelConfig mixed = parsed(hybrid_with("", "qwen3_next"));
  EXPECT_TRUE(mixed.mixture.normalises);
  EXPECT_EQ(mixed.mixture.shared_size, 29u);
}

TEST(ModelConfigTest, HybridsThatAreNoneAreRefusedByField) {
  const struct {
    const char* field;
    std::string json;
  } cases[] = {
      {"layer_types", layers_of("dddd")},  // no keys and values at all
      {"layer_types", layers_of("dddff")},
      {"layer_types", "\"layer_types\": [\"sliding_attention\", 1, 2, 3]"},
      {"full_attention_interval", "\"full_attention_interval\": 5"},
      {"full_attention_interval", "\"full_attention_interval\": null, \"num_hidden_layers\": 3"},
      {"full_attention_interval", "\"full_attention_interval\": 0"},
      {"linear_num_value_heads", "\"linear_num_value_heads\": 3"},
      {"linear_num_value_heads", "\"linear_num_value_heads\": 0"},
      {"linear_num_key_heads", "\"linear_num_key_heads\": 1025"},
      {"linear_key_head_dim", "\"linear_key_head_dim\": 0"},
      {"linear_value_head_dim", "\"linear_value_head_dim\": 1025"},
      {"linear_conv_kernel_dim", "\"linear_conv_kernel_dim\": 1"},
      {"linear_conv_kernel_dim", "\"linear_conv_kernel_dim\": 9"},
      {"attn_output_gate", "\"attn_output_gate\": 1"},
  };
  for (const auto& bad : cases) expect_refused(hybrid_with(bad.json), bad.field);
}

TEST(ModelConfigTest, WhatChangesAHybridsResultChangesItsText) {
  const std::string whole = parsed(hybrid_with("")).canonical_text();
  for (const std::string& field :
       {layers_of("dfdf"), std::string("\"attn_output_gate\": false"),
        std::string("\"linear_num_value_heads\": 2"), std::string("\"linear_key_head_dim\": 7"),
        std::string("\"linear_conv_kernel_dim\": 3")}) {
    EXPECT_NE(parsed(hybrid_with(field)).canonical_text(), whole) << field;
  }
}

TEST(ModelConfigTest, TheTextPartOfAVisionFolderIsRead) {
  const auto vision = [](const std::string& beside, const std::string& inside) {
    return "{\"model_type\": \"qwen3_5\", " + beside + "\"vision_config\": {\"depth\": 1}, " +
           "\"text_config\": " + hybrid_with(inside) + "}";
  };
  const ModelConfig config = parsed(vision("", "\"tie_word_embeddings\": true"));
  EXPECT_EQ(config.hidden_size, 24u);
  EXPECT_EQ(config.attention_layers(), 1u);
  EXPECT_FALSE(config.tie_word_embeddings);  // transformers reads the one at the top
  EXPECT_TRUE(parsed(vision("\"tie_word_embeddings\": true, ", "")).tie_word_embeddings);
  expect_refused(vision("", "\"linear_conv_kernel_dim\": 1"), "text_config.linear_conv_kernel_dim");
  expect_refused(vision("\"quantization_config\": {}, ", ""), "quantization_config");
  expect_refused(vision("", "\"model_type\": \"qwen3_next\""), "text_config.model_type");
  EXPECT_EQ(parsed(vision("", "")).canonical_text(), parsed(hybrid_with("")).canonical_text());
  expect_refused("{\"model_type\": \"qwen3_5\"}", "text_config");
  expect_refused("{\"model_type\": \"qwen3_5\", \"text_config\": 3}", "text_config");
}

/// As the folder of a published base has it.
constexpr const char* kPublished = R"({
  "architectures": ["Qwen3_5ForConditionalGeneration"], "image_token_id": 248056,
  "model_type": "qwen3_5", "text_config": {
    "attention_bias": false, "attention_dropout": 0.0, "attn_output_gate": true,
    "dtype": "bfloat16", "eos_token_id": 248044, "full_attention_interval": 4, "head_dim": 256,
    "hidden_act": "silu", "hidden_size": 1024, "initializer_range": 0.02,
    "intermediate_size": 3584, "layer_types": ["linear_attention", "linear_attention",
      "linear_attention", "full_attention", "linear_attention", "linear_attention",
      "linear_attention", "full_attention"], "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 128, "linear_num_key_heads": 16, "linear_num_value_heads": 16,
    "linear_value_head_dim": 128, "max_position_embeddings": 262144, "mlp_only_layers": [],
    "model_type": "qwen3_5_text", "mtp_num_hidden_layers": 1,
    "mtp_use_dedicated_embeddings": false, "num_attention_heads": 8, "num_hidden_layers": 8,
    "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "tie_word_embeddings": true,
    "use_cache": true, "vocab_size": 248320, "mamba_ssm_dtype": "float32", "rope_parameters": {
      "mrope_interleaved": true, "mrope_section": [11, 11, 10], "rope_type": "default",
      "rope_theta": 10000000, "partial_rotary_factor": 0.25}},
  "tie_word_embeddings": true, "video_token_id": 248057, "vision_config": {"depth": 12},
  "vision_end_token_id": 248054, "vision_start_token_id": 248053})";

TEST(ModelConfigTest, APublishedFolderOfAHybridIsRead) {
  const ModelConfig config = parsed(kPublished);
  EXPECT_EQ(config.attention_layers(), 2u);
  EXPECT_EQ(config.max_positions, 262144u);
  EXPECT_EQ(config.rope.theta, 1e7);
  EXPECT_EQ(config.rope_frequencies().size(), 32u);
  EXPECT_TRUE(config.tie_word_embeddings && config.output_gate);
  EXPECT_FALSE(config.qkv_bias || config.output_bias);
}

TEST(ModelConfigTest, NoHybridMakesVectorsOfTexts) {
  EXPECT_FALSE(ModelConfig::parse(hybrid_with(""), "config.json", text_families()).is_ok());
}

TEST(ModelConfigTest, ListsThatAreOfAnotherKindAreRefusedByField) {
  for (const char* value : {"\"full_attention\"", "0", "1.5", "true", "{}", "{\"0\": 1}"}) {
    const std::string kind = std::string(": ") + value;
    expect_refused(with("\"layer_types\"" + kind), "layer_types");
    expect_refused(mixture_with("\"layer_types\"" + kind), "layer_types");
    expect_refused(mixture_with("\"mlp_only_layers\"" + kind), "mlp_only_layers");
    expect_refused(with("\"architectures\"" + kind), "architectures");
  }
}

TEST(ModelConfigTest, LinearAndLlama3ScalingFollowTheirDefinitions) {
  const double base = std::pow(10000.0, -0.2);
  const auto frequencies = [](const std::string& scaling) {
    return parsed(with("\"rope_scaling\": " + scaling)).rope_frequencies();
  };
  EXPECT_FLOAT_EQ(frequencies("{\"type\": \"linear\", \"factor\": 4.0}")[1],
                  static_cast<float>(base / 4));
  const auto scaled = frequencies(
      "{\"rope_type\": \"llama3\", \"factor\": 8.0, \"low_freq_factor\": 1.0, "
      "\"high_freq_factor\": 4.0, \"original_max_position_embeddings\": 32}");
  // Rotations within 32 positions: pair 0 has 5.1 (kept), pair 4 far below 1 (divided), pair 1
  // between.
  EXPECT_FLOAT_EQ(scaled[0], 1.0f);
  EXPECT_FLOAT_EQ(scaled[4], static_cast<float>(std::pow(10000.0, -0.8) / 8));
  const double wavelength = 2 * std::numbers::pi / std::pow(10000.0, 0.0);
  EXPECT_LT(wavelength, 32.0 / 4);
}

TEST(ModelConfigTest, NoTokenIsReadSinceAnAnswerHasNoEnd) {
  parsed(with("\"eos_token_id\": [3, 151645], \"bos_token_id\": 151643"));
}

TEST(ModelConfigTest, OneArchitectureOfSeveralMayBeTheFamilysAndNoneSaysNothing) {
  parsed(with(R"("architectures": ["Qwen3Model", "Qwen3ForCausalLM"])"));
  parsed(with(R"("architectures": [])"));
}

TEST(ModelConfigTest, AFieldThatStandsTwiceIsRefusedWhateverItIs) {
  expect_refused("{\"hidden_size\": 12, " + kValid.substr(1), "hidden_size");
  expect_refused(with(R"("rope_scaling": {"type": "linear", "factor": 2, "factor": 4})"),
                 "rope_scaling.factor");
  expect_refused(with(R"("my_own": 1, "my_own": 1)"), "my_own");
}

TEST(ModelConfigTest, ANumberThatPythonAloneWritesIsNamedWithItsField) {
  for (const std::string number : {"NaN", "Infinity", "-Infinity"}) {
    const auto config = ModelConfig::parse(R"({"a": "NaN", "norm_eps": )" + number + "}", "c.json");
    ASSERT_FALSE(config.is_ok());
    const std::string end =
        number.substr(number[0] == '-' ? 1 : 0) + " at norm_eps, which is no number of JSON";
    EXPECT_TRUE(config.status().message().ends_with(end)) << config.status().message();
  }
}

/// Positions of a model of 3 layers and 10,000 positions with more fields in front.
uint32_t positions(const std::string& type, const std::string& fields) {
  TestShape shape;
  shape.model_type = type;
  shape.max_positions = 10000;
  shape.layers = 3;
  return parsed(with(fields, test_config(shape))).max_positions;
}

TEST(ModelConfigTest, AWindowOfEveryLayerLimitsThePositions) {
  EXPECT_EQ(positions("mistral", ""), 4096u);  // what transformers takes
  EXPECT_EQ(positions("mistral", "\"sliding_window\": 8"), 8u);
  EXPECT_EQ(positions("mistral", "\"sliding_window\": null"), 10000u);
  EXPECT_EQ(positions("mistral", "\"sliding_window\": 20000"), 10000u);
  EXPECT_EQ(positions("llama", "\"sliding_window\": 8"), 10000u);
}

TEST(ModelConfigTest, AWindowThatIsAskedForLimitsThePositionsWhereALayerHasIt) {
  const std::string asked = "\"use_sliding_window\": true, \"max_window_layers\": ";
  for (const char* type : {"qwen2", "qwen3"}) {
    EXPECT_EQ(positions(type, "\"sliding_window\": 8"), 10000u);
    EXPECT_EQ(positions(type, "\"sliding_window\": 8, \"use_sliding_window\": false"), 10000u);
    EXPECT_EQ(positions(type, asked + "0"), 4096u);
    EXPECT_EQ(positions(type, asked + "2, \"sliding_window\": 8"), 8u);
    EXPECT_EQ(positions(type, asked + "2, \"sliding_window\": null"), 10000u);
    EXPECT_EQ(positions(type, asked + "3, \"sliding_window\": 8"), 10000u);
    EXPECT_EQ(positions(type, "\"use_sliding_window\": true, \"sliding_window\": 8"), 10000u);
    const std::string full = "\"full_attention\", ";
    EXPECT_EQ(positions(type, asked + "0, \"sliding_window\": 8, \"layer_types\": [" + full + full +
                                  "\"full_attention\"]"),
              10000u);
    EXPECT_EQ(positions(type, asked + "3, \"sliding_window\": 8, \"layer_types\": [" + full + full +
                                  "\"sliding_attention\"]"),
              8u);
  }
  expect_refused(with(asked + "0, \"sliding_window\": null, \"layer_types\": "
                              "[\"sliding_attention\", \"sliding_attention\"]"),
                 "layer_types");
}

TEST(ModelConfigTest, RopeScalingReplacesRopeParametersWhole) {
  const auto frequency = [](const std::string& fields) {
    return parsed(with(fields)).rope_frequencies()[1];
  };
  const std::string parameters =
      "\"rope_parameters\": {\"rope_theta\": 500, \"rope_type\": \"default\"}";
  const std::string linear = "\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 4";
  const auto base = [](double theta) { return static_cast<float>(std::pow(theta, -0.2)); };
  EXPECT_FLOAT_EQ(frequency(parameters), base(500));
  EXPECT_FLOAT_EQ(frequency(parameters + ", " + linear + "}"), base(10000) / 4);
  EXPECT_FLOAT_EQ(frequency(parameters + ", " + linear + ", \"rope_theta\": 700}"), base(700) / 4);
  EXPECT_FLOAT_EQ(frequency(parameters + ", \"rope_scaling\": null"), base(500));
  EXPECT_FLOAT_EQ(frequency(parameters + ", \"rope_scaling\": {}"), base(500));
}

TEST(ModelConfigTest, Llama3TakesThePositionsOfTheModelWhereItNamesNone) {
  const std::string rest =
      "\"rope_type\": \"llama3\", \"factor\": 8, \"low_freq_factor\": 1, "
      "\"high_freq_factor\": 4";
  const auto frequencies = [](const std::string& fields) {
    return parsed(with(fields)).rope_frequencies();
  };
  const std::string named = ", \"original_max_position_embeddings\": 200}";
  EXPECT_EQ(frequencies("\"rope_scaling\": {" + rest + "}"),
            frequencies("\"rope_scaling\": {" + rest + named));
}

TEST(ModelConfigTest, AFamilyMayRotateAPartOfItsHeads) {
  Family family = *parsed(kValid).family;  // heads of 10
  family.rotary_share = 0.6;
  const auto parse = [&](const std::string& fields) {
    return ModelConfig::parse(with(fields), "config.json", {&family, 1});
  };
  const auto frequencies = [&](const std::string& fields) {
    return parse(fields).value().rope_frequencies();
  };
  const auto base = [](double power) { return static_cast<float>(std::pow(10000.0, power)); };
  const auto nested = [](const std::string& fields) {
    return "\"rope_parameters\": {\"rope_type\": \"default\", \"mrope_section\": [1, 1, 1], "
           "\"mrope_interleaved\": true, " +
           fields + "\"rope_theta\": 10000}";
  };
  const std::vector<float> six = {1, base(-2.0 / 6), base(-4.0 / 6)};
  const std::vector<float> four = {1, base(-0.5)};
  EXPECT_EQ(frequencies(""), six);
  EXPECT_EQ(frequencies(nested("")), six);
  EXPECT_EQ(frequencies("\"partial_rotary_factor\": 0.4"), four);
  EXPECT_EQ(frequencies("\"partial_rotary_factor\": 0.49"), four);
  EXPECT_EQ(
      frequencies("\"partial_rotary_factor\": 1, " + nested("\"partial_rotary_factor\": 0.4, ")),
      four);
  EXPECT_EQ(frequencies("\"partial_rotary_factor\": 0.3"),
            (std::vector<float>{1, base(-2.0 / 3)}));  // the third number's pair is the fourth
  EXPECT_EQ(frequencies("\"partial_rotary_factor\": 1.0").size(), 5u);
  EXPECT_FALSE(parse("\"partial_rotary_factor\": 0.09").is_ok());
  EXPECT_NE(parse("").value().canonical_text(),
            parse("\"partial_rotary_factor\": 0.4").value().canonical_text());
}

/// Of a model of 200 positions and heads of 10.
ModelConfig rotated(const std::string& scaling) {
  return parsed(with("\"rope_scaling\": {\"rope_type\": " + scaling + "}"));
}

TEST(ModelConfigTest, YarnHasTheAnglesAndTheMagnitudeOfTransformers) {
  const std::string original = "\"yarn\", \"original_max_position_embeddings\": ";
  const struct {
    std::string scaling;
    std::vector<float> frequencies;  // of transformers 5.23
    double magnitude;
  } cases[] = {{original + "32, \"factor\": 4",
                {1.0f, 0.0396223292f, 0.0062797158f, 0.000995267648f, 0.000157739327f},
                1.138629436111989},
               {original + "100, \"factor\": 4, \"truncate\": false, \"beta_fast\": 8, "
                           "\"beta_slow\": 0.5",
                {1.0f, 0.109005503f, 0.0062797158f, 0.000995267648f, 0.000157739327f},
                1.138629436111989},
               {original + "25, \"factor\": 8, \"mscale\": 0.707, \"mscale_all_dim\": 1",
                {1.0f, 0.0198111646f, 0.0031398579f, 0.000497633824f, 7.88696634e-05f},
                0.9495608824621653},
               {original + "64, \"factor\": 2.5, \"attention_factor\": 1.5, \"mscale\": 0",
                {1.0f, 0.11094252f, 0.0100475457f, 0.00159242831f, 0.000252382917f},
                1.5},
               {original + "200, \"factor\": 0.5",
                {1.0f, 0.237733975f, 0.0502377264f, 0.00796214119f, 0.00126191461f},
                1},
               {original + "50, \"factor\": null",
                {1.0f, 0.0990558267f, 0.0062797158f, 0.000995267648f, 0.000157739327f},
                1.138629436111989}};
  for (const auto& expected : cases) {
    SCOPED_TRACE(expected.scaling);
    const ModelConfig config = rotated(expected.scaling);
    const std::vector<float> frequencies = config.rope_frequencies();
    ASSERT_EQ(frequencies.size(), expected.frequencies.size());
    for (size_t i = 0; i < frequencies.size(); ++i) {
      EXPECT_FLOAT_EQ(frequencies[i], expected.frequencies[i]) << i;
    }
    EXPECT_DOUBLE_EQ(config.rope.magnitude, expected.magnitude);
  }
  EXPECT_NE(rotated(cases[0].scaling).canonical_text(),
            rotated(cases[0].scaling + ", \"attention_factor\": 1").canonical_text());
}

TEST(ModelConfigTest, YarnStretchesThePositionsAndDynamicAnglesEndWithThoseOfTheModel) {
  const std::string original = "\"yarn\", \"original_max_position_embeddings\": ";
  EXPECT_EQ(rotated(original + "200, \"factor\": 4").max_positions, 800u);
  EXPECT_EQ(rotated("\"yarn\", \"factor\": 2.5").max_positions, 500u);
  EXPECT_EQ(rotated(original + "50, \"factor\": 2").max_positions, 200u);
  EXPECT_EQ(rotated("\"yarn\", \"factor\": 1e6").max_positions, kMaxPositions);
  const ModelConfig dynamic = rotated("\"dynamic\", \"factor\": 2");
  EXPECT_EQ(dynamic.max_positions, 200u);
  EXPECT_EQ(dynamic.rope_frequencies(), parsed(kValid).rope_frequencies());
}

TEST(ModelConfigTest, HeadDimensionDefaultsAsTransformersDoes) {
  const auto without = [](const std::string& type) {
    TestShape shape;
    shape.model_type = type;
    std::string text = test_config(shape);
    const std::string field = "\"head_dim\": 10, ";
    return text.erase(text.find(field), field.size());
  };
  EXPECT_EQ(parsed(without("qwen3")).head_dim, 128u);
  EXPECT_EQ(parsed(without("llama")).head_dim, 8u);
}

TEST(ModelConfigTest, BiasesFollowTheFamily) {
  TestShape shape;
  shape.model_type = "qwen2";
  EXPECT_TRUE(parsed(test_config(shape)).qkv_bias);
  EXPECT_FALSE(parsed(test_config(shape)).output_bias);
  EXPECT_TRUE(parsed(with("\"attention_bias\": true")).output_bias);
}

TEST(ModelConfigTest, EveryBadFieldIsRefusedByName) {
  const struct {
    const char* field;
    const char* json;
  } cases[] = {
      {"model_type", "\"model_type\": \"mamba\""},
      {"model_type", "\"model_type\": 3"},
      {"architectures", "\"architectures\": [\"Qwen3ForSequenceClassification\"]"},
      {"vocab_size", "\"vocab_size\": 0"},
      {"vocab_size", "\"vocab_size\": -5"},
      {"vocab_size", "\"vocab_size\": 18446744073709551615"},
      {"vocab_size", "\"vocab_size\": 1.5"},
      {"hidden_size", "\"hidden_size\": \"24\""},
      {"num_hidden_layers", "\"num_hidden_layers\": 513"},
      {"num_key_value_heads", "\"num_key_value_heads\": 2"},
      {"head_dim", "\"head_dim\": 9"},
      {"head_dim", "\"head_dim\": 0"},
      {"rms_norm_eps", "\"rms_norm_eps\": 0"},
      {"rms_norm_eps", "\"rms_norm_eps\": \"small\""},
      {"rope_theta", "\"rope_theta\": -1"},
      {"rope_scaling.rope_type", "\"rope_scaling\": {\"rope_type\": \"longrope\"}"},
      {"rope_scaling.type", "\"rope_scaling\": {\"type\": \"mrope\"}"},
      {"rope_scaling.factor", "\"rope_scaling\": {\"type\": \"dynamic\"}"},
      {"rope_scaling.factor", "\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 0}"},
      {"rope_scaling.attention_factor",
       "\"rope_scaling\": {\"type\": \"yarn\", \"attention_factor\": 0}"},
      {"rope_scaling.mscale",
       "\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 9, \"mscale\": -99, "
       "\"mscale_all_dim\": 1}"},
      {"rope_scaling.truncate", "\"rope_scaling\": {\"type\": \"yarn\", \"truncate\": 1}"},
      {"rope_scaling.rope_theta", "\"rope_scaling\": {\"type\": \"yarn\", \"rope_theta\": 1}"},
      {"rope_scaling.factor", "\"rope_scaling\": {\"type\": \"linear\"}"},
      {"rope_scaling", "\"rope_scaling\": 3"},
      {"rope_parameters.full_attention",
       "\"rope_parameters\": {\"full_attention\": {\"rope_theta\": 500}}"},
      {"rope_parameters.partial_rotary_factor",
       "\"rope_parameters\": {\"partial_rotary_factor\": 0.5}"},
      {"partial_rotary_factor", "\"partial_rotary_factor\": 0.5"},
      {"hidden_act", "\"hidden_act\": \"gelu\""},
      {"quantization_config", "\"quantization_config\": {\"bits\": 4}"},
      {"mlp_bias", "\"mlp_bias\": true"},
      {"tie_word_embeddings", "\"tie_word_embeddings\": 1"},
      {"layer_types", "\"layer_types\": [\"full_attention\", \"linear_attention\"]"},
      {"layer_types", "\"layer_types\": [\"full_attention\"]"},
      {"use_sliding_window", "\"use_sliding_window\": \"no\""},
  };
  for (const auto& bad : cases) expect_refused(with(bad.json), bad.field);
}

TEST(ModelConfigTest, AMissingFieldIsNamed) {
  for (const char* field :
       {"model_type", "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
        "intermediate_size", "max_position_embeddings"}) {
    std::string text = kValid;
    text.insert(text.find(field), "no_");
    expect_refused(text, field);
  }
}

TEST(ModelConfigTest, TextThatIsNoObjectIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{"),
        std::string("{\"model_type\": \"\xFF\"}"), std::string(5, '\0')}) {
    Result<ModelConfig> config = ModelConfig::parse(text, "config.json");
    ASSERT_FALSE(config.is_ok());
    EXPECT_EQ(config.status().code(), Code::kModelInvalid);
  }
  const std::string huge(kMaxConfigBytes + 1, ' ');
  EXPECT_FALSE(ModelConfig::parse(huge, "config.json").is_ok());
}

TEST(ModelConfigTest, AMissingFileIsNotFound) {
  const TestFolder folder;
  Result<ModelConfig> config = ModelConfig::load(folder.path());
  ASSERT_FALSE(config.is_ok());
  EXPECT_EQ(config.status().code(), Code::kModelNotFound);
}

std::string t5_config(const std::string& more) {
  return R"({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "vocab_size": 40,
      "d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 2, "num_heads": 2)" +
         more + "}";
}

TEST(T5Config, ReadsWhatTransformersWritesAndItsDefaults) {
  const auto plain = ModelConfig::parse(t5_config(""), "config.json");
  ASSERT_TRUE(plain.is_ok()) << plain.status().message();
  EXPECT_EQ(plain.value().layer_count, 4u);
  EXPECT_EQ(plain.value().attention_layers(), 2u);
  EXPECT_EQ(plain.value().layer_name(1), "encoder.block.1.");
  EXPECT_EQ(plain.value().layer_name(2), "decoder.block.0.");
  EXPECT_TRUE(plain.value().tie_word_embeddings && plain.value().t5.scales_output);
  const auto own = ModelConfig::parse(
      t5_config(R"(, "num_decoder_layers": 1, "feed_forward_proj": "gated-gelu",
                   "tie_word_embeddings": false, "decoder_start_token_id": 7)"),
      "config.json");
  ASSERT_TRUE(own.is_ok()) << own.status().message();
  EXPECT_EQ(own.value().layer_count, 3u);
  EXPECT_TRUE(own.value().t5.is_gated && !own.value().t5.scales_output);
  EXPECT_EQ(own.value().t5.start_token, 7u);
  const auto unscaled = ModelConfig::parse(
      t5_config(R"(, "tie_word_embeddings": true, "scale_decoder_outputs": false)"), "config.json");
  ASSERT_TRUE(unscaled.is_ok());
  EXPECT_FALSE(unscaled.value().t5.scales_output);
  EXPECT_NE(unscaled.value().canonical_text(), plain.value().canonical_text());
}

TEST(T5Config, TheCopiesThatTransformersWritesOfItsFeedForwardAgreeWithIt) {
  for (const char* more :
       {R"(, "dense_act_fn": "relu", "is_gated_act": false)", R"(, "is_gated_act": null)",
        R"(, "feed_forward_proj": "gated-gelu", "dense_act_fn": "gelu_new", "is_gated_act": true)",
        R"(, "feed_forward_proj": "gelu", "dense_act_fn": "gelu")",
        R"(, "feed_forward_proj": "gated-silu", "dense_act_fn": "silu", "is_gated_act": true)"}) {
    const auto config = ModelConfig::parse(t5_config(more), "config.json");
    EXPECT_TRUE(config.is_ok()) << config.status().message();
  }
}

TEST(T5Config, RefusesByTheFieldWhatItsBlocksDoNotCompute) {
  const std::pair<const char*, const char*> refused[] = {
      {R"(, "relative_attention_num_buckets": 31)", "relative_attention_num_buckets"},
      {R"(, "relative_attention_max_distance": 16)", "relative_attention_max_distance"},
      {R"(, "feed_forward_proj": "gated-swish")", "feed_forward_proj"},
      {R"(, "feed_forward_proj": "gated-gelu", "feed_forward_layers": 2)", "feed_forward_proj"},
      {R"(, "dense_act_fn": "gelu")", "dense_act_fn: expected relu, as feed_forward_proj says"},
      {R"(, "dense_act_fn": null)", "dense_act_fn"},
      {R"(, "feed_forward_proj": "gated-gelu", "dense_act_fn": "gelu")", "dense_act_fn"},
      {R"(, "feed_forward_proj": "gated-silu", "dense_act_fn": "relu")", "dense_act_fn"},
      {R"(, "is_gated_act": true)", "is_gated_act: expected false, as feed_forward_proj says"},
      {R"(, "feed_forward_proj": "gated-relu", "is_gated_act": null)", "is_gated_act"},
      {R"(, "is_encoder_decoder": false)", "is_encoder_decoder"},
      {R"(, "decoder_start_token_id": 40)", "decoder_start_token_id"},
      {R"(, "num_decoder_layers": 0)", "num_decoder_layers"}};
  for (const auto& [more, field] : refused) {
    const auto config = ModelConfig::parse(t5_config(more), "config.json");
    ASSERT_FALSE(config.is_ok()) << more;
    EXPECT_NE(config.status().message().find(field), std::string::npos)
        << config.status().message();
  }
  for (const char* type : {"umt5", "mt5", "switch_transformers", "longt5"}) {
    std::string text = t5_config("");
    text.replace(text.find("\"t5\""), 4, "\"" + std::string(type) + "\"");
    EXPECT_NE(ModelConfig::parse(text, "c").status().message().find("model_type"),
              std::string::npos);
  }
}

}  // namespace model_config_test
}  // namespace tessera::model
