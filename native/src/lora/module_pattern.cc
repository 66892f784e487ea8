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

}  // namespace

std::shared_ptr<const ModulePattern> ModulePattern::compile(const std::string& expression) {
  auto whole = std::make_shared<Expression>(expression);
  return whole->is_read() ? whole : nullptr;
}

std::shared_ptr<const ModulePattern> ModulePattern::compile_ending(const std::string& expression) {
  // On its own first: in brackets, halves of two groups would look like one.
  return compile(expression) ? compile("(?:.*\\.)?(?:" + expression + ")") : nullptr;
}

}  // namespace tessera::lora
