// Expressions as Python's re reads them, in which PEFT writes them.
#include "lora/module_pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace tessera::lora {
namespace module_pattern_test {

const std::string kNames[] = {"model.layers.0.self_attn.q_proj",
                              "model.layers.1.self_attn.k_proj",
                              "model.layers.11.mlp.up_proj",
                              "model.layers.1.linear_attn.in_proj_qkv",
                              "lm_head",
                              "model.embed_tokens"};

std::string matched(const ModulePattern& pattern) {
  std::string numbers;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (pattern.matches(kNames[i])) numbers += std::to_string(i);
  }
  return numbers;
}

/// Numbers of the names of which re.match(rf"(.*\.)?({expression})$", name) is true in Python 3.11.
const struct {
  const char* expression;
  const char* names;
} kAlike[] = {
    {"q_proj", "0"},
    {"(q|k)_proj", "01"},
    {"(?:q|up)_proj", "02"},
    {"x|.*_proj", "012"},
    {R"(layers\.\d+\.mlp\.up_proj)", "2"},
    {R"(layers\.\d{2}\..*)", "2"},
    {R"(layers\.\d{1,2}\.self_attn\..*)", "01"},
    {R"(layers\.1{2,}\..*)", "2"},
    {R"(layers\.[^0]\.[\w.]+)", "13"},
    {R"([a-p]\w*)", "1345"},
    {R"([]l][m_-]+.{4})", "4"},
    {"[]a]*q_proj", "0"},
    {"[^]a]+", "01235"},
    {"lm[-_]head", "4"},
    {"lm[^-]head", "4"},
    {R"(\w+[-a]?)", "012345"},
    {R"(layers\.[\d]\.[\w.-]+)", "013"},
    {"[^.]+_proj", "012"},
    {"^model.*up_proj$", "2"},
    {R"(\bup_proj)", "2"},
    {R"(\Alm_head)", "4"},
    {"(?i:Q_PROJ)", "0"},
    {"(?P<a>q)_proj", "0"},
    {R"(q\x5fproj)", "0"},
    {R"(.*\.\D+)", "01235"},
    {R"(\w+\.layers\.0\..*)", "0"},
    {R"(\{)", ""},
    {"(?:self|linear)_attn.*?", "013"},
};

TEST(ModulePattern, ExpressionsMatchTheNamesThatTheyMatchInPython) {
  for (const auto& one : kAlike) {
    SCOPED_TRACE(one.expression);
    EXPECT_TRUE(ModulePattern::is_alike_in_python(one.expression, false));
    EXPECT_TRUE(ModulePattern::is_alike_in_python(one.expression, true));
    const auto pattern = ModulePattern::compile_ending(one.expression);
    ASSERT_NE(pattern, nullptr);
    EXPECT_EQ(matched(*pattern), one.names);
  }
}

TEST(ModulePattern, WhatPythonReadsOtherwiseOrNotAtAllIsTold) {
  for (const char* expression : {R"(layers\.\d{,2}\.self_attn\.q_proj)",
                                 "a{,}",
                                 "a{02}",
                                 "a{1,02}",
                                 "a{b}",
                                 "{",
                                 "a{ 1}",
                                 "[[:alpha:]]_proj",
                                 "[[:^digit:]]",
                                 "[a[b]",
                                 R"(\pN)",
                                 R"(\p{Greek})",
                                 R"(\PN)",
                                 R"([\pN])",
                                 R"(q_proj\z)",
                                 R"(\Qq_proj\E)",
                                 R"(\C_proj)",
                                 R"(\x{41})",
                                 R"(\12)",
                                 R"(\0)",
                                 R"(\123)",
                                 "(?U)q",
                                 "(?U:q*)",
                                 "(?i-s:q)",
                                 "(?-i:q)",
                                 "q(?i)_proj",
                                 "(?i)(?s)q",
                                 "^*q",
                                 "q$?",
                                 R"(\b+q)",
                                 R"(\A{2}q)",
                                 R"([\d-z])",
                                 R"([\w-a])",
                                 "(?P<1>q)",
                                 "\xC4\xB0",
                                 "[][:alpha:]]_proj",
                                 "[^][:alpha:]]x",
                                 R"([]\d-z])",
                                 "[]",
                                 "[^]",
                                 "[^^]",
                                 "[]-a]"}) {
    EXPECT_FALSE(ModulePattern::is_alike_in_python(expression, true)) << expression;
    EXPECT_FALSE(ModulePattern::is_alike_in_python(expression, false)) << expression;
  }
  // PEFT puts an ending behind others, where Python takes no flags.
  EXPECT_TRUE(ModulePattern::is_alike_in_python("(?i).*Q_PROJ", true));
  EXPECT_FALSE(ModulePattern::is_alike_in_python("(?i)Q_PROJ", false));
}

}  // namespace module_pattern_test
}  // namespace tessera::lora
