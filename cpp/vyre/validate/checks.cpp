#include "vyre/validate/checks.hpp"

#include <utility>

namespace vyre::validate {
namespace {

bool left_out(Rule rule, const Options& options) {
  if (rule == Rule::V018 || rule == Rule::V019) return !options.limits;
  return rule == Rule::V010 && !options.uniformity;
}

}  // namespace

std::vector<Finding> check(const Gathered& program, const Options& options) {
  Report report(program);
#define RULE(id, ...) \
  if (!left_out(Rule::id, options)) check_##id(program, report);
#include "vyre/validate/rules.def"
  check_callees(program, report);
  return std::move(report).in_program_order();
}

}  // namespace vyre::validate
