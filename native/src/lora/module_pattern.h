// Regular expressions of PEFT configurations, matched by RE2 (github.com/google/re2): whatever the
// expression, time is linear in the name and memory is bounded.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace tessera::lora {

class ModulePattern {
 public:
  virtual ~ModulePattern() = default;
  /// True if the pattern matches the whole name.
  virtual bool matches(const std::string& name) const = 0;

  /// False for an expression that Python's re, with which PEFT matches, may read otherwise or not
  /// at all. Flags stand at the beginning of a whole expression; an ending is none.
  static bool is_alike_in_python(const std::string& expression, bool is_whole);
  /// Null for an expression that RE2 does not read (look-around, references back, possessive
  /// repeats) or that needs too much memory: the tensors alone tell what it names.
  static std::shared_ptr<const ModulePattern> compile(const std::string& expression);
  /// The same for names that end in what the expression describes, a dot before it where there is
  /// more: how rank_pattern and alpha_pattern are matched.
  static std::shared_ptr<const ModulePattern> compile_ending(const std::string& expression);
};

}  // namespace tessera::lora
