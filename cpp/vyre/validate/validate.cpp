#include "vyre/validate/validate.hpp"

#include <utility>

#include "vyre/base/error.hpp"
#include "vyre/validate/checks.hpp"
#include "vyre/validate/examine.hpp"
#include "vyre/validate/gate.hpp"
#include "vyre/validate/gather.hpp"
#include "vyre/validate/op_bodies.hpp"
#include "vyre/validate/report.hpp"

namespace vyre::validate {

Verdict validate(const ir::Program& program, const ir::OpTable& ops, const Options& options) {
  OpBodies bodies(ops);
  Gathered gathered = gather(program, nullptr, bodies, options.limits);
  for (OpBody* callee : gathered.callees) examine(*callee, bodies, options);
  std::vector<Finding> findings = check(gathered, options);
  Verdict verdict;
  if (findings.empty()) {
    verdict.program = Gate::pass(program, gathered);
  } else {
    verdict.diagnostics = locate(gathered, std::move(findings), options);
  }
  return verdict;
}

ValidProgram accepted(Verdict verdict) {
  if (!verdict.program) throw ValidationError(std::move(verdict.diagnostics));
  return *std::move(verdict.program);
}

Diagnostics validate_op(const ir::OpSpec& spec, const ir::OpTable& ops, const Options& options) {
  if (!spec.inlinable()) return {};
  OpBodies bodies(ops, std::make_shared<const ir::OpSpec>(spec));
  OpBody& body = *bodies.find(spec.id + "@" + std::to_string(spec.version));
  examine(body, bodies, options);
  return locate(*body.gathered, std::move(body.findings), options);
}

}  // namespace vyre::validate
