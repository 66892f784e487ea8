// Which modules a configuration means, with which rank and scale, and what it must not ask for.
#include "lora/peft_config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace tessera::lora {
namespace peft_config_test {

Result<PeftConfig> parse(const std::string& text) { return PeftConfig::parse(text, "config"); }

TEST(PeftConfig, PatternsGiveRankAndScaleOfAModuleByTheEndOfItsName) {
  const auto config = parse(R"({"peft_type": "LORA", "r": 4, "lora_alpha": 12,
    "target_modules": ["q_proj"],
    "rank_pattern": {"layers.1.self_attn.q_proj": 2, "q_proj": 3, "^model.*up_proj": 5},
    "alpha_pattern": {"(q|k)_proj": 6}})");
  ASSERT_TRUE(config.is_ok()) << config.status().message();
  const PeftConfig& c = config.value();
  EXPECT_EQ(c.rank_of("model.layers.1.self_attn.q_proj"), 2u);
  EXPECT_EQ(c.rank_of("model.layers.11.self_attn.q_proj"), 3u);
  EXPECT_EQ(c.rank_of("model.layers.1.mlp.up_proj"), 5u);
  EXPECT_EQ(c.rank_of("model.layers.1.self_attn.v_proj"), 4u);
  EXPECT_EQ(c.rank_of("model.layers.0.mlp.myq_proj"), 4u);  // the pattern begins at a dot
  EXPECT_DOUBLE_EQ(c.scale_of("model.layers.1.self_attn.q_proj"), 6.0 / 2);
  EXPECT_DOUBLE_EQ(c.scale_of("model.layers.1.self_attn.v_proj"), 12.0 / 4);
}

TEST(PeftConfig, RsLoraDividesByTheRootOfTheRank) {
  const auto config = parse(R"({"r": 16, "lora_alpha": 8, "use_rslora": true})");
  ASSERT_TRUE(config.is_ok());
  EXPECT_DOUBLE_EQ(config.value().scale_of("model.layers.0.mlp.up_proj"), 8.0 / 4);
}

TEST(PeftConfig, TargetsAreAListAnExpressionOrAllAndOnlyOfTheLayersThatAreNamed) {
  const std::string q0 = "model.layers.0.self_attn.q_proj", up1 = "model.layers.1.mlp.up_proj";
  const struct {
    const char* fields;
    bool takes_q0, takes_up1;
  } cases[] = {
      {R"("target_modules": ["q_proj", "mlp.up_proj"])", true, true},
      {R"("target_modules": ["proj"])", false, false},
      {R"("target_modules": "all-linear", "exclude_modules": ["up_proj"])", true, false},
      {R"("target_modules": ".*\\.0\\..*")", true, false},
      {R"("target_modules": "q_proj")", false, false},  // of the whole name
      {R"("target_modules": "all-linear", "layers_to_transform": [1, 5])", false, true},
      {R"("target_modules": "all-linear", "layers_to_transform": 0)", true, false},
      {R"("target_modules": "all-linear", "exclude_modules": ".*mlp.*")", true, false},
      {R"("target_modules": ["model.layers.0.self_attn.q_proj", "up_proj"],
          "layers_to_transform": [5])",
       true, false},
  };
  for (const auto& one : cases) {
    const auto config = parse(std::string("{") + one.fields + "}");
    ASSERT_TRUE(config.is_ok()) << config.status().message();
    EXPECT_EQ(config.value().targets(q0, 0), one.takes_q0) << one.fields;
    EXPECT_EQ(config.value().targets(up1, 1), one.takes_up1) << one.fields;
  }
}

TEST(PeftConfig, WhatIsNotServedIsRefusedByTheNameOfItsField) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"peft_type", R"("IA3")"},
      {"use_dora", R"(true, "alora_invocation_tokens": [1])"},
      {"use_dora", R"(true, "target_parameters": ["experts.down_proj"])"},
      {"use_dora", "1"},
      {"alora_invocation_tokens", "[1, \"a\"]"},
      {"layer_replication", "[[0, 1]]"},
      {"bias", R"("lora_only")"},
      {"lora_bias", "true"},
      {"fan_in_fan_out", "true"},
      {"target_parameters", R"("experts.down_proj")"},
      {"use_qalora", "true"},
      {"use_bdlora", R"({"a": 1})"},
      {"kasa_config", R"({"a": 1})"},
      {"init_lora_weights", R"("pissa")"},
      {"init_lora_weights", R"("pissa_niter_16")"},
      {"init_lora_weights", R"("olora")"},
      {"init_lora_weights", R"("corda")"},
      {"init_lora_weights", R"("lora_ga")"},
      {"init_lora_weights", R"("loftq")"},
      {"a_field_of_tomorrow", "3"},
      {"r", "0"},
      {"r", "null"},
      {"r", "129"},
      {"r", "1.5"},
      {"lora_alpha", "-1"},
      {"lora_alpha", R"("8")"},
      {"rank_pattern", R"({"q_proj": 0})"},
      {"lora_alpha", "null"},
      {"alpha_pattern", R"({"(?=q)q_proj": 2})"},
      {"a_field_of_tomorrow", R"("some")"},
      {"a_field_of_tomorrow", "0.5"},
      {"rank_pattern", R"([1])"},
      {"rank_pattern", R"({"\\pN": 2})"},
      {"rank_pattern", "null"},
      {"alpha_pattern", R"({"[a-z]{,3}_proj": 2})"},
      {"alpha_pattern", R"({"(?i)Q_PROJ": 2})"},
      {"alpha_pattern", "null"},
      {"alpha_pattern", R"({"q_proj": 1, "q_proj": 2})"},
      {"target_modules", R"("[[:alpha:]]+_proj")"},
      {"exclude_modules", R"("q_proj\\z")"},
      {"modules_to_save", R"("lm_head")"},
      {"bias", "null"},
      {"alpha_pattern", R"({"q_proj": 1e9})"},
      {"target_modules", "7"},
      {"target_modules", "[7]"},
      {"layers_to_transform", "[-1]"},
      {"layers_pattern", R"(["h"])"},
      {"trainable_token_indices", "[1, 1]"},
      {"trainable_token_indices", R"({"wte": [1]})"},
      {"trainable_token_indices", "[-4]"},
  };
  for (const auto& [field, value] : cases) {
    const auto config = parse("{\"" + field + "\": " + value + "}");
    ASSERT_FALSE(config.is_ok()) << field << " " << value;
    EXPECT_EQ(config.status().code(), Code::kAdapterInvalid);
    EXPECT_NE(config.status().message().find(field), std::string::npos)
        << config.status().message();
  }
}

TEST(PeftConfig, AFieldThatIsThereTwiceIsRefused) {
  const auto config = parse(R"({"r": 4, "r": 8})");
  ASSERT_FALSE(config.is_ok());
  EXPECT_NE(config.status().message().find("twice"), std::string::npos);
}

TEST(PeftConfig, FieldsThatAreSwitchedOffAreNoneOfItsBusiness) {
  EXPECT_TRUE(parse(R"({"use_dora": false, "a_field_of_tomorrow": null, "another": {}})").is_ok());
  EXPECT_TRUE(parse(R"({"a": 0, "b": 0.0, "c": "none", "d": "", "e": []})").is_ok());
  EXPECT_TRUE(parse(R"({"lorap_emb_lr": 1e-6, "lorap_lr_ratio": 16.0, "lora_dtype": "bfloat16",
                        "unsloth_version": "2026.1"})")
                  .is_ok());
}

TEST(PeftConfig, AnotherMethodIsNamedBeforeItsFields) {
  const auto config = parse(R"({"peft_type": "LOHA", "alpha": 8, "rank_dropout": 0.5})");
  ASSERT_FALSE(config.is_ok());
  EXPECT_NE(config.status().message().find("peft_type: expected \"LORA\""), std::string::npos)
      << config.status().message();
}

TEST(PeftConfig, ModulesOfAnExpressionThatRe2DoesNotReadAreKnownByTheTensorsAlone) {
  for (const char* expression : {"(?!.*mlp).*_proj", "(?<!x)v_proj", R"(.*_proj\\Z)", ".*+_proj",
                                 "(?P<a>x)(?P=a)", "(?>q|k)_proj", "(q_proj", "a)|(b"}) {
    const std::string text = expression;
    const auto config = parse(R"({"target_modules": ")" + text + R"(", "exclude_modules": ")" +
                              text + R"(", "rank_pattern": {")" + text + R"(": 9}})");
    ASSERT_TRUE(config.is_ok()) << config.status().message();
    EXPECT_TRUE(config.value().targets_are_unknown()) << text;
    EXPECT_TRUE(config.value().ranks_are_unknown) << text;
    const auto scaled = parse(R"({"alpha_pattern": {")" + text + R"(": 2}})");
    ASSERT_FALSE(scaled.is_ok()) << text;
    EXPECT_NE(scaled.status().message().find("no tensor tells a scale"), std::string::npos);
  }
}

TEST(PeftConfig, AnExpressionThatWouldRunForeverElsewhereEndsAtOnce) {
  const auto config = parse(R"({"target_modules": "(a*)*(a*)*(a*)*b", "r": 2})");
  ASSERT_TRUE(config.is_ok());
  EXPECT_FALSE(config.value().targets(std::string(5000, 'a'), 0));
}

TEST(PeftConfig, WhatIsNoJsonIsCorrupt) {
  EXPECT_EQ(parse("{\"r\": ").status().code(), Code::kAdapterCorrupt);
  EXPECT_EQ(parse("").status().code(), Code::kAdapterCorrupt);
  EXPECT_EQ(parse("[]").status().code(), Code::kAdapterInvalid);
}

}  // namespace peft_config_test
}  // namespace tessera::lora
