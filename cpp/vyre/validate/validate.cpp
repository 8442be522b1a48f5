#include "vyre/validate/validate.hpp"

#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/validate/checks.hpp"
#include "vyre/validate/gate.hpp"
#include "vyre/validate/op_bodies.hpp"

namespace vyre::validate {
namespace {

bool left_out(Rule rule, const Options& options) {
  if (rule == Rule::V018 || rule == Rule::V019) return !options.limits;
  return rule == Rule::V010 && !options.uniformity;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
  return hash ^ (hash >> 32);
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

Facts Gate::facts(Gathered& gathered) {
  Facts facts = std::move(gathered.facts);
  facts.ops.reserve(gathered.callees.size());
  for (const OpBody* callee : gathered.callees) {
    VYRE_ASSERT(callee->valid != nullptr);
    facts.ops.push_back(callee->valid);
  }
  facts.steps.shrink_to_fit();
  return facts;
}

std::shared_ptr<const ValidOp> Gate::pass(OpBody& body) {
  std::shared_ptr<ValidOp> op(new ValidOp);
  op->spec_ = body.spec;
  op->facts_ = facts(*body.gathered);
  op->hash_ = body.spec->hash();
  for (const auto& callee : op->facts_.ops) op->hash_ = mix(op->hash_, callee->hash());
  return op;
}

ValidProgram Gate::pass(const ir::Program& program, Gathered& gathered) {
  ValidProgram valid;
  auto bound = std::make_shared<std::vector<BufferId>>();
  for (std::uint32_t index = 0; index < program.buffers().size(); ++index) {
    if (program.buffers()[index].access != ir::BufferAccess::Workgroup) bound->push_back(BufferId{index});
  }
  valid.program_ = std::make_shared<const ir::Program>(program);
  valid.facts_ = std::make_shared<const Facts>(facts(gathered));
  valid.bound_ = std::move(bound);
  return valid;
}

std::uint64_t ValidProgram::hash() const {
  std::uint64_t hash = program_->hash();
  for (const auto& op : facts_->ops) hash = mix(hash, op->hash());
  return hash;
}

Verdict validate(const ir::Program& program, const ir::OpTable& ops, const Options& options) {
  OpBodies bodies(ops, options);
  Gathered gathered = gather(program, nullptr, bodies, options.limits);
  for (OpBody* callee : gathered.callees) bodies.examine(*callee);
  std::vector<Finding> findings = check(gathered, options);
  Verdict verdict;
  if (findings.empty()) {
    verdict.program = Gate::pass(program, gathered);
  } else {
    verdict.diagnostics = locate(gathered, std::move(findings));
  }
  return verdict;
}

Diagnostics validate_op(const ir::OpSpec& spec, const ir::OpTable& ops) {
  if (!spec.inlinable()) return {};
  OpBodies bodies(ops, Options{}, std::make_shared<const ir::OpSpec>(spec));
  OpBody& body = *bodies.find(spec.id + "@" + std::to_string(spec.version));
  bodies.examine(body);
  return locate(*body.gathered, std::move(body.findings));
}

}  // namespace vyre::validate
