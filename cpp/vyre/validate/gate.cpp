#include "vyre/validate/gate.hpp"

#include <utility>

#include "vyre/base/assert.hpp"

namespace vyre::validate {

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
  op->hash_ = hash_with_callees(body.spec->hash(), op->facts_.ops);
  return op;
}

ValidProgram Gate::pass(const ir::Program& program, Gathered& gathered) {
  ValidProgram valid;
  auto bound = std::make_shared<std::vector<BufferId>>();
  for (std::uint32_t index = 0; index < program.buffers().size(); ++index) {
    if (ir::is_bound(program.buffers()[index].access)) bound->push_back(BufferId{index});
  }
  valid.program_ = std::make_shared<const ir::Program>(program);
  valid.facts_ = std::make_shared<const Facts>(facts(gathered));
  valid.bound_ = std::move(bound);
  return valid;
}

}  // namespace vyre::validate
