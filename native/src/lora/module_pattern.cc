#include "lora/module_pattern.h"

#include <re2/re2.h>

namespace tessera::lora {
namespace {

constexpr int64_t kProgramBytesMax = 1 << 20;

class Expression final : public ModulePattern {
 public:
  explicit Expression(const std::string& text) : expression_(text, options()) {}
  bool matches(const std::string& name) const override { return RE2::FullMatch(name, expression_); }
  const RE2& expression() const { return expression_; }

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

std::shared_ptr<const ModulePattern> ModulePattern::compile(const std::string& expression,
                                                            std::string& reason) {
  auto whole = std::make_shared<Expression>(expression);
  if (whole->expression().ok()) return whole;
  reason = whole->expression().error();
  return nullptr;
}

std::shared_ptr<const ModulePattern> ModulePattern::compile_ending(const std::string& expression,
                                                                   std::string& reason) {
  // On its own first: in brackets, halves of two groups would look like one.
  if (compile(expression, reason) == nullptr) return nullptr;
  auto whole = std::make_shared<Expression>("(?:.*\\.)?(?:" + expression + ")");
  if (whole->expression().ok()) return whole;
  reason = whole->expression().error();
  return nullptr;
}

}  // namespace tessera::lora
