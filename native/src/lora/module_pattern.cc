#include "lora/module_pattern.h"

#include <re2/re2.h>

namespace tessera::lora {
namespace {

constexpr int64_t kProgramBytesMax = 1 << 20;

class Expression final : public ModulePattern {
 public:
  explicit Expression(const std::string& text) : expression_(text, options()) {}
  bool matches(const std::string& name) const override { return RE2::FullMatch(name, expression_); }
  bool is_read() const { return expression_.ok(); }

 private:
  static RE2::Options options() {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kProgramBytesMax);
    return options;
  }
  RE2 expression_;
};

/// Describes the expressions in which Python's re and RE2 mean the same. RE2 takes {,n}, {02} and
/// most other braces as text, \\12 as octal, [:alpha:] as a class; it alone has \\p, \\Q, \\z, \\C,
/// the flag U, flags in the middle and what repeats ^.
std::string alike() {
  const std::string escape = R"(\\(?:[afnrtv]|x[[:xdigit:]]{2}|[ -/:-@[-`{-~]))";
  const std::string member = "(?:[ -,.-Z^-~]|" + escape + ")";
  // The first is neither left out nor ^, by which Python and RE2 go on differently.
  const std::string to = "(?:-" + member + ")?", class_or = R"(\\[dDsSwW]|)";
  const std::string first = R"((?:[\]-]|)" + class_or + "(?:[ -,.-Z_-~]|" + escape + ")" + to + ")";
  const std::string set = R"(\[\^?)" + first + "(?:" + class_or + member + to + R"()*-?\])";
  const std::string atom = R"((?:[ -#%-',-/0->@-Z\]_-z}~)]|\\[dDsSwW]|)" + escape + "|" + set + ")";
  const std::string count = "(?:0|[1-9][0-9]*)";
  const std::string repeat = R"((?:(?:[*+?]|\{)" + count + "(?:," + count + R"(?)?\})\??)?)";
  const std::string group = R"(\((?:\?(?::|[ims]+:|P<[A-Za-z_]\w*>))?)";
  return "(?:" + group + R"(|[|^$]|\\[bBA]|)" + atom + repeat + ")*";
}

}  // namespace

bool ModulePattern::is_alike_in_python(const std::string& expression, bool is_whole) {
  static const RE2 whole("(?:\\(\\?[ims]+\\))?" + alike()), ending(alike());
  return RE2::FullMatch(expression, is_whole ? whole : ending);
}

std::shared_ptr<const ModulePattern> ModulePattern::compile(const std::string& expression) {
  auto whole = std::make_shared<Expression>(expression);
  return whole->is_read() ? whole : nullptr;
}

std::shared_ptr<const ModulePattern> ModulePattern::compile_ending(const std::string& expression) {
  // On its own first: in brackets, halves of two groups would look like one.
  return compile(expression) ? compile("(?:.*\\.)?(?:" + expression + ")") : nullptr;
}

}  // namespace tessera::lora
